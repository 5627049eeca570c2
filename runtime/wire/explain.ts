/** What users are told of a failure: the error for what was refused somewhere inside a message. */
import { CodecError } from "./errors.js";
import { messageOf, pathText, Refused } from "./refused.js";

/** @param name of the message */
export function codecError(verb: "encode" | "decode", name: string, error: unknown): CodecError {
  if (!(error instanceof Refused)) return new CodecError(verb, name, messageOf(error), { cause: error });
  const reason = error.reason === "" ? "the bytes are malformed" : error.reason;
  const options = error.cause === undefined ? undefined : { cause: error.cause };
  return new CodecError(verb, pathText(name, error.path), reason, options);
}

/** The second attempt to encode has found nothing, though the first one failed with `error`. */
export function unexplained(name: string, error: unknown): CodecError {
  const reason = error instanceof Refused && error.reason === "" ? "the value changed meanwhile" : messageOf(error);
  return codecError("encode", name, new Refused(reason, { cause: error }));
}
