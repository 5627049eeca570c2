/**
 * One generated file being written: lines and blocks of code, what it declares, its private names. Imports need no
 * declaration: a name that occurs in a line is imported.
 */

import type { Code } from "./code.js";
import { flattenCode } from "./flat-line.js";
import { importStatements } from "./import-statements.js";
import { docLines } from "./literals.js";
import type { LocalName } from "./name.js";
import type { PartRecording } from "./part-recording.js";
import { printCode } from "./print-code.js";
import { type NameScope, Speller } from "./speller.js";
import { fitsInto } from "./text-width.js";

/** Columns of a line, as in our formatter's configuration. */
const lineWidth = 120;

/**
 * The text of a file.
 * @param path below the output folder, with forward slashes: `a/counter.ts`
 * @param header the text of the comment lines at the top
 * @param write writes it; is called again, and has to do the same, if names clash with others that come later, or a part
 * that was kept does not fit
 */
export function printFile(path: string, header: readonly string[], write: (file: FileBuilder) => void): string {
  let speller = new Speller(path);
  let file = new FileBuilder(path, speller, "kept");
  write(file);
  if (!file.partsFit) {
    speller = new Speller(path);
    file = new FileBuilder(path, speller, "recorded");
    write(file);
  }
  const corrections = speller.corrections();
  if (corrections === undefined) return file.toText(header);
  const again = new FileBuilder(path, new Speller(path, corrections), "written");
  write(again);
  return again.toText(header);
}

/** What becomes of parts of a file: they are kept where they fit, or recorded again, or just written. */
type PartMode = "kept" | "recorded" | "written";

export class FileBuilder {
  readonly path: string;
  readonly #speller: Speller;
  readonly #parts: PartMode;
  #fits = true;
  readonly #lines: string[] = [];
  /** Of the last line; undefined: it is empty. */
  #lastDepth: number | undefined;
  #depth = 0;
  #indentation = "";

  constructor(path: string, speller: Speller, parts: PartMode) {
    this.path = path;
    this.#speller = speller;
    this.#parts = parts;
  }

  /** Whether all parts that were kept are what would be written in their places. Nobody knows what the file is if not. */
  get partsFit(): boolean {
    return this.#fits;
  }

  /**
   * A part of the file, which is at no depth and asks nothing but this file for names.
   * @param before the part as it was, if `write` does the same as then where it gets the same names
   * @returns the part as it is now, for the next time; undefined: nothing is to be kept of this writing
   */
  part(before: PartRecording | undefined, write: () => void): PartRecording | undefined {
    if (this.#parts === "written") {
      write();
      return undefined;
    }
    const follows = this.#lastDepth !== undefined;
    if (before?.followsLine === follows && this.#parts === "kept" && this.#fits) {
      this.#fits = this.#speller.replay(before.answers);
      if (before.text !== undefined) this.#lines.push(before.text);
      this.#lastDepth = before.endsOpen ? undefined : 0;
      return before;
    }
    const start = this.#lines.length;
    const answers = this.#speller.record(write);
    const text = this.#lines.length === start ? undefined : this.#lines.slice(start).join("\n");
    return { text, followsLine: follows, endsOpen: this.#lastDepth === undefined, answers };
  }

  /** Reserves a module-level name with exactly this spelling: for what is exported. Returns the name. */
  declare(name: string): string {
    this.#speller.declare(name);
    return name;
  }

  /** A module-level name private to the file: spelt `wanted` if that is free. */
  local(wanted: string): LocalName {
    return this.#speller.local(wanted);
  }

  /** The name that a part of the file has made for a role of something: for its codec, its type. */
  sharedName(role: string, of: string): LocalName | undefined {
    return this.#speller.sharedName(role, of);
  }

  /** Makes `name` known for that, to all parts that come. */
  shareName(role: string, of: string, name: LocalName): void {
    this.#speller.shareName(role, of, name);
  }

  /** The names of a new function. */
  scope(): NameScope {
    return this.#speller.scope();
  }

  /** One statement, or one line of a block. Broken into several lines only at the breaks of its layouts. */
  line(...parts: readonly Code[]): void {
    this.#lines.push(this.#text(parts));
    this.#lastDepth = this.#depth;
  }

  /** An empty line; several in a row, or one at the start of a block, become one or none. */
  blank(): void {
    if (this.#lastDepth === undefined || this.#lastDepth < this.#depth) return;
    this.#lines.push("");
    this.#lastDepth = undefined;
  }

  /** A documentation comment; nothing if `text` is empty. */
  doc(text: string): void {
    for (const line of docLines(text)) this.line(line);
  }

  /** `head {`, what `body` writes, one step deeper, and `tail`; on one line if that is nothing. */
  block(head: Code, body: () => void, tail: Code = "}"): void {
    const start = this.#lines.length;
    this.line(head, " {");
    this.indented(body);
    if (this.#lines.length > start + 1) this.line(tail);
    else this.#lines[start] = this.#text([head, " {", tail]);
  }

  /** What `body` writes, one step deeper. */
  indented(body: () => void): void {
    this.#indent(this.#depth + 1);
    body();
    this.#indent(this.#depth - 1);
  }

  #indent(depth: number): void {
    this.#depth = depth;
    this.#indentation = "  ".repeat(depth);
  }

  #text(code: Code): string {
    const { spell } = this.#speller;
    const { text, breakable, broken } = flattenCode(code, spell);
    const line = this.#indentation + text;
    const isWhole = !breakable || (!broken && fitsInto(line, lineWidth));
    return isWhole ? line : printCode(code, { spell, width: lineWidth, depth: this.#depth });
  }

  /** The whole file. */
  toText(header: readonly string[]): string {
    const { spell } = this.#speller;
    const lines = header.map((text) => `// ${text}`);
    const imports = this.#speller.imports();
    for (const code of importStatements(this.path, imports, spell)) {
      lines.push(printCode(code, { spell, width: lineWidth, depth: 0 }));
    }
    if (imports.length > 0) lines.push("");
    return `${[...lines, ...this.#lines].join("\n").trimEnd()}\n`;
  }
}
