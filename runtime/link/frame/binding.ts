/**
 * How a sender names an interface on a lane, and in which layout its messages come. Lockstep is the layout between equals:
 * a receiver with another schema of the interface answers with its own, and takes nothing more on the lane until the
 * sender has named the interface again.
 */

/** On the wire the numbers. */
export const Layout = {
  /** Messages are in the lockstep layout, or in the protobuf layout where their frame says so. */
  lockstep: 0,
  /** The schemas differ: all messages are in the protobuf layout, and endpoints are known by their ids. */
  protobuf: 1,
  /** The schemas differ too much: no messages will come. */
  none: 2,
} as const;

/** An endpoint as the sender knows it. */
export interface BoundEndpoint {
  readonly id: number;
  readonly name: string;
}

export interface Binding {
  /** The slot of its first endpoint. */
  readonly firstSlot: number;
  /** One of `Layout`. */
  readonly layout: number;
  readonly key: string;
  /** Of the schema of the sender. */
  readonly fingerprint: bigint;
  /** In the order of their slots; told only where the schemas differ. */
  readonly endpoints: readonly BoundEndpoint[];
}

/** What the receiver knows of the interface itself, where that is another schema than the sender's. */
export interface PeerSchema {
  readonly fingerprint: bigint;
  /** Of the interface alone; what is in it is the concern of those who compare. */
  readonly description: string;
}
