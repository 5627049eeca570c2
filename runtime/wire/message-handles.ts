/** The codecs of handles that a reader or a writer carries. */

/**
 * The codecs of handles that one message uses in place of the registered ones. `messageHandles` makes them. Their type is not
 * known here, since codecs import readers and writers.
 */
export interface MessageHandles {
  /** Methods that write and read handles. Methods that are missing are those that are registered. */
  readonly codecs: object;
}
