/**
 * Whether this thread has read messages in the protobuf layout. Values with unknown fields or unknown cases come from no
 * other layout.
 */
export const hasRead = {
  /** Whether any message has been read. */
  messages: false,
  /** Whether a field that the schema does not have has been read and preserved. */
  unknownFields: false,
};
