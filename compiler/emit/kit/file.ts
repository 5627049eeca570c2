/**
 * One generated file being written: lines and blocks of code, what it declares, its private names. Imports need no
 * declaration: a name that occurs in a line is imported. Nothing is spelt or broken into lines before `print`.
 */
import { importStatements } from "./imports.js";
import { type Code, isSequence } from "./layout.js";
import { docLines } from "./literal.js";
import type { GlobalName, ImportedName, LocalName, Name } from "./name.js";
import { importKey, spellNames } from "./naming.js";
import { print } from "./printer.js";

/** Columns of a line, as in our formatter's configuration. */
const lineWidth = 120;

interface Entry {
  readonly depth: number;
  /** Absent: an empty line. */
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
    this.#entries.push({ depth: this.#depth, code: parts });
  }

  /** An empty line; several in a row, or one at the start of a block, become one or none. */
  blank(): void {
    const last = this.#entries.at(-1);
    if (last === undefined || last.code === undefined || last.depth < this.#depth) return;
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
    else this.#entries[start] = { depth: this.#depth, code: [head, " {", tail] };
  }

  /** What `body` writes, one step deeper. */
  indented(body: () => void): void {
    this.#depth++;
    body();
    this.#depth--;
  }

  /** The whole file. */
  print(): string {
    const used = namesIn(this.#entries);
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
    for (const { code, depth } of this.#entries) {
      lines.push(code === undefined ? "" : print(code, { spell, width: lineWidth, depth }));
    }
    return `${lines.join("\n").trimEnd()}\n`;
  }
}

/** The imported and global names in `entries`, each once, imports in an order that no line moves. */
function namesIn(entries: readonly Entry[]): { imports: readonly ImportedName[]; globals: readonly GlobalName[] } {
  const imports = new Map<string, ImportedName>();
  const globals = new Map<string, GlobalName>();
  const visit = (code: Code): void => {
    if (typeof code === "string") return;
    if (isSequence(code)) {
      for (const part of code) visit(part);
    } else if (code.kind === "import") {
      const key = `${importKey(code)}\n${code.typeOnly}`;
      if (!imports.has(key)) imports.set(key, code);
    } else if (code.kind === "global") {
      globals.set(code.name, code);
    } else if (code.kind === "group" || code.kind === "indent" || code.kind === "indentIf") {
      visit(code.content);
    } else if (code.kind === "ifBroken") {
      visit(code.broken);
      visit(code.flat);
    } else if (code.kind === "choice") {
      visit(code.first);
    } else if (code.kind === "states") {
      visit(code.flat);
    } else if (code.kind === "property") {
      visit(code.value);
    }
  };
  for (const entry of entries) if (entry.code !== undefined) visit(entry.code);
  const sorted = [...imports].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
  return { imports: packagesFirst(sorted), globals: [...globals.values()] };
}

/** Viceroy's own names keep their spelling when a user's type in another file has the same. */
function packagesFirst(names: readonly ImportedName[]): readonly ImportedName[] {
  const own = names.filter((name) => typeof name.from === "string");
  return [...own, ...names.filter((name) => typeof name.from !== "string")];
}
