/**
 * Spells the names of one file while the file is written, so that lines are stored as text only. The spelling of a name
 * depends on later names (`spell-names.ts`), but clashes are rare, so names are spelt as if there were none. At the end
 * of the file, the spellings are checked. If one is wrong, the file is written again with the correct spellings.
 */
import type { CodeName, GlobalName, ImportedName, LocalName } from "./name.js";
import type { NameAnswer } from "./part-recording.js";
import { claimImport, claimLocal, importKey, type Spellings, spellNames } from "./spell-names.js";

/**
 * The names of one function: parameters and variables that clash neither with each other nor with names of the module.
 */
export interface NameScope {
  /** Returns a new local variable. Its spelling is `wanted` if that is unused, otherwise `wanted` with a number. */
  name(wanted: string): LocalName;
}

export class Speller {
  readonly #path: string;
  /** The spellings that the first pass over the file has computed. */
  readonly #settled: Spellings | undefined;
  readonly #declared = new Set<string>();
  /** The spellings of names of the module. */
  readonly #taken = new Set<string>();
  readonly #known = new Map<ImportedName | GlobalName, string>();
  readonly #imports = new Map<string, string>();
  readonly #globals = new Set<string>();
  readonly #locals: string[] = [];
  readonly #scopes: string[][] = [];
  readonly #inScopes = new Set<string>();
  /** The names of the module that its parts share, by role and then by the key of the type. */
  readonly #shared = new Map<string, Map<string, LocalName>>();
  #isConsistent = true;
  /** The requests of the part that is being recorded. */
  #answers: NameAnswer[] | undefined;
  /** The names whose spellings the part has requested. */
  readonly #recordedNames = new Set<CodeName>();
  /** The number of scopes that the part has created. */
  #scopesOfPart = 0;

  /** @param path the path of the file, below the output folder */
  constructor(path: string, settled?: Spellings) {
    this.#path = path;
    this.#settled = settled;
  }

  /** Reserves the exact spelling of a name of the module. */
  declare(name: string): void {
    if (this.#globals.has(name) || (this.#taken.has(name) && !this.#declared.has(name))) this.#isConsistent = false;
    this.#declared.add(name);
    this.#taken.add(name);
  }

  /** Returns a name of the module. Its spelling is `wanted` if that is unused. */
  local(wanted: string): LocalName {
    const i = this.#locals.push(wanted) - 1;
    const spelling = this.#settled === undefined ? claimLocal(wanted, this.#taken) : this.#settled.locals[i]!;
    const name: LocalName = { kind: "local", wanted, spelling };
    this.#answers?.push({ kind: "local", name });
    return name;
  }

  /** Returns the name that `shareName` has stored, or undefined. */
  sharedName(role: string, of: string): LocalName | undefined {
    const name = this.#shared.get(role)?.get(of);
    this.#answers?.push({ kind: "shared", role, of, name });
    return name;
  }

  /** Stores the name in a role, for later parts. */
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

  /** Records the requests of `write` with their answers. */
  record(write: () => void): readonly NameAnswer[] {
    const answers: NameAnswer[] = [];
    this.#answers = answers;
    this.#scopesOfPart = 0;
    this.#recordedNames.clear();
    write();
    this.#answers = undefined;
    return answers;
  }

  /** Repeats requests. Returns whether all answers are the same, and stops at the first different answer. */
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
    // If two imports clash, the choice of the one that keeps its name depends on all imports.
    if (spelling !== name.name) this.#isConsistent = false;
    this.#imports.set(key, spelling);
    return spelling;
  }

  /**
   * Returns all imports that have been spelt, without duplicates, in an order that does not depend on the order of
   * lines.
   */
  imports(): readonly ImportedName[] {
    const imports = new Map<string, ImportedName>();
    for (const name of this.#known.keys()) {
      if (name.kind !== "import" || (typeof name.from !== "string" && name.from.file === this.#path)) continue;
      imports.set(`${importKey(name)}\n${name.typeOnly}`, name);
    }
    const sorted = [...imports].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
    return packagesFirst(sorted);
  }

  /** Returns the correct spellings, or undefined if all spellings are correct. */
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

  /** Returns whether the spellings would be the same if all names had been known from the start. */
  #agrees(): boolean {
    if (!this.#isConsistent) return false;
    for (const name of this.#globals) {
      if (this.#inScopes.has(name) || (this.#taken.has(name) && !this.#declared.has(name))) return false;
    }
    for (const name of this.#inScopes) if (this.#taken.has(name)) return false;
    return true;
  }
}

/** Puts names of Viceroy first, so that they keep their spelling if a user's type in another file has the same name. */
function packagesFirst(names: readonly ImportedName[]): readonly ImportedName[] {
  const own = names.filter((name) => typeof name.from === "string");
  return [...own, ...names.filter((name) => typeof name.from !== "string")];
}
