/** The bounds of links and lanes, with their defaults. One record per proc; both ends of a link use their own. */

export interface Limits {
  /** Bytes of one frame, its blocks included. A larger message is refused at its sender, before anything is sent. */
  readonly maxFrame: number;
  /** Messages and bytes that one sender may have un-consumed at one receiver. */
  readonly creditMessages: number;
  readonly creditBytes: number;
  /** Messages and bytes that one sender may queue beyond that, for one receiver, before BackpressureError. */
  readonly sendWindowMessages: number;
  readonly sendWindowBytes: number;
  /** Items and bytes that a streaming endpoint may be ahead of its consumer. */
  readonly streamItems: number;
  readonly streamBytes: number;
  /** Messages to more actors than this go down a tree of their procs. */
  readonly treeAbove: number;
  /** How many procs one proc hands a cast on to. */
  readonly treeFanout: number;
  /** Actors of a proc that have ended and are remembered for late callers: of others the owner is asked. */
  readonly endedActors: number;
  /**
   * Bytes of the memory that a link begins to write frames into; more is taken when it is needed, and kept then. Little: thousands of links
   * may be made in one tick, and each holds its memory until the end of that.
   */
  readonly firstPage: number;
}

const KiB = 1024;
const MiB = 1024 * KiB;

export const defaultLimits: Limits = {
  maxFrame: 256 * MiB,
  creditMessages: 4096,
  creditBytes: 4 * MiB,
  sendWindowMessages: 65_536,
  sendWindowBytes: 64 * MiB,
  streamItems: 256,
  streamBytes: MiB,
  treeAbove: 64,
  treeFanout: 16,
  endedActors: 4096,
  firstPage: 2 * KiB,
};
