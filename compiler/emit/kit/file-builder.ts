/**
 * Builds one generated file from lines and blocks of code, exported names and private names. Imports need no
 * declaration: a name in a line is imported.
 */

import type { Code } from "./code.js";
import { flattenCode } from "./flat-line.js";
import type { ImportExtension } from "./import-specifier.js";
import { importStatements } from "./import-statements.js";
import { docLines } from "./literals.js";
import type { LocalName } from "./name.js";
import type { PartRecording } from "./part-recording.js";
import { printCode } from "./print-code.js";
import { type NameScope, Speller } from "./speller.js";
import { fitsInto } from "./text-width.js";

/** The columns of a line, as in the configuration of the project's formatter. */
const lineWidth = 120;

/**
 * Returns the text of a file.
 * @param path the path below the output folder, with forward slashes: `a/counter.ts`
 * @param header the comment lines at the top
 * @param write writes the file; it is called again, and must write the same, if names clash with later names or a
 * recorded part does not fit
 * @param extension the extension of imported TypeScript files
 */
export function printFile(
  path: string,
  header: readonly string[],
  write: (file: FileBuilder) => void,
  extension: ImportExtension = ".js",
): string {
  let speller = new Speller(path);
  let file = new FileBuilder(path, speller, "kept");
  write(file);
  if (!file.partsFit) {
    speller = new Speller(path);
    file = new FileBuilder(path, speller, "recorded");
    write(file);
  }
  const corrections = speller.corrections();
  if (corrections === undefined) return file.toText(header, extension);
  const again = new FileBuilder(path, new Speller(path, corrections), "written");
  write(again);
  return again.toText(header, extension);
}

/** The treatment of the parts of a file: reuse recordings that fit, record all parts, or write without recording. */
type PartMode = "kept" | "recorded" | "written";

export class FileBuilder {
  readonly path: string;
  readonly #speller: Speller;
  readonly #parts: PartMode;
  #fits = true;
  readonly #lines: string[] = [];
  /** The indentation depth of the last line, or undefined if it is empty. */
  #lastDepth: number | undefined;
  #depth = 0;
  #indentation = "";

  constructor(path: string, speller: Speller, parts: PartMode) {
    this.path = path;
    this.#speller = speller;
    this.#parts = parts;
  }

  /** Whether all reused parts equal those that would be written. If not, the text of the file is invalid. */
  get partsFit(): boolean {
    return this.#fits;
  }

  /**
   * Writes a part of the file at the top level. A part uses names of this file only.
   * @param before the recording of the part, if `write` would write the same with the same names
   * @returns the new recording, or undefined if parts are not recorded
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

  /** Reserves the exact spelling of an exported name. Returns the name. */
  declare(name: string): string {
    this.#speller.declare(name);
    return name;
  }

  /** Returns a module-level name that is private to the file. Its spelling is `wanted` if that is unused. */
  local(wanted: string): LocalName {
    return this.#speller.local(wanted);
  }

  /** Returns the name that a part of the file has shared for a role of `of`, such as its codec or its type. */
  sharedName(role: string, of: string): LocalName | undefined {
    return this.#speller.sharedName(role, of);
  }

  /** Shares `name` with all later parts, for a role of `of`. */
  shareName(role: string, of: string, name: LocalName): void {
    this.#speller.shareName(role, of, name);
  }

  /** Returns the scope of the names of a new function. */
  scope(): NameScope {
    return this.#speller.scope();
  }

  /**
   * Writes one statement, or one line of a block. It is broken into several lines only at the breaks of its layouts.
   */
  line(...parts: readonly Code[]): void {
    this.#lines.push(this.#text(parts));
    this.#lastDepth = this.#depth;
  }

  /** Writes an empty line, unless the line before is empty or starts a block. */
  blank(): void {
    if (this.#lastDepth === undefined || this.#lastDepth < this.#depth) return;
    this.#lines.push("");
    this.#lastDepth = undefined;
  }

  /** Writes a documentation comment, unless `text` is empty. */
  doc(text: string): void {
    for (const line of docLines(text)) this.line(line);
  }

  /** Writes `head {`, the indented output of `body`, and `tail`. They form one line if `body` writes nothing. */
  block(head: Code, body: () => void, tail: Code = "}"): void {
    const start = this.#lines.length;
    this.line(head, " {");
    this.indented(body);
    if (this.#lines.length > start + 1) this.line(tail);
    else this.#lines[start] = this.#text([head, " {", tail]);
  }

  /** Writes the output of `body` one step deeper. */
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

  /** Returns the text of the file. */
  toText(header: readonly string[], extension: ImportExtension): string {
    const { spell } = this.#speller;
    const lines = header.map((text) => `// ${text}`);
    const imports = this.#speller.imports();
    for (const code of importStatements(this.path, imports, spell, extension)) {
      lines.push(printCode(code, { spell, width: lineWidth, depth: 0 }));
    }
    if (imports.length > 0) lines.push("");
    return `${[...lines, ...this.#lines].join("\n").trimEnd()}\n`;
  }
}
