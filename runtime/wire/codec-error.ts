/**
 * The error of encoding and decoding. The message contains the path of the field, the expected value and the actual one.
 */

/**
 * Thrown when a value or bytes do not have the type of a codec: `cannot encode Rec.items[3].qty: invalid int32:
 * expected an integer from …, got NaN`.
 */
export class CodecError extends Error {
  override readonly name: string = "CodecError";
  /** Whether encoding or decoding failed. */
  readonly verb: "encode" | "decode";
  /** The path of the field, from the name of the message: `Rec.items[3].qty`. */
  readonly path: string;
  /** The fault at that path, without the verb and the path. */
  readonly reason: string;

  /**
   * Makes an error.
   *
   * @param verb whether encoding or decoding failed
   * @param path the path of the field
   * @param reason what is wrong there
   * @param options the cause
   */
  constructor(verb: "encode" | "decode", path: string, reason: string, options?: ErrorOptions) {
    super(`cannot ${verb} ${path}: ${reason}`, options);
    this.verb = verb;
    this.path = path;
    this.reason = reason;
  }
}
