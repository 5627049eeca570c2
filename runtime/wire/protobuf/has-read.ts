/** What this process, or this thread, has read in the protobuf layout. Values that say more than its schema come by no other way. */
export const hasRead = {
  /** Anything at all. */
  messages: false,
  /** A field that the schema does not know, and that was kept. */
  unknownFields: false,
};
