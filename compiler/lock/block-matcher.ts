/**
 * Matches the blocks of a lock with the declarations of a schema. A block is found even if its declaration has moved to
 * another file or namespace. Blocks that no declaration claims are kept as tombstones.
 */
import { simpleName } from "../../shared/names/qualified-name.js";
import { drawActorId } from "./actor-id.js";
import { DeclaredBlocks } from "./declared-blocks.js";
import type { BlockKind, Lock, LockBlock } from "./lock.js";
import { blockKey } from "./merge/pair-blocks.js";

/** The blocks that one declaration claimed in a lock and wrote to the next lock. */
export interface BlockRecord {
  readonly claimed: readonly LockBlock[];
  readonly written: readonly LockBlock[];
}

interface BlockRecording {
  readonly claimed: LockBlock[];
  readonly written: LockBlock[];
  /** Whether the result is independent of the other declarations of the schema. */
  isIndependent: boolean;
}

export class BlockMatcher {
  #recording: BlockRecording | undefined;
  readonly #package: string;
  readonly #known: readonly LockBlock[];
  /** The blocks by kind and name. */
  readonly #byName = new Map<string, LockBlock[]>();
  readonly #claimed = new Set<LockBlock>();
  readonly #written: LockBlock[] = [];
  #declared: DeclaredBlocks | undefined;
  /**
   * The places of all declarations. A block follows its name to another file only if its own file no longer declares
   * the name.
   */
  readonly #places: ReadonlySet<string>;

  /** @param places `<kind> <name> in <module>` of every declaration of the schema */
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

  /** Returns the block of a declaration, or undefined for a new declaration. */
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

  /** Returns the block of a declaration that may have moved from another namespace of its file. */
  findDeclared(kind: BlockKind, name: string, module: string): LockBlock | undefined {
    const found = this.find(kind, name, module);
    if (found !== undefined) return found;
    this.#declared ??= new DeclaredBlocks(this.#known);
    const isLike = (block: LockBlock) => block.kind === kind && simpleName(block.name) === simpleName(name);
    // The result depends on the other declarations.
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

  /**
   * Runs `assign` and records the blocks that it claims and writes. The record is undefined if the result depends on
   * other declarations.
   */
  record<T>(assign: () => T): readonly [T, BlockRecord | undefined] {
    const recording: BlockRecording = { claimed: [], written: [], isIndependent: true };
    this.#recording = recording;
    const result = assign();
    this.#recording = undefined;
    return [result, recording.isIndependent ? recording : undefined];
  }

  /** Claims and writes recorded blocks. The lock must be that of the recording. */
  replay({ claimed, written }: BlockRecord): void {
    for (const block of claimed) this.#claimed.add(block);
    for (const block of written) this.#written.push(block);
  }

  /** Returns the written blocks, and a tombstone for each unclaimed block whose place no written block has. */
  finish(): readonly LockBlock[] {
    const written = new Set(this.#written.map(blockKey));
    const gone = this.#known.filter((block) => !this.#claimed.has(block) && !written.has(blockKey(block)));
    return [...this.#written, ...gone.map((block) => ({ ...block, retired: true }))];
  }

  /** Draws a 32-bit id from the name of an actor. No other actor of this lock has the id. */
  drawActorId(name: string, module: string): number {
    if (this.#recording !== undefined) this.#recording.isIndependent = false;
    const taken = new Set([...this.#known, ...this.#written].map(({ id }) => id));
    return drawActorId(`${this.#package}/${module}#${name}`, (id) => taken.has(id));
  }
}
