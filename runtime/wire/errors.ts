/**
 * What goes wrong between values and bytes. One class for both directions; the message names the field by its path and
 * says what was expected and what came instead. Nothing here runs unless something is wrong.
 */

/** `cannot encode Rec.items[3].qty: invalid int32: expected an integer from …, got NaN`. */
export class CodecError extends Error {
  override readonly name: string = "CodecError";
  readonly verb: "encode" | "decode";
  /** The place of the value, from the name of the message: `Rec.items[3].qty`. */
  readonly path: string;
  /** What is wrong there, without verb and path. */
  readonly reason: string;

  constructor(verb: "encode" | "decode", path: string, reason: string, options?: ErrorOptions) {
    super(`cannot ${verb} ${path}: ${reason}`, options);
    this.verb = verb;
    this.path = path;
    this.reason = reason;
  }
}
