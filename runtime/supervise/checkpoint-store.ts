/** Stores of checkpoints: the interface that users can implement, and the store that a mesh has by default. */
import type { Checkpoint } from "../../generated/checkpoint.js";

/** The place of a checkpoint in a store: one actor of one mesh. */
export interface CheckpointPlace {
  /** The name of the mesh, as given to `spawn`. Meshes with different names have different places. */
  readonly mesh: string;
  /** The rank of the actor in the mesh that was spawned, from 0. */
  readonly rank: number;
}

/**
 * Keeps the last checkpoint of each actor. The process that has spawned the mesh calls it, for one place never twice at the
 * same time. A store must be atomic: after a failure in the middle of `write`, `read` returns the checkpoint before.
 */
export interface CheckpointStore {
  /**
   * Replaces the checkpoint of a place. `CheckpointCodec.toProtobuf` makes bytes of a checkpoint.
   *
   * @returns a promise that resolves when the checkpoint is stored; if it rejects, the earlier one must still be there
   */
  write(place: CheckpointPlace, checkpoint: Checkpoint): Promise<void>;
  /** Returns the last checkpoint that was written to a place, or undefined if there is none. */
  read(place: CheckpointPlace): Promise<Checkpoint | undefined>;
  /** Removes the checkpoint of a place. It does nothing if there is none. */
  delete(place: CheckpointPlace): Promise<void>;
}

/** Keeps the checkpoints of one mesh in the memory of the process that has spawned the mesh, as long as the mesh exists. */
export class MemoryStore implements CheckpointStore {
  readonly #checkpoints = new Map<number, Checkpoint>();

  async write({ rank }: CheckpointPlace, checkpoint: Checkpoint): Promise<void> {
    this.#checkpoints.set(rank, checkpoint);
  }

  async read({ rank }: CheckpointPlace): Promise<Checkpoint | undefined> {
    return this.#checkpoints.get(rank);
  }

  async delete({ rank }: CheckpointPlace): Promise<void> {
    this.#checkpoints.delete(rank);
  }
}
