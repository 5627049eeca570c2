/**
 * Finds the actors: exported classes that extend a generated base, directly or through other classes of other files.
 * Follows imports and re-exports by name, and mixins by the classes that they are called with. Files are read only when they
 * can matter: a class with a base says `extends`.
 */
import type { DeclarationKey } from "../model/index.js";
import { importCandidates } from "./import-candidates.js";
import type { BaseOutline, ClassOutline, ModuleOutline } from "./module-outline.js";

/** An exported, concrete class that extends a generated base. */
export interface ActorImplementation {
  /** Relative to the config's root: `src/memory-counter.ts`. */
  readonly path: string;
  /** The name it is exported under; its own where it has several. */
  readonly name: string;
  readonly actor: DeclarationKey;
}

export interface ActorSources {
  /** Files in which actors are looked for, relative to the config's root. */
  readonly files: readonly string[];
  /** The text of a file; undefined when there is none. Bases may stand outside `files`. */
  read(path: string): string | undefined;
  outline(path: string, text: string): ModuleOutline;
  /** The actor whose base class the generated module `path` exports as `name`; undefined: no such module, or no base. */
  generatedBase(path: string, name: string): DeclarationKey | undefined;
}

/** An exported class of which it cannot be told whether it is an actor: what it extends is computed. */
export interface UndecidedClass {
  readonly path: string;
  readonly name: string;
  readonly line: number;
  readonly column: number;
}

export interface ActorSearchResult {
  /** In the order of paths, then of names. */
  readonly actors: readonly ActorImplementation[];
  readonly undecided: readonly UndecidedClass[];
}

export function findActors(sources: ActorSources): ActorSearchResult {
  const search = new ActorSearch(sources);
  const actors: ActorImplementation[] = [];
  const unclear: UndecidedClass[] = [];
  for (const path of [...new Set(sources.files)].sort()) {
    if (!mayDeclareActor(sources.read(path) ?? "")) continue;
    for (const [name, actor] of search.actorsIn(path)) actors.push({ path, name, actor });
    unclear.push(...search.undecidedIn(path));
  }
  return { actors, undecided: unclear };
}

function mayDeclareActor(text: string): boolean {
  return text.includes("extends") && text.includes("export");
}

class ActorSearch {
  readonly #sources: ActorSources;
  readonly #outlines = new Map<string, ModuleOutline | undefined>();

  constructor(sources: ActorSources) {
    this.#sources = sources;
  }

  /** Exported name and actor of each class that `path` declares and exports. */
  actorsIn(path: string): readonly (readonly [string, DeclarationKey])[] {
    const outline = this.#outline(path);
    if (outline === undefined) return [];
    const found: (readonly [string, DeclarationKey])[] = [];
    for (const declared of outline.classes) {
      // What a mixin makes of an abstract class may be abstract: it is a base, and classes that extend it are actors.
      if (declared.abstract || declared.isCall) continue;
      const name = exportedName(outline, declared);
      if (name === undefined) continue;
      const actor = this.#actorOfClass(path, outline, declared, new Set());
      if (actor !== undefined) found.push([name, actor]);
    }
    return found.sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /**
   * Classes that may be actors, in a file that imports a generated base which no class of the file is seen to extend.
   */
  undecidedIn(path: string): readonly UndecidedClass[] {
    const outline = this.#outline(path);
    if (outline === undefined) return [];
    const candidates = outline.classes.flatMap((declared): UndecidedClass[] => {
      const name = exportedName(outline, declared);
      const { base, line, column } = declared;
      if (name === undefined || base === undefined || declared.abstract || declared.isCall) return [];
      if (base.kind !== "other" && base.kind !== "call") return [];
      const isActor = this.#actorOfClass(path, outline, declared, new Set()) !== undefined;
      return isActor ? [] : [{ path, name, line, column }];
    });
    if (candidates.length === 0) return [];
    const extended = new Set(outline.classes.map((declared) => this.#actorOfClass(path, outline, declared, new Set())));
    const isLeft = outline.imports.some(({ from, imported }) => {
      const actor = this.#actorOfImport(path, from, imported, new Set());
      return actor !== undefined && !extended.has(actor);
    });
    return isLeft ? candidates : [];
  }

  #outline(path: string): ModuleOutline | undefined {
    if (!this.#outlines.has(path)) {
      const text = this.#sources.read(path);
      this.#outlines.set(path, text === undefined ? undefined : this.#sources.outline(path, text));
    }
    return this.#outlines.get(path);
  }

  #actorOfClass(
    path: string,
    outline: ModuleOutline,
    declared: ClassOutline,
    seen: Set<string>,
  ): DeclarationKey | undefined {
    return declared.base && this.#actorOfBase(path, outline, declared.base, seen);
  }

  #actorOfBase(path: string, outline: ModuleOutline, base: BaseOutline, seen: Set<string>): DeclarationKey | undefined {
    switch (base.kind) {
      case "name":
        return this.#actorOfLocal(path, outline, base.name, seen);
      case "member": {
        const imported = outline.imports.find(({ local, imported }) => local === base.namespace && imported === "*");
        return imported && this.#actorOfImport(path, imported.from, base.name, seen);
      }
      case "call": {
        // A mixin extends the class that it is called with, wherever that stands among its arguments.
        const found = base.args.map((argument) => this.#actorOfBase(path, outline, argument, new Set(seen)));
        return found.find((actor) => actor !== undefined);
      }
      case "other":
        return undefined;
    }
  }

  #actorOfLocal(path: string, outline: ModuleOutline, name: string, seen: Set<string>): DeclarationKey | undefined {
    const declared = outline.classes.find(({ local }) => local === name);
    if (declared !== undefined) {
      const visit = `${path}\n${name}`;
      if (seen.has(visit)) return undefined;
      return this.#actorOfClass(path, outline, declared, seen.add(visit));
    }
    const imported = outline.imports.find(({ local }) => local === name);
    return imported && this.#actorOfImport(path, imported.from, imported.imported, seen);
  }

  #actorOfImport(importer: string, from: string, name: string, seen: Set<string>): DeclarationKey | undefined {
    const files = importCandidates(importer, from);
    for (const file of files) {
      const actor = this.#sources.generatedBase(file, name);
      if (actor !== undefined) return actor;
    }
    const file = files.find((candidate) => this.#outline(candidate) !== undefined);
    return file === undefined ? undefined : this.#actorOfExport(file, name, seen);
  }

  /** What `path` exports as `name`, wherever it is declared. */
  #actorOfExport(path: string, name: string, seen: Set<string>): DeclarationKey | undefined {
    const outline = this.#outline(path);
    const visit = `${path}\nexport ${name}`;
    if (outline === undefined || seen.has(visit)) return undefined;
    seen.add(visit);
    const exported = outline.exports.find((candidate) => candidate.exported === name);
    if (exported !== undefined) {
      if (exported.local !== undefined) return this.#actorOfLocal(path, outline, exported.local, seen);
      const unnamed = outline.classes.find(({ local }) => local === undefined);
      return unnamed && this.#actorOfClass(path, outline, unnamed, seen);
    }
    for (const reexport of outline.reexports) {
      if (reexport.exported === name) return this.#actorOfImport(path, reexport.from, reexport.imported, seen);
      if (reexport.exported !== "*" || name === "default") continue;
      const actor = this.#actorOfImport(path, reexport.from, name, seen);
      if (actor !== undefined) return actor;
    }
    return undefined;
  }
}

/** The name that a class is exported under: its own where it has several. */
function exportedName({ exports }: ModuleOutline, declared: ClassOutline): string | undefined {
  const names = exports.filter(({ local }) => local === declared.local).map(({ exported }) => exported);
  return names.find((candidate) => candidate === declared.local) ?? names.sort()[0];
}
