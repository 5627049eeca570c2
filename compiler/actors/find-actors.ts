/**
 * Finds actors: exported classes that extend a generated base, directly or through classes of other files. It follows
 * imports and re-exports by name, and mixins by the classes that are their arguments. A file is read only if it can
 * matter: a class with a base contains the word `extends`.
 */
import type { DeclarationKey } from "../model/index.js";
import { importCandidates } from "./import-candidates.js";
import type { BaseOutline, ClassOutline, ModuleOutline } from "./module-outline.js";

/** An exported, concrete class that extends a generated base. */
export interface ActorImplementation {
  /** The path relative to the folder of the config: `src/memory-counter.ts`, `../actors/src/index.ts`. */
  readonly path: string;
  /** The exported name. A class with several exported names uses its own name if that is one of them. */
  readonly name: string;
  readonly actor: ActorInterface;
  /** The specifier of the module of another package that exports the class, if `actors` names that package. */
  readonly specifier?: string;
}

/** An actor interface: the key of its declaration in this project, or its key at run time and its fingerprint. */
export type ActorInterface = DeclarationKey | ImportedActor;

/** An actor interface of another package. */
export interface ImportedActor {
  /** The key at run time: `@acme/counters/schemas/counter#Counter`. */
  readonly key: string;
  readonly fingerprint: bigint;
}

export interface ActorSources {
  /** The files in which actors are searched, relative to the folder of the config. */
  readonly files: readonly string[];
  /** Returns the text of a file, or undefined if there is none. Bases can be outside of `files`. */
  read(path: string): string | undefined;
  outline(path: string, text: string): ModuleOutline;
  /**
   * Returns the actor whose base class a generated module exports as `name`, or undefined if there is no such module or
   * base. `importer` is the file with the import.
   */
  generatedBase(path: string, name: string, importer: string): ActorInterface | undefined;
  /** Returns the file to which an import of a package resolves, relative to the folder of the config, or undefined. */
  resolvePackage?(importer: string, specifier: string): string | undefined;
  /** The modules of other packages whose exported actors are searched, with their files. */
  readonly packages?: readonly { readonly specifier: string; readonly path: string }[];
}

/** An exported class whose base is a computed expression, so that it may or may not be an actor. */
export interface UndecidedClass {
  readonly path: string;
  readonly name: string;
  readonly line: number;
  readonly column: number;
}

export interface ActorSearchResult {
  /** The actors, sorted by path and then by name. */
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
  for (const { specifier, path } of sources.packages ?? []) {
    for (const [name, actor] of [...search.exportedBy(path)].sort(([a], [b]) => (a < b ? -1 : 1))) {
      actors.push({ path, name, actor, specifier });
    }
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

  /** Returns the exported name and the actor of each actor class that `path` declares and exports. */
  actorsIn(path: string): readonly (readonly [string, ActorInterface])[] {
    const outline = this.#outline(path);
    if (outline === undefined) return [];
    const found: (readonly [string, ActorInterface])[] = [];
    for (const declared of outline.classes) {
      // The result of a mixin can be abstract. It is a base, and only the classes that extend it are actors.
      if (declared.abstract || declared.isCall) continue;
      const name = exportedName(outline, declared);
      if (name === undefined) continue;
      const actor = this.#actorOfClass(path, outline, declared, new Set());
      if (actor !== undefined) found.push([name, actor]);
    }
    return found.sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /**
   * Returns the classes that may be actors, if the file imports a generated base that no class of the file is known to
   * extend.
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
  ): ActorInterface | undefined {
    return declared.base && this.#actorOfBase(path, outline, declared.base, seen);
  }

  #actorOfBase(path: string, outline: ModuleOutline, base: BaseOutline, seen: Set<string>): ActorInterface | undefined {
    switch (base.kind) {
      case "name":
        return this.#actorOfLocal(path, outline, base.name, seen);
      case "member": {
        const imported = outline.imports.find(({ local, imported }) => local === base.namespace && imported === "*");
        return imported && this.#actorOfImport(path, imported.from, base.name, seen);
      }
      case "call": {
        // A mixin extends one of its arguments, in any position.
        const found = base.args.map((argument) => this.#actorOfBase(path, outline, argument, new Set(seen)));
        return found.find((actor) => actor !== undefined);
      }
      case "other":
        return undefined;
    }
  }

  #actorOfLocal(path: string, outline: ModuleOutline, name: string, seen: Set<string>): ActorInterface | undefined {
    const declared = outline.classes.find(({ local }) => local === name);
    if (declared !== undefined) {
      const visit = `${path}\n${name}`;
      if (seen.has(visit)) return undefined;
      return this.#actorOfClass(path, outline, declared, seen.add(visit));
    }
    const imported = outline.imports.find(({ local }) => local === name);
    return imported && this.#actorOfImport(path, imported.from, imported.imported, seen);
  }

  #actorOfImport(importer: string, from: string, name: string, seen: Set<string>): ActorInterface | undefined {
    const files = this.#filesOf(importer, from);
    for (const file of files) {
      const actor = this.#sources.generatedBase(file, name, importer);
      if (actor !== undefined) return actor;
    }
    const file = files.find((candidate) => this.#outline(candidate) !== undefined);
    return file === undefined ? undefined : this.#actorOfExport(file, name, seen);
  }

  #filesOf(importer: string, from: string): readonly string[] {
    const files = importCandidates(importer, from);
    if (files.length > 0) return files;
    const file = this.#sources.resolvePackage?.(importer, from);
    return file === undefined ? [] : [file];
  }

  /** Returns the names and actors of all concrete actor classes that a module exports, also by re-exports. */
  exportedBy(path: string, seen = new Set<string>()): ReadonlyMap<string, ActorInterface> {
    const found = new Map<string, ActorInterface>();
    const outline = this.#outline(path);
    if (outline === undefined || seen.has(path)) return found;
    seen.add(path);
    const own = new Map(this.actorsIn(path));
    for (const { exported, local } of outline.exports) {
      const declared = outline.classes.find((candidate) => candidate.local === local);
      const actor = declared && own.get(exportedName(outline, declared) ?? "");
      if (actor !== undefined) found.set(exported, actor);
    }
    const importsOf = new Map(outline.imports.map((binding) => [binding.local, binding]));
    const passedOn = outline.exports.flatMap(({ exported, local }) => {
      const binding = local === undefined ? undefined : importsOf.get(local);
      return binding === undefined ? [] : [{ exported, imported: binding.imported, from: binding.from }];
    });
    for (const { exported, imported, from } of [...outline.reexports, ...passedOn]) {
      const file = this.#filesOf(path, from).find((candidate) => this.#outline(candidate) !== undefined);
      const others = file === undefined ? undefined : this.exportedBy(file, new Set(seen));
      for (const [name, actor] of others ?? []) {
        if (exported === "*" ? name !== "default" : name === imported)
          found.set(exported === "*" ? name : exported, actor);
      }
    }
    return found;
  }

  /** Returns the actor of the class that `path` exports as `name`, wherever the class is declared. */
  #actorOfExport(path: string, name: string, seen: Set<string>): ActorInterface | undefined {
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

/**
 * Returns the exported name of a class. A class with several exported names uses its own name if that is one of them.
 */
function exportedName({ exports }: ModuleOutline, declared: ClassOutline): string | undefined {
  const names = exports.filter(({ local }) => local === declared.local).map(({ exported }) => exported);
  return names.find((candidate) => candidate === declared.local) ?? names.sort()[0];
}
