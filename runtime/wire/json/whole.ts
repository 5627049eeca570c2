/** Whole messages as JSON, the same for every codec: errors say which message, and where in it. */
import type { JsonValue } from "../../../shared/vocabulary.js";
import type { Codec } from "../codec.js";
import { codecError } from "../explain.js";
import { type JsonReadOptions, JsonRun, type JsonWriteOptions } from "./form.js";
import { readWhole } from "./read.js";
import { writeWhole } from "./write.js";

export function toJson<T>(codec: Codec<T>, value: T, options?: JsonWriteOptions): JsonValue {
  try {
    return writeWhole(new JsonRun(options), codec as Codec<unknown>, value);
  } catch (error) {
    throw codecError("encode", codec.name, error);
  }
}

export function fromJson<T>(codec: Codec<T>, json: unknown, options?: JsonReadOptions): T {
  try {
    return readWhole(new JsonRun(options), codec as Codec<unknown>, json) as T;
  } catch (error) {
    throw codecError("decode", codec.name, error);
  }
}
