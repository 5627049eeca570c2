/**
 * Removed members of messages, unions and enumerations, as the lock remembers them. They keep their positions and
 * sizes. The lock stores types as texts without modules, so a text can have several meanings.
 */
import { simpleName } from "../../shared/names/qualified-name.js";
import { type Diagnostic, diagnostic } from "../diagnostics/index.js";
import type { BlockKind, Lock, LockBlock, LockEntry } from "../lock/index.js";
import { importedPath, packageOfPath } from "../model/imported-path.js";
import type { Bindings, Module, Position, SchemaIndex, Type } from "../model/index.js";
import { withoutExtension } from "../model/schema-paths.js";
import { anyStruct, parseRetiredType } from "./lock-type.js";
import type { SlotType } from "./slot-type.js";
import { slotTypeOf } from "./slot-type-of.js";
import { slotSize } from "./struct-layout.js";

/** The path of a type in the lock. */
export interface LockedTypePath {
  readonly file: { readonly module: string };
  readonly lockPath: string;
  /** The type arguments of the generic declaration that contains the type. */
  readonly bindings?: Bindings;
}

interface LiveMember {
  readonly name: string;
  readonly id: number;
  readonly at: Position;
}

export class RetiredMembers {
  readonly #index: SchemaIndex;
  readonly #lock: Lock;
  readonly #before: Lock | undefined;
  readonly #imported: ReadonlyMap<string, Lock>;

  /**
   * @param before the lock before this run; undefined if there was none
   * @param imported the locks of other packages, by package
   */
  constructor(
    index: SchemaIndex,
    lock: Lock,
    before: Lock | undefined,
    imported: ReadonlyMap<string, Lock> = new Map(),
  ) {
    this.#index = index;
    this.#lock = lock;
    this.#before = before;
    this.#imported = imported;
  }

  /** Returns the lock of the package to which a path belongs. */
  #lockOf({ file }: LockedTypePath): Lock {
    return this.#imported.get(packageOfPath(file.module)) ?? this.#lock;
  }

  /** Returns the removed members whose ids are not in use again. */
  retiredOf(kind: BlockKind, members: readonly LiveMember[], place: LockedTypePath): readonly LockEntry[] {
    const live = new Set(members.map(({ id }) => id));
    return (this.#blockOf(kind, place)?.entries ?? []).filter(({ id, retired }) => retired && !live.has(id));
  }

  /** Reports new members whose ids are below an existing id. They would move the members after them. */
  checkOrder(kind: BlockKind, members: readonly LiveMember[], place: LockedTypePath): readonly Diagnostic[] {
    if (this.#lockOf(place) !== this.#lock) return [];
    const known = this.#before && this.#blockOf(kind, place, this.#before)?.entries;
    if (known === undefined) return [];
    const ids = new Set(known.map(({ id }) => id));
    const highest = Math.max(0, ...ids);
    return members
      .filter(({ id }) => !ids.has(id) && id < highest)
      .map(({ name, id, at }) => diagnostic("VC4031", at, { member: `${place.lockPath}.${name}`, id, highest }));
  }

  /** Returns the possible sizes of a removed member. There are several if its type text has several meanings. */
  slotTypesOf(text: string, place: LockedTypePath): readonly SlotType[] {
    const sizes = new Map<string, SlotType>();
    let meanings = 1;
    for (let i = 0; i < meanings; i++) {
      const type = parseRetiredType(text, (name, args) => {
        const candidates = this.#resolve(name, args, place);
        meanings = Math.max(meanings, candidates.length);
        return candidates[Math.min(i, candidates.length - 1)];
      });
      if (type === undefined) continue;
      const size = slotTypeOf(type, this.#index);
      sizes.set(JSON.stringify([slotSize(size.type), size.nullable]), size);
    }
    return [...sizes.values()];
  }

  /** Returns the types that a name in the lock can mean. The lock does not name the module. */
  #resolve(name: string, args: readonly Type[], place: LockedTypePath): readonly Type[] {
    if (name === "enum") return [this.#wasOfNumbers(place) ? anyNumericEnum : anyStringEnum];
    const bound = args.length === 0 ? place.bindings?.get(name) : undefined;
    const { modules, imported = [] } = this.#index.schema;
    const all = [...modules, ...imported];
    const home = packageOfPath(place.file.module);
    const atHome = this.#declared(
      name,
      args,
      all.filter(({ path }) => packageOfPath(path) === home),
    );
    const declared = atHome.length > 0 ? atHome : this.#declared(name, args, all);
    const found = bound === undefined ? declared : [bound, ...declared];
    if (found.length > 0) return found;
    // A removed enumeration may have had numeric values, so its size is unknown.
    const kinds = new Set(
      this.#lockOf(place)
        .blocks.filter((block) => block.name === name)
        .map(({ kind }) => kind),
    );
    return kinds.size > 0 && !kinds.has("enum") && !kinds.has("actor") ? [anyStruct] : [];
  }

  #declared(name: string, args: readonly Type[], modules: readonly Module[]): readonly Type[] {
    const types = modules.flatMap((module) => module.types);
    const generic = types.filter((type) => type.typeParameters.length === args.length);
    const exact = generic.filter((type) => type.name === name);
    // A type that has moved to another namespace has another qualified name.
    const meant = exact.length > 0 ? exact : generic.filter((type) => simpleName(type.name) === simpleName(name));
    return meant.map(({ key }): Type => ({ kind: "ref", target: key, args }));
  }

  /**
   * Returns whether an enumeration was numeric. Numeric values are their own ids, and the lock uses the number as the
   * name.
   */
  #wasOfNumbers(place: LockedTypePath): boolean {
    const entries = this.#blockOf("enum", place)?.entries ?? [];
    return entries.length > 0 && entries.every(({ id, name }) => name === String(id));
  }

  #blockOf(kind: BlockKind, place: LockedTypePath, lock: Lock = this.#lockOf(place)): LockBlock | undefined {
    const named = lock.blocks.filter((block) => block.kind === kind && block.name === place.lockPath);
    const path = withoutExtension(place.file.module);
    // The lock of another package names its modules by their paths in that package.
    const own = lock === this.#lock ? path : path.slice(importedPath(packageOfPath(path), "").length);
    return named.find(({ module }) => module === own) ?? named[0];
  }
}

/** Enumerations whose values are unknown. */
const anyStringEnum = enumOfValue("a");
const anyNumericEnum = enumOfValue(1);

function enumOfValue(value: string | number): Type {
  const at = { file: "", line: 1, column: 1 };
  return {
    kind: "inline",
    shape: { kind: "enum", origin: "literals", values: [{ name: "", value, id: 1, doc: "", at }] },
  };
}
