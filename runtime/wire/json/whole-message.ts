/** Converts whole messages to and from JSON for every codec. Errors contain the message and the path. */
import type { JsonValue } from "../../../shared/vocabulary.js";
import type { Codec, JsonReadOptions, JsonWriteOptions } from "../codec.js";
import { toCodecError } from "../explain-error.js";
import { JsonConversion } from "./json-form.js";
import { readWhole } from "./read.js";
import { writeWhole } from "./write.js";

export function toJson<T>(codec: Codec<T>, value: T, options?: JsonWriteOptions): JsonValue {
  try {
    return writeWhole(new JsonConversion(options), codec as Codec<unknown>, value);
  } catch (error) {
    throw toCodecError("encode", codec.name, error);
  }
}

export function fromJson<T>(codec: Codec<T>, json: unknown, options?: JsonReadOptions): T {
  try {
    return readWhole(new JsonConversion(options), codec as Codec<unknown>, json) as T;
  } catch (error) {
    throw toCodecError("decode", codec.name, error);
  }
}
