/**
 * Spells the names of one file while it is written, so that its lines need not be kept as anything but text. How a name is
 * spelt depends on names that come later (naming.ts); they hardly ever clash, so it is spelt as if they did not. When
 * the file is whole it turns out whether that was right; if not, the file is written again with the right spellings.
 */
import type { CodeName, GlobalName, ImportedName, LocalName } from "./name.js";
import type { NameAnswer } from "./part-recording.js";
import { claimImport, claimLocal, importKey, type Spellings, spellNames } from "./spell-names.js";

/** The names of one function: parameters and variables that clash neither with each other nor with the module's. */
export interface NameScope {
  /** A new local variable; `wanted` if that is free, else with a number. */
  name(wanted: string): LocalName;
}

export class Speller {
  readonly #path: string;
  /** Found out when the file was written before. */
  readonly #settled: Spellings | undefined;
  readonly #declared = new Set<string>();
  /** Spellings that belong to the module. */
  readonly #taken = new Set<string>();
  readonly #known = new Map<ImportedName | GlobalName, string>();
  readonly #imports = new Map<string, string>();
  readonly #globals = new Set<string>();
  readonly #locals: string[] = [];
  readonly #scopes: string[][] = [];
  readonly #inScopes = new Set<string>();
  /** Names of the module that its parts share, by their roles and by what they are of. */
  readonly #shared = new Map<string, Map<string, LocalName>>();
  #isConsistent = true;
  /** While a part is recorded. */
  #answers: NameAnswer[] | undefined;
  /** What it has been told the spelling of. */
  readonly #recordedNames = new Set<CodeName>();
  /** Scopes of the part so far. */
  #scopesOfPart = 0;

  /** @param path of the file, below the output folder */
  constructor(path: string, settled?: Spellings) {
    this.#path = path;
    this.#settled = settled;
  }

  /** Reserves a name of the module with exactly this spelling. */
  declare(name: string): void {
    if (this.#globals.has(name) || (this.#taken.has(name) && !this.#declared.has(name))) this.#isConsistent = false;
    this.#declared.add(name);
    this.#taken.add(name);
  }

  /** A name of the module: spelt `wanted` if that is free. */
  local(wanted: string): LocalName {
    const i = this.#locals.push(wanted) - 1;
    const spelling = this.#settled === undefined ? claimLocal(wanted, this.#taken) : this.#settled.locals[i]!;
    const name: LocalName = { kind: "local", wanted, spelling };
    this.#answers?.push({ kind: "local", name });
    return name;
  }

  /** What `share` was told of; undefined: nothing yet. */
  sharedName(role: string, of: string): LocalName | undefined {
    const name = this.#shared.get(role)?.get(of);
    this.#answers?.push({ kind: "shared", role, of, name });
    return name;
  }

  /** From now on, this is the name in that role. */
  shareName(role: string, of: string, name: LocalName): void {
    const names = this.#shared.get(role) ?? new Map<string, LocalName>();
    this.#shared.set(role, names.set(of, name));
    this.#answers?.push({ kind: "share", role, of, name });
  }

  scope(): NameScope {
    const names: string[] = [];
    const answers = this.#answers;
    const scope = this.#scopesOfPart++;
    answers?.push({ kind: "scope" });
    const i = this.#scopes.push(names) - 1;
    const settled = this.#settled?.scopes[i];
    const inScope = new Set<string>();
    return {
      name: (wanted) => {
        const n = names.push(wanted) - 1;
        const spelling = settled === undefined ? claimLocal(wanted, inScope, this.#taken) : settled[n]!;
        this.#inScopes.add(spelling);
        const name: LocalName = { kind: "local", wanted, spelling };
        answers?.push({ kind: "inScope", scope, name });
        return name;
      },
    };
  }

  readonly spell = (name: CodeName): string => {
    if (name.kind === "local") return name.spelling;
    let spelling = this.#known.get(name);
    if (spelling === undefined) {
      spelling = name.kind === "global" ? this.#global(name) : this.#import(name);
      this.#known.set(name, spelling);
    }
    if (this.#answers !== undefined && !this.#recordedNames.has(name)) {
      this.#recordedNames.add(name);
      this.#answers.push({ kind: "spelt", name, spelling });
    }
    return spelling;
  };

  /** Notes what `write` asks, and what it is told. */
  record(write: () => void): readonly NameAnswer[] {
    const answers: NameAnswer[] = [];
    this.#answers = answers;
    this.#scopesOfPart = 0;
    this.#recordedNames.clear();
    write();
    this.#answers = undefined;
    return answers;
  }

  /** Asks the same again. Whether all answers were the same; they are not asked to the end if not. */
  replay(answers: readonly NameAnswer[]): boolean {
    const scopes: NameScope[] = [];
    for (const answer of answers) if (!this.#givesSameAnswer(answer, scopes)) return false;
    return true;
  }

  #givesSameAnswer(answer: NameAnswer, scopes: NameScope[]): boolean {
    switch (answer.kind) {
      case "local":
        return this.local(answer.name.wanted).spelling === answer.name.spelling;
      case "scope":
        scopes.push(this.scope());
        return true;
      case "inScope":
        return scopes[answer.scope]?.name(answer.name.wanted).spelling === answer.name.spelling;
      case "spelt":
        return this.spell(answer.name) === answer.spelling;
      case "shared":
        return this.sharedName(answer.role, answer.of)?.spelling === answer.name?.spelling;
      case "share":
        this.shareName(answer.role, answer.of, answer.name);
        return true;
    }
  }

  #global({ name }: GlobalName): string {
    this.#globals.add(name);
    return this.#declared.has(name) ? `globalThis.${name}` : name;
  }

  #import(name: ImportedName): string {
    if (typeof name.from !== "string" && name.from.file === this.#path) return name.name;
    const key = importKey(name);
    const known = this.#imports.get(key);
    if (known !== undefined) return known;
    const spelling = this.#settled?.imports.get(key) ?? claimImport(name, this.#taken);
    // Which one of two that clash has its own name depends on all of them.
    if (spelling !== name.name) this.#isConsistent = false;
    this.#imports.set(key, spelling);
    return spelling;
  }

  /** All that have been spelt, each once, in an order that no line moves. */
  imports(): readonly ImportedName[] {
    const imports = new Map<string, ImportedName>();
    for (const name of this.#known.keys()) {
      if (name.kind !== "import" || (typeof name.from !== "string" && name.from.file === this.#path)) continue;
      imports.set(`${importKey(name)}\n${name.typeOnly}`, name);
    }
    const sorted = [...imports].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
    return packagesFirst(sorted);
  }

  /** Undefined: all spellings are those that they have to be. */
  corrections(): Spellings | undefined {
    if (this.#settled !== undefined || this.#agrees()) return undefined;
    return spellNames({
      declared: this.#declared,
      imports: this.imports(),
      globals: this.#globals,
      locals: this.#locals,
      scopes: this.#scopes,
    });
  }

  /** Whether knowing all names from the start would have made no difference. */
  #agrees(): boolean {
    if (!this.#isConsistent) return false;
    for (const name of this.#globals) {
      if (this.#inScopes.has(name) || (this.#taken.has(name) && !this.#declared.has(name))) return false;
    }
    for (const name of this.#inScopes) if (this.#taken.has(name)) return false;
    return true;
  }
}

/** Viceroy's own names keep their spelling when a user's type in another file has the same. */
function packagesFirst(names: readonly ImportedName[]): readonly ImportedName[] {
  const own = names.filter((name) => typeof name.from === "string");
  return [...own, ...names.filter((name) => typeof name.from !== "string")];
}
