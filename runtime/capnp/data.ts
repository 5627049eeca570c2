/** Data types, whose values are stored in structs and lists directly: numbers, booleans, dates and enumerations. */
import { describeValue } from "../../shared/text/describe-value.js";
import { PathError } from "./error.js";
import type { DataType } from "./type.js";

function refuse(what: string, expected: string, value: unknown): never {
  throw new PathError("write", `invalid ${what}: expected ${expected}, got ${describeValue(value)}`);
}

/** A boolean. */
export const bool: DataType<boolean> = {
  kind: "data",
  size: 1,
  default: false,
  view: (memory, at, bit) => ((memory.getUint8(at) >>> bit) & 1) === 1,
  write(memory, at, bit, value) {
    if (typeof value !== "boolean") refuse("boolean", "true or false", value);
    const byte = memory.getUint8(at);
    memory.setUint8(at, value ? byte | (1 << bit) : byte & ~(1 << bit));
  },
};

function whole(name: string, bits: 8 | 16 | 32, signed: boolean): DataType<number> {
  const lowest = signed ? -(2 ** (bits - 1)) : 0;
  const highest = 2 ** (signed ? bits - 1 : bits) - 1;
  const size = ({ 8: 2, 16: 3, 32: 4 } as const)[bits];
  const [get, set] = accessors(bits, signed);
  return {
    kind: "data",
    size,
    default: 0,
    view: get,
    write(memory, at, _, value) {
      if (typeof value !== "number" || !Number.isInteger(value) || value < lowest || value > highest) {
        refuse(name, `an integer from ${lowest} to ${highest}`, value);
      }
      set(memory, at, value);
    },
  };
}

type Get = (memory: DataView, at: number) => number;
type Set = (memory: DataView, at: number, value: number) => void;

function accessors(bits: 8 | 16 | 32, signed: boolean): readonly [Get, Set] {
  if (bits === 8) {
    return signed
      ? [(memory, at) => memory.getInt8(at), (memory, at, value) => memory.setInt8(at, value)]
      : [(memory, at) => memory.getUint8(at), (memory, at, value) => memory.setUint8(at, value)];
  }
  if (bits === 16) {
    return signed
      ? [(memory, at) => memory.getInt16(at, true), (memory, at, value) => memory.setInt16(at, value, true)]
      : [(memory, at) => memory.getUint16(at, true), (memory, at, value) => memory.setUint16(at, value, true)];
  }
  return signed
    ? [(memory, at) => memory.getInt32(at, true), (memory, at, value) => memory.setInt32(at, value, true)]
    : [(memory, at) => memory.getUint32(at, true), (memory, at, value) => memory.setUint32(at, value, true)];
}

/** An integer from -2^31 to 2^31 - 1. */
export const int32 = whole("int32", 32, true);
/** An integer from 0 to 2^32 - 1. */
export const uint32 = whole("uint32", 32, false);

function big(name: string, signed: boolean): DataType<bigint> {
  const lowest = signed ? -(2n ** 63n) : 0n;
  const highest = 2n ** (signed ? 63n : 64n) - 1n;
  return {
    kind: "data",
    size: 5,
    default: 0n,
    view: (memory, at) => (signed ? memory.getBigInt64(at, true) : memory.getBigUint64(at, true)),
    write(memory, at, _, value) {
      if (typeof value !== "bigint" || value < lowest || value > highest) {
        refuse(name, `a bigint from ${lowest} to ${highest}`, value);
      }
      memory.setBigInt64(at, BigInt.asIntN(64, value as bigint), true);
    },
  };
}

/** A bigint from -2^63 to 2^63 - 1. */
export const int64 = big("int64", true);
/** A bigint from 0 to 2^64 - 1. */
export const uint64 = big("uint64", false);

/** A single-precision number. */
export const float32: DataType<number> = {
  kind: "data",
  size: 4,
  default: 0,
  view: (memory, at) => memory.getFloat32(at, true),
  write(memory, at, _, value) {
    if (typeof value !== "number") refuse("float32", "a number", value);
    memory.setFloat32(at, value as number, true);
  },
};

/** A double-precision number. */
export const float64: DataType<number> = {
  kind: "data",
  size: 5,
  default: 0,
  view: (memory, at) => memory.getFloat64(at, true),
  write(memory, at, _, value) {
    if (typeof value !== "number") refuse("number", "a number", value);
    memory.setFloat64(at, value as number, true);
  },
};

/** A date: milliseconds since 1970. Numbers beyond the range of Date become invalid dates. */
export const date: DataType<Date> = {
  kind: "data",
  size: 5,
  default: new Date(0),
  view: (memory, at) => new Date(Number(memory.getBigInt64(at, true))),
  write(memory, at, _, value) {
    if (!(value instanceof Date) || Number.isNaN(value.getTime())) refuse("date", "a valid Date", value);
    memory.setBigInt64(at, BigInt(value.getTime()), true);
  },
};

/** Returns the type of an enum of integers. Unknown integers are read as they are. */
export function numbers<E extends number>(type: DataType<number>): DataType<E> {
  return type as DataType<E>;
}

const unknownValue = /^\$unknown:(\d{1,5})$/;

/**
 * Returns the type of an enum of strings, or of numbers that are not integers.
 *
 * @param names the values by their numbers; undefined for 0 and for numbers of removed values
 */
export function enumeration<E extends string | number>(names: readonly (E | undefined)[]): DataType<E> {
  const numbers = new Map(
    names.flatMap((name, number): [unknown, number][] => (name === undefined ? [] : [[name, number]])),
  );
  // An enum with a single value carries no information and is read even if it was not written.
  const only = names.length === 2 ? names[1] : undefined;
  const nameOf = (number: number): E =>
    (names[number] ?? (number === 0 ? only : undefined) ?? `$unknown:${number}`) as E;
  return {
    kind: "data",
    size: 3,
    default: nameOf(0),
    view: (memory, at) => nameOf(memory.getUint16(at, true)),
    write(memory, at, _, value) {
      const number = numbers.get(value) ?? numberOfUnknown(value);
      if (number === undefined)
        refuse("enum value", `one of ${[...numbers.keys()].map(describeValue).join(", ")}`, value);
      memory.setUint16(at, number, true);
    },
  };
}

function numberOfUnknown(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const number = Number(unknownValue.exec(value)?.[1]);
  return number <= 0xffff ? number : undefined;
}
