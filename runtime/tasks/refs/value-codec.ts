/** How the value of a result is encoded: as a plain value, or by the codec of a schema. */

/** Encodes and decodes the values of one result or argument. */
export interface ValueCodec {
  /** A hash of the type; undefined for plain values. Values of equal types are passed on without being decoded. */
  readonly fingerprint: bigint | undefined;
  /** The name of the type, for messages. */
  readonly name: string;
  /**
   * @param what begins the text of an error: `cannot run square: argument 0`
   * @throws TypeError if the value is not of the type
   */
  encode(value: unknown, what: string): Uint8Array;
  decode(bytes: Uint8Array): unknown;
}
