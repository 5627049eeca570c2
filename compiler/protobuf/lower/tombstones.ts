/**
 * Reads the history of a schema from the lock: removed members, as `reserved` numbers and names that must never be used
 * again, and former names of the members that still exist.
 */
import { enumValueName, protoName } from "../../../shared/protobuf/names.js";
import { type BlockKind, type Lock, type LockEntry, type LockParam, moduleName } from "../../lock/index.js";
import { importedPath } from "../../model/imported-path.js";
import type { Module } from "../../model/schema.js";
import type { Reserved } from "../../model/type.js";

export type { Reserved };

/** Numbers and names that are in use and therefore cannot be reserved. */
export interface NamesInUse {
  readonly numbers: ReadonlySet<number>;
  readonly names: ReadonlySet<string>;
}

export class Tombstones {
  readonly #blocks = new Map<string, readonly LockEntry[]>();

  /** The numbers and names from `@reserved`, by name and module. */
  readonly #declared = new Map<string, Reserved>();

  /**
   * @param lock the lock of the project
   * @param imported the locks of other packages, by package
   */
  constructor(lock: Lock, modules: readonly Module[], imported: ReadonlyMap<string, Lock> = new Map()) {
    for (const { path, types } of modules) {
      for (const { name, reserved } of types)
        if (reserved !== undefined) this.#declared.set(`${name} in ${path}`, reserved);
    }
    this.#add(lock, (module) => module);
    for (const [name, other] of imported) this.#add(other, (module) => importedPath(name, module));
  }

  #add({ blocks }: Lock, pathOf: (module: string) => string): void {
    for (const { kind, name, module, entries } of blocks)
      this.#blocks.set(`${kind} ${name} in ${pathOf(module)}`, entries);
  }

  /**
   * Returns the reserved numbers and names of a message.
   * @param path the path of the shape in the lock: `Tree`, `Entry.meta`
   */
  reservedOfMessage(
    kind: Exclude<BlockKind, "actor" | "enum">,
    path: string,
    module: string,
    inUse: NamesInUse,
  ): Reserved | undefined {
    return this.#withDeclared(path, module, reservedByEntries(this.#entries(kind, path, module), protoName, inUse));
  }

  reservedOfEnum(path: string, module: string, enumName: string, inUse: NamesInUse): Reserved | undefined {
    const gone = reservedByEntries(
      this.#entries("enum", path, module),
      (value) => enumValueName(enumName, value),
      inUse,
    );
    return this.#withDeclared(path, module, gone);
  }

  /**
   * Returns the reserved numbers and names of arguments.
   * @param endpoint the id of the endpoint, or 0 for the constructor
   */
  reservedOfArguments(actor: string, endpoint: number, module: string, inUse: NamesInUse): Reserved | undefined {
    const found = this.#entries("actor", actor, module).find(({ id }) => id === endpoint);
    return reservedByEntries(found?.params?.entries ?? [], protoName, inUse);
  }

  /** Returns the former names of a renamed member. */
  formerNames(kind: Exclude<BlockKind, "actor">, path: string, module: string, id: number): readonly string[] {
    return this.#entries(kind, path, module).find((entry) => entry.id === id && !entry.retired)?.was ?? [];
  }

  #withDeclared(path: string, module: string, gone: Reserved | undefined): Reserved | undefined {
    return mergeReserved([gone, this.#declared.get(`${path} in ${module}`)]);
  }

  #entries(kind: BlockKind, path: string, module: string): readonly LockEntry[] {
    return this.#blocks.get(`${kind} ${path} in ${moduleName(module)}`) ?? [];
  }
}

/** Returns the tombstones among entries. A name or number that is in use again is not reserved. */
function reservedByEntries(
  entries: readonly (LockEntry | LockParam)[],
  spell: (name: string) => string,
  { numbers, names }: NamesInUse,
): Reserved | undefined {
  const gone = entries.filter((entry) => entry.retired && !numbers.has(entry.id));
  if (gone.length === 0) return undefined;
  return {
    numbers: [...new Set(gone.map(({ id }) => id))].sort((a, b) => a - b),
    names: [...new Set(gone.map(({ name }) => spell(name)))].filter((name) => !names.has(name)).sort(),
  };
}

/** Merges the reserved numbers and names of several parts of one message. */
export function mergeReserved(parts: readonly (Reserved | undefined)[]): Reserved | undefined {
  const found = parts.filter((part) => part !== undefined);
  if (found.length === 0) return undefined;
  return {
    numbers: [...new Set(found.flatMap(({ numbers }) => numbers))].sort((a, b) => a - b),
    names: [...new Set(found.flatMap(({ names }) => names))].sort(),
  };
}
