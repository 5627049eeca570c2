/** The codecs of handles that a reader or a writer carries. */

/**
 * The codecs of handles that one message uses in place of the registered ones. `messageHandles` makes them. Their type is not
 * known here, since codecs import readers and writers.
 */
export interface MessageHandles {
  readonly codecs: object;
}
