/**
 * What has been assigned before, with the same lock: whoever watches assigns again what has changed, and nothing else.
 */
import type { ActorDeclaration, Module, TypeDeclaration } from "../model/index.js";
import type { BlockRecord } from "./block-matcher.js";
import type { Lock } from "./lock.js";

type Declaration = TypeDeclaration | ActorDeclaration;

/** A declaration with ids, and what became of the lock, by the declaration without. */
export type KnownDeclarations = WeakMap<
  Declaration,
  { readonly declaration: Declaration; readonly blocks: BlockRecord }
>;

export class AssignMemory {
  #lock: Lock | undefined;
  #known: KnownDeclarations = new WeakMap();
  /** With ids, by path. */
  readonly modules = new Map<string, Module>();

  /** What is known with this lock. */
  knownWith(lock: Lock): KnownDeclarations {
    if (this.#lock !== lock) this.#known = new WeakMap();
    this.#lock = lock;
    return this.#known;
  }
}
