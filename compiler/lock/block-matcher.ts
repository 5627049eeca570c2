/**
 * The blocks of a lock while a schema is matched with it: finds the block of a declaration, also when its file has moved or
 * when it has moved into a namespace or out of one, and keeps those that nothing in the schema claims.
 */
import { simpleName } from "../../shared/names/qualified-name.js";
import { drawActorId } from "./actor-id.js";
import { DeclaredBlocks } from "./declared-blocks.js";
import type { BlockKind, Lock, LockBlock } from "./lock.js";
import { blockKey } from "./merge/pair-blocks.js";

/** What one declaration took from a lock and put into the next. */
export interface BlockRecord {
  readonly claimed: readonly LockBlock[];
  readonly written: readonly LockBlock[];
}

interface BlockRecording {
  readonly claimed: LockBlock[];
  readonly written: LockBlock[];
  /** Nothing depended on what other declarations there are. */
  isIndependent: boolean;
}

export class BlockMatcher {
  #recording: BlockRecording | undefined;
  readonly #package: string;
  readonly #known: readonly LockBlock[];
  /** By kind and name. */
  readonly #byName = new Map<string, LockBlock[]>();
  readonly #claimed = new Set<LockBlock>();
  readonly #written: LockBlock[] = [];
  #declared: DeclaredBlocks | undefined;
  /** Where each name stands in the schema: a block may only follow its name out of a file that lost it. */
  readonly #places: ReadonlySet<string>;

  /** @param places `<kind> <name> in <module>` of everything in the schema */
  constructor(packageName: string, lock: Lock, places: ReadonlySet<string>) {
    this.#package = packageName;
    this.#known = lock.blocks;
    this.#places = places;
    for (const block of lock.blocks) {
      const key = `${block.kind} ${block.name}`;
      const same = this.#byName.get(key);
      if (same === undefined) this.#byName.set(key, [block]);
      else same.push(block);
    }
  }

  /** The block of a declaration; undefined for a new one. */
  find(kind: BlockKind, name: string, module: string): LockBlock | undefined {
    const same = (this.#byName.get(`${kind} ${name}`) ?? []).filter((block) => !this.#claimed.has(block));
    const here = same.find((block) => block.module === module);
    const orphans = same.filter((block) => !this.#places.has(`${kind} ${name} in ${block.module}`));
    const found = here ?? (orphans.length === 1 ? orphans[0] : undefined);
    if (found !== undefined) this.#claimed.add(found);
    const recording = this.#recording;
    if (recording !== undefined) {
      if (found !== undefined) recording.claimed.push(found);
      if (here === undefined && this.#byName.has(`${kind} ${name}`)) recording.isIndependent = false;
    }
    return found;
  }

  /** Finds the block of a declaration of the schema, which may have stood in another namespace of its file, or in none. */
  findDeclared(kind: BlockKind, name: string, module: string): LockBlock | undefined {
    const found = this.find(kind, name, module);
    if (found !== undefined) return found;
    this.#declared ??= new DeclaredBlocks(this.#known);
    const isLike = (block: LockBlock) => block.kind === kind && simpleName(block.name) === simpleName(name);
    // Which other declarations there are decides.
    if (this.#recording !== undefined && this.#known.some(isLike)) this.#recording.isIndependent = false;
    const isGone = (block: LockBlock) =>
      !this.#claimed.has(block) && !this.#places.has(`${kind} ${block.name} in ${block.module}`);
    const moved = this.#declared.moved(kind, name, module, isGone);
    if (moved !== undefined) this.#claimed.add(moved);
    return moved;
  }

  write(block: LockBlock): void {
    this.#written.push(block);
    this.#recording?.written.push(block);
  }

  /** What `assign` finds and writes; undefined if it might be another time, with the same lock, something else. */
  record<T>(assign: () => T): readonly [T, BlockRecord | undefined] {
    const recording: BlockRecording = { claimed: [], written: [], isIndependent: true };
    this.#recording = recording;
    const result = assign();
    this.#recording = undefined;
    return [result, recording.isIndependent ? recording : undefined];
  }

  /** Finds and writes what has been recorded with the same lock. */
  replay({ claimed, written }: BlockRecord): void {
    for (const block of claimed) this.#claimed.add(block);
    for (const block of written) this.#written.push(block);
  }

  /** Returns the blocks that were written, and a tombstone for each block that was not claimed and whose place no other block has taken. */
  finish(): readonly LockBlock[] {
    const written = new Set(this.#written.map(blockKey));
    const gone = this.#known.filter((block) => !this.#claimed.has(block) && !written.has(blockKey(block)));
    return [...this.#written, ...gone.map((block) => ({ ...block, retired: true }))];
  }

  /** A 32-bit id that no actor of this lock has, drawn from the actor's name. */
  drawActorId(name: string, module: string): number {
    if (this.#recording !== undefined) this.#recording.isIndependent = false;
    const taken = new Set([...this.#known, ...this.#written].map(({ id }) => id));
    return drawActorId(`${this.#package}/${module}#${name}`, (id) => taken.has(id));
  }
}
