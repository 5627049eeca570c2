/** Converts the internal signal of a failed codec to the error that the user gets. */
import { errorMessage } from "../../shared/text/error-message.js";
import { CodecError } from "./codec-error.js";
import { CodecRefusal, formatPathOf } from "./codec-refusal.js";

/** @param name of the message */
export function toCodecError(verb: "encode" | "decode", name: string, error: unknown): CodecError {
  if (!(error instanceof CodecRefusal)) return new CodecError(verb, name, errorMessage(error), { cause: error });
  const reason = error.reason === "" ? "the bytes are malformed" : error.reason;
  const options = error.cause === undefined ? undefined : { cause: error.cause };
  return new CodecError(verb, formatPathOf(name, error.path), reason, options);
}

/** Returns the error for a value whose second attempt to encode succeeded, although the first one failed with `error`. */
export function unexplainedError(name: string, error: unknown): CodecError {
  const reason =
    error instanceof CodecRefusal && error.reason === "" ? "the value changed meanwhile" : errorMessage(error);
  return toCodecError("encode", name, new CodecRefusal(reason, { cause: error }));
}
