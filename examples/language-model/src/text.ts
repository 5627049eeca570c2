/** Text as numbers: each distinct character has a number. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export class Text {
  /** The distinct characters, in the order of their numbers. */
  readonly characters: readonly string[];
  readonly numbers: BigInt64Array;

  /** @param folder contains the pages that make up the text, without code, tables and characters outside ASCII */
  constructor(folder: string) {
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
      (name) => name.endsWith(".md") && !name.includes("node_modules"),
    );
    const pages = names.sort().map((name) => readFileSync(path.join(folder, name), "utf8"));
    const prose = pages
      .join("\n")
      .replace(/^```.*?^```$/gms, "")
      .replace(/^\|.*$/gm, "");
    const all = prose.replace(/[^\n -~]/g, "").replace(/\n{3,}/g, "\n\n");
    this.characters = [...new Set(all)].sort();
    const numberOf = new Map(this.characters.map((character, i) => [character, BigInt(i)]));
    this.numbers = BigInt64Array.from(all, (character) => numberOf.get(character)!);
  }

  decode(numbers: readonly number[]): string {
    return numbers.map((i) => this.characters[i]).join("");
  }

  encode(text: string): number[] {
    return [...text].map((character) => this.characters.indexOf(character));
  }
}
