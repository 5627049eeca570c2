/** Scalars in the JSON mapping, by their names in protobuf. */
import type { ProtoScalar } from "../../../shared/protobuf/proto-schema.js";
import type { JsonValue } from "../../../shared/vocabulary.js";
import { invalidValue } from "../codec-refusal.js";
import { formatBase64, parseBase64 } from "./base64.js";
import { formatDouble, parseDouble, parseFloat32, parseInteger } from "./number.js";

export interface JsonScalar {
  /** @throws {CodecRefusal} */
  write(value: unknown): JsonValue;
  /** @throws {CodecRefusal} */
  read(json: unknown): unknown;
}

function integer32(name: string, min: number, max: number): JsonScalar {
  const expected = `an integer from ${min} to ${max}`;
  return {
    write(value) {
      if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
        throw invalidValue(name, expected, value);
      }
      // Turns -0 into 0.
      return value + 0;
    },
    read(json) {
      const value = parseInteger(json);
      if (value === undefined || value < min || value > max) throw invalidValue(name, expected, json);
      return Number(value);
    },
  };
}

function integer64(name: string, min: bigint, max: bigint): JsonScalar {
  const range = `from ${min} to ${max}`;
  return {
    write(value) {
      if (typeof value !== "bigint" || value < min || value > max) throw invalidValue(name, `a bigint ${range}`, value);
      return String(value);
    },
    read(json) {
      const value = parseInteger(json);
      if (value === undefined || value < min || value > max) throw invalidValue(name, `an integer ${range}`, json);
      return value;
    },
  };
}

const int32 = [-(2 ** 31), 2 ** 31 - 1] as const;
const uint32 = [0, 2 ** 32 - 1] as const;
const int64 = [-(2n ** 63n), 2n ** 63n - 1n] as const;
const uint64 = [0n, 2n ** 64n - 1n] as const;

export const jsonScalars: Readonly<Record<ProtoScalar, JsonScalar>> = {
  double: {
    write(value) {
      if (typeof value !== "number") throw invalidValue("double", "a number", value);
      return formatDouble(value);
    },
    read(json) {
      const value = parseDouble(json);
      if (value === undefined) throw invalidValue("double", "a number", json);
      return value;
    },
  },
  float: {
    write(value) {
      if (typeof value !== "number") throw invalidValue("float32", "a number", value);
      const rounded = Math.fround(value);
      if (Number.isFinite(value) && !Number.isFinite(rounded)) throw invalidValue("float32", largestFloat, value);
      return formatDouble(rounded);
    },
    read(json) {
      const value = parseFloat32(json);
      if (value === undefined) throw invalidValue("float32", largestFloat, json);
      return value;
    },
  },
  int32: integer32("int32", ...int32),
  sint32: integer32("sint32", ...int32),
  sfixed32: integer32("sfixed32", ...int32),
  uint32: integer32("uint32", ...uint32),
  fixed32: integer32("fixed32", ...uint32),
  int64: integer64("int64", ...int64),
  sint64: integer64("sint64", ...int64),
  sfixed64: integer64("sfixed64", ...int64),
  uint64: integer64("uint64", ...uint64),
  fixed64: integer64("fixed64", ...uint64),
  bool: {
    write(value) {
      if (typeof value !== "boolean") throw invalidValue("boolean", "true or false", value);
      return value;
    },
    read(json) {
      if (typeof json !== "boolean") throw invalidValue("boolean", "true or false", json);
      return json;
    },
  },
  string: { write: checkJsonText, read: checkJsonText },
  bytes: {
    write(value) {
      if (!(value instanceof Uint8Array)) throw invalidValue("bytes", "a Uint8Array", value);
      return formatBase64(value);
    },
    read(json) {
      const bytes = typeof json === "string" ? parseBase64(json) : undefined;
      if (bytes === undefined) throw invalidValue("bytes", "base64", json);
      return bytes;
    },
  },
};

const largestFloat = "a number up to 3.4028234663852886e+38";

/** Refuses a value that is not a string of well-formed text. Used for writing and reading. */
export function checkJsonText(value: unknown): string {
  if (typeof value !== "string") throw invalidValue("string", "a string", value);
  if (!value.isWellFormed()) throw invalidValue("string", "text without lone surrogates", value);
  return value;
}

/** Reads the key of a map from the name of a JSON member. */
export function readKey(scalar: ProtoScalar, key: string): unknown {
  if (scalar !== "bool") return jsonScalars[scalar].read(key);
  if (key !== "true" && key !== "false") throw invalidValue("boolean", '"true" or "false"', key);
  return key === "true";
}
