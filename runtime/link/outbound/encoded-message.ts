/** An encoded message without its header, in memory of its own. */
export interface EncodedMessage {
  readonly bytes: Uint8Array;
  /** The large byte arrays of the message, which are sent from where they are. */
  readonly blocks: readonly Uint8Array[];
  /** The number of bytes of both. */
  readonly size: number;
  /** True for the protobuf layout, false for the lockstep layout. */
  readonly isProtobuf: boolean;
}
