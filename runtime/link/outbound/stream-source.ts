/** The producing end of the stream of one call, as the link of the consumer uses it. */
export interface StreamSource {
  /** The consumer has taken items: `items` is their number, and `bytes` their size. */
  credited(items: number, bytes: number): void;
}
