/**
 * The binding of an interface to a lane, and the layout of its messages. Messages are in the lockstep layout as long as
 * the schemas are equal. A receiver with another schema of the interface answers with its own schema, and drops what
 * comes on the lane until the sender has bound the interface again.
 */

/** The layout of messages. The numbers are those of the protocol. */
export const Layout = {
  /** Messages are in the lockstep layout, or in the protobuf layout if the flag of their frame says so. */
  lockstep: 0,
  /** The schemas differ: all messages are in the protobuf layout, and endpoints are identified by their ids. */
  protobuf: 1,
  /** The schemas are incompatible: no messages will come. */
  none: 2,
} as const;

/** An endpoint as the sender knows it. */
export interface BoundEndpoint {
  readonly id: number;
  readonly name: string;
}

export interface Binding {
  /** The slot of the first endpoint. */
  readonly firstSlot: number;
  /** One of `Layout`. */
  readonly layout: number;
  readonly key: string;
  /** The fingerprint of the sender's schema. */
  readonly fingerprint: bigint;
  /** The endpoints in the order of their slots. They are sent only if the schemas differ. */
  readonly endpoints: readonly BoundEndpoint[];
}

/** The receiver's schema of an interface, if it differs from the sender's. */
export interface PeerSchema {
  readonly fingerprint: bigint;
  /** The encoded schema of the interface. Links do not interpret it. */
  readonly description: string;
}
