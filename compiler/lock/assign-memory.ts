/** Caches the ids that were assigned with the same lock. Watch mode assigns ids to changed declarations only. */
import type { ActorDeclaration, Module, TaskDeclaration, TypeDeclaration } from "../model/index.js";
import type { BlockRecord } from "./block-matcher.js";
import type { Lock } from "./lock.js";

type Declaration = TypeDeclaration | ActorDeclaration | TaskDeclaration;

/** The declaration with its ids and the blocks of the lock, by the declaration without ids. */
export type KnownDeclarations = WeakMap<
  Declaration,
  { readonly declaration: Declaration; readonly blocks: BlockRecord }
>;

export class AssignMemory {
  #lock: Lock | undefined;
  #known: KnownDeclarations = new WeakMap();
  /** The modules with ids, by path. */
  readonly modules = new Map<string, Module>();

  /** Returns the declarations that were assigned with this lock. */
  knownWith(lock: Lock): KnownDeclarations {
    if (this.#lock !== lock) this.#known = new WeakMap();
    this.#lock = lock;
    return this.#known;
  }
}
