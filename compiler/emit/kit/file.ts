/**
 * One generated file being written: lines and blocks of code, what it declares, its private names. Imports need no
 * declaration: a name that occurs in a line is imported. Nothing is spelt or broken into lines before `print`.
 */

import { type FlatLine, flatText, flatten } from "./flat.js";
import { importStatements } from "./imports.js";
import type { Code } from "./layout.js";
import { docLines } from "./literal.js";
import type { GlobalName, ImportedName, LocalName, Name } from "./name.js";
import { importKey, spellNames } from "./naming.js";
import { print } from "./printer.js";
import { fitsInto } from "./width.js";

/** Columns of a line, as in our formatter's configuration. */
const lineWidth = 120;

interface Entry {
  readonly depth: number;
  /** Absent: an empty line. */
  readonly line?: FlatLine;
  /** Where the line may be broken: what it was made of. */
  readonly code?: Code;
}

/** The names of one function: parameters and variables that clash neither with each other nor with the module's. */
export interface Scope {
  /** A new local variable; `wanted` if that is free, else with a number. */
  name(wanted: string): LocalName;
}

export class FileBuilder {
  /** Below the output folder, with forward slashes: `a/counter.ts`. */
  readonly path: string;
  readonly #header: readonly string[];
  readonly #entries: Entry[] = [];
  readonly #declared = new Set<string>();
  readonly #locals: LocalName[] = [];
  readonly #scopes: LocalName[][] = [];
  readonly #used = new Set<ImportedName | GlobalName>();
  #depth = 0;

  /** `header`: the text of the comment lines at the top. */
  constructor(path: string, header: readonly string[]) {
    this.path = path;
    this.#header = header;
  }

  /** Reserves a module-level name with exactly this spelling: for what is exported. Returns the name. */
  declare(name: string): string {
    this.#declared.add(name);
    return name;
  }

  /** A module-level name private to the file: spelt `wanted` if that is free. */
  local(wanted: string): LocalName {
    const name: LocalName = { kind: "local", wanted };
    this.#locals.push(name);
    return name;
  }

  /** The names of a new function. */
  scope(): Scope {
    const names: LocalName[] = [];
    this.#scopes.push(names);
    return {
      name(wanted) {
        const name: LocalName = { kind: "local", wanted };
        names.push(name);
        return name;
      },
    };
  }

  /** One statement, or one line of a block. Broken into several lines only at the breaks of its layouts. */
  line(...parts: readonly Code[]): void {
    this.#entries.push(this.#entry(parts));
  }

  /** An empty line; several in a row, or one at the start of a block, become one or none. */
  blank(): void {
    const last = this.#entries.at(-1);
    if (last === undefined || last.line === undefined || last.depth < this.#depth) return;
    this.#entries.push({ depth: this.#depth });
  }

  /** A documentation comment; nothing if `text` is empty. */
  doc(text: string): void {
    for (const line of docLines(text)) this.line(line);
  }

  /** `head {`, what `body` writes, one step deeper, and `tail`; on one line if that is nothing. */
  block(head: Code, body: () => void, tail: Code = "}"): void {
    const start = this.#entries.length;
    this.line(head, " {");
    this.indented(body);
    if (this.#entries.length > start + 1) this.line(tail);
    else this.#entries[start] = this.#entry([head, " {", tail]);
  }

  /** What `body` writes, one step deeper. */
  indented(body: () => void): void {
    this.#depth++;
    body();
    this.#depth--;
  }

  #entry(code: Code): Entry {
    const line = flatten(code, this.#used);
    return line.breakable ? { depth: this.#depth, line, code } : { depth: this.#depth, line };
  }

  /** The whole file. */
  print(): string {
    const used = distinct(this.#used);
    const imports = used.imports.filter((name) => typeof name.from === "string" || name.from.file !== this.path);
    const own = new Set(used.imports.filter((name) => !imports.includes(name)).map(importKey));
    const spellOthers = spellNames({
      declared: this.#declared,
      imports,
      globals: used.globals,
      locals: this.#locals,
      scopes: this.#scopes,
    });
    const spell = (name: Name): string =>
      name.kind === "import" && own.has(importKey(name)) ? name.name : spellOthers(name);
    const lines = this.#header.map((text) => `// ${text}`);
    for (const code of importStatements(this.path, imports, spell)) {
      lines.push(print(code, { spell, width: lineWidth, depth: 0 }));
    }
    if (imports.length > 0) lines.push("");
    for (const entry of this.#entries) lines.push(printEntry(entry, spell));
    return `${lines.join("\n").trimEnd()}\n`;
  }
}

function printEntry({ depth, line, code }: Entry, spell: (name: Name) => string): string {
  if (line === undefined) return "";
  if (code !== undefined && line.broken) return print(code, { spell, width: lineWidth, depth });
  const text = "  ".repeat(depth) + flatText(line, spell);
  return code === undefined || fitsInto(text, lineWidth) ? text : print(code, { spell, width: lineWidth, depth });
}

/** Each name once, imports in an order that no line moves. */
function distinct(names: Iterable<ImportedName | GlobalName>): {
  readonly imports: readonly ImportedName[];
  readonly globals: readonly GlobalName[];
} {
  const imports = new Map<string, ImportedName>();
  const globals = new Map<string, GlobalName>();
  for (const name of names) {
    if (name.kind === "import") imports.set(`${importKey(name)}\n${name.typeOnly}`, name);
    else globals.set(name.name, name);
  }
  const sorted = [...imports].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
  return { imports: packagesFirst(sorted), globals: [...globals.values()] };
}

/** Viceroy's own names keep their spelling when a user's type in another file has the same. */
function packagesFirst(names: readonly ImportedName[]): readonly ImportedName[] {
  const own = names.filter((name) => typeof name.from === "string");
  return [...own, ...names.filter((name) => typeof name.from !== "string")];
}
