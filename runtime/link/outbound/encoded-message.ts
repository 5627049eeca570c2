/** An encoded message without its header. */
export interface EncodedMessage {
  readonly bytes: Uint8Array;
  /** The large byte arrays of the message, which are sent from where they are. */
  readonly blocks: readonly Uint8Array[];
  /** The number of bytes of both. */
  readonly size: number;
  /** True for the protobuf layout, false for the lockstep layout. */
  readonly isProtobuf: boolean;
  /** Returns the message with bytes in memory of its own, for those who keep it. Absent: `bytes` are in such memory. */
  keep?(): EncodedMessage;
}
