/**
 * The limits of links and lanes, with their defaults. Each proc has one record, and the two ends of a link each use
 * their own.
 */

/** The limits of connections, sessions and broadcast trees in one proc. */
export interface LinkLimits {
  /** The largest size of a message, in bytes. Larger messages are refused at the sender. Default: 256 MiB. */
  readonly maxFrame: number;
  /**
   * The number of messages that one sender can have at one receiver before the receiver has consumed them. Default:
   * 4,096.
   */
  readonly creditMessages: number;
  /** The number of bytes of such messages. Default: 4 MiB. */
  readonly creditBytes: number;
  /**
   * The number of messages that one sender can queue for one receiver beyond the credit, before BackpressureError. Default: 65,536.
   */
  readonly sendWindowMessages: number;
  /** The number of bytes of such messages. Default: 64 MiB. */
  readonly sendWindowBytes: number;
  /** The number of items that a streaming endpoint can be ahead of its consumer. Default: 256. */
  readonly streamItems: number;
  /** The number of bytes of such items. Default: 1 MiB. */
  readonly streamBytes: number;
  /** A message to more actors than this number goes through a tree of procs. Default: 64. */
  readonly treeAbove: number;
  /** The number of procs to which one proc of the tree passes a message on. Default: 16. */
  readonly treeFanout: number;
  /**
   * The number of ended actors that a proc remembers for late callers. It asks the owner about others. Default: 4,096.
   */
  readonly endedActors: number;
  /** The number of bytes that a connection first allocates for writing. Default: 2 KiB. */
  readonly firstPage: number;
}

const KiB = 1024;
const MiB = 1024 * KiB;

export const defaultLinkLimits: LinkLimits = {
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
