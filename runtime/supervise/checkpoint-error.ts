/** The error of checkpoints that cannot be taken, stored or read. */

/** A checkpoint could not be taken, stored or read. The actor is not affected, and its earlier checkpoint is kept. */
export class CheckpointError extends Error {
  override readonly name = "CheckpointError";
  /** The name of the mesh, as given to `spawn`. */
  readonly mesh: string;
  /** The rank of the actor in the mesh that was spawned, from 0. */
  readonly rank: number;
  /** The errors of the other ranks, in rank order. */
  readonly others: readonly CheckpointError[];

  /**
   * Makes an error for one rank.
   *
   * @param verb what failed: `checkpoint` or `restore`
   * @param mesh the name of the mesh
   * @param rank the rank in the mesh that was spawned
   * @param why the reason
   * @param cause the error that caused this one
   * @param others the errors of further ranks
   */
  constructor(
    verb: "checkpoint" | "restore",
    mesh: string,
    rank: number,
    why: string,
    cause?: unknown,
    others: readonly CheckpointError[] = [],
  ) {
    super(`cannot ${verb} ${mesh}[${rank}]: ${why}`, cause === undefined ? undefined : { cause });
    this.mesh = mesh;
    this.rank = rank;
    this.others = others;
  }
}
