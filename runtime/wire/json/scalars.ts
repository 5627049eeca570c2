/** Scalars in the JSON mapping, each by its name in protobuf. */
import type { ProtoScalar } from "../../../shared/protobuf/proto-schema.js";
import type { JsonValue } from "../../../shared/vocabulary.js";
import { invalid } from "../refused.js";
import { formatBase64, parseBase64 } from "./base64.js";
import { formatDouble, parseDouble, parseFloat32, parseInteger } from "./number.js";

export interface JsonScalar {
  /** @throws Refused */
  write(value: unknown): JsonValue;
  /** @throws Refused */
  read(json: unknown): unknown;
}

function small(name: string, min: number, max: number): JsonScalar {
  const expected = `an integer from ${min} to ${max}`;
  return {
    write(value) {
      if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
        throw invalid(name, expected, value);
      }
      // -0 is 0.
      return value + 0;
    },
    read(json) {
      const value = parseInteger(json);
      if (value === undefined || value < min || value > max) throw invalid(name, expected, json);
      return Number(value);
    },
  };
}

function large(name: string, min: bigint, max: bigint): JsonScalar {
  const range = `from ${min} to ${max}`;
  return {
    write(value) {
      if (typeof value !== "bigint" || value < min || value > max) throw invalid(name, `a bigint ${range}`, value);
      return String(value);
    },
    read(json) {
      const value = parseInteger(json);
      if (value === undefined || value < min || value > max) throw invalid(name, `an integer ${range}`, json);
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
      if (typeof value !== "number") throw invalid("double", "a number", value);
      return formatDouble(value);
    },
    read(json) {
      const value = parseDouble(json);
      if (value === undefined) throw invalid("double", "a number", json);
      return value;
    },
  },
  float: {
    write(value) {
      if (typeof value !== "number") throw invalid("float32", "a number", value);
      const rounded = Math.fround(value);
      if (Number.isFinite(value) && !Number.isFinite(rounded)) throw invalid("float32", largestFloat, value);
      return formatDouble(rounded);
    },
    read(json) {
      const value = parseFloat32(json);
      if (value === undefined) throw invalid("float32", largestFloat, json);
      return value;
    },
  },
  int32: small("int32", ...int32),
  sint32: small("sint32", ...int32),
  sfixed32: small("sfixed32", ...int32),
  uint32: small("uint32", ...uint32),
  fixed32: small("fixed32", ...uint32),
  int64: large("int64", ...int64),
  sint64: large("sint64", ...int64),
  sfixed64: large("sfixed64", ...int64),
  uint64: large("uint64", ...uint64),
  fixed64: large("fixed64", ...uint64),
  bool: {
    write(value) {
      if (typeof value !== "boolean") throw invalid("boolean", "true or false", value);
      return value;
    },
    read(json) {
      if (typeof json !== "boolean") throw invalid("boolean", "true or false", json);
      return json;
    },
  },
  string: { write: text, read: text },
  bytes: {
    write(value) {
      if (!(value instanceof Uint8Array)) throw invalid("bytes", "a Uint8Array", value);
      return formatBase64(value);
    },
    read(json) {
      const bytes = typeof json === "string" ? parseBase64(json) : undefined;
      if (bytes === undefined) throw invalid("bytes", "base64", json);
      return bytes;
    },
  },
};

const largestFloat = "a number up to 3.4028234663852886e+38";

/** A string, on both sides. */
export function text(value: unknown): string {
  if (typeof value !== "string") throw invalid("string", "a string", value);
  if (!value.isWellFormed()) throw invalid("string", "text without lone surrogates", value);
  return value;
}

/** The key of a map, from the text that JSON has for it. */
export function readKey(scalar: ProtoScalar, key: string): unknown {
  if (scalar !== "bool") return jsonScalars[scalar].read(key);
  if (key !== "true" && key !== "false") throw invalid("boolean", '"true" or "false"', key);
  return key === "true";
}
