/** Text as numbers: each character that occurs has one. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export class Text {
  /** All characters, in the order of their numbers. */
  readonly characters: readonly string[];
  readonly numbers: BigInt64Array;

  /** @param folder whose pages, one after the other, are the text: their prose, without code, tables and what is not ASCII */
  constructor(folder: string) {
    const names = readdirSync(folder).filter((name) => name.endsWith(".md"));
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

  read(numbers: readonly number[]): string {
    return numbers.map((i) => this.characters[i]).join("");
  }

  write(text: string): number[] {
    return [...text].map((character) => this.characters.indexOf(character));
  }
}
