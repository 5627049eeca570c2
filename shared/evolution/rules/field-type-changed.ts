/**
 * Reports changes of a field's type. Both sides must read the same value from the same bytes, for all values. A change
 * from `int32` to `int64` is reported too: `int64` read as `int32` is truncated, and both sides write. Only two changes
 * are allowed: between an enum and `int32`, since enums are open, and between messages or enums that differ in name but
 * have the same members.
 */
import type { ProtoScalar, ProtoType } from "../../protobuf/proto-schema.js";
import { describeType } from "../describe-field.js";
import type { Pair } from "../pair.js";
import type { FieldRule, RuleContext } from "../wire-rule.js";

export const fieldTypeChanged: FieldRule = {
  code: "VC5001",
  name: "field-type-changed",
  fix: "Add a member with the new type, under another name, and keep this one until nobody sends it.",
  compares: "field",
  find({ older, newer }, around) {
    return describeTypeHarm({ older: older.type, newer: newer.type }, around);
  },
};

/** Describes the harm to values of one type that are read as another. Returns undefined if there is none. */
export function describeTypeHarm(types: Pair<ProtoType>, around: RuleContext): string | undefined {
  const { older, newer } = types;
  const harm = isNumbered(older) && isNumbered(newer) ? harmOfNumbers(types, around) : harmOf(types, around);
  if (harm === undefined) return undefined;
  return `its type was ${describeType(older)} and is ${describeType(newer)}: ${harm}`;
}

/** Returns whether the type is an enum or an `int32`, which are equal on the wire. */
function isNumbered(type: ProtoType): boolean {
  return type.kind === "enum" || (type.kind === "scalar" && type.scalar === "int32");
}

/**
 * Describes the harm between two enums or `int32`s. Enums of a schema are open, but a reader of `NullValue` reads null
 * for every number.
 */
function harmOfNumbers(types: Pair<ProtoType>, around: RuleContext): string | undefined {
  if (isNullValue(types.older) === isNullValue(types.newer)) return around.incompatibility(types);
  return "every number reads as null, and is written as 0";
}

function isNullValue(type: ProtoType): boolean {
  return type.kind === "enum" && type.name === "google.protobuf.NullValue";
}

function harmOf({ older, newer }: Pair<ProtoType>, around: RuleContext): string | undefined {
  if (older.kind === "message" && newer.kind === "message") return around.incompatibility({ older, newer });
  const before = scalarOf(older);
  const after = scalarOf(newer);
  return before === after ? undefined : harmOfScalars(before, after);
}

type WireScalar = ProtoScalar | "message";

function scalarOf(type: ProtoType): WireScalar {
  if (type.kind === "scalar") return type.scalar;
  return type.kind === "enum" ? "int32" : "message";
}

const wireTypes: Readonly<Record<WireScalar, "varint" | "64 bits" | "32 bits" | "length">> = {
  bool: "varint",
  int32: "varint",
  uint32: "varint",
  sint32: "varint",
  int64: "varint",
  uint64: "varint",
  sint64: "varint",
  double: "64 bits",
  fixed64: "64 bits",
  sfixed64: "64 bits",
  float: "32 bits",
  fixed32: "32 bits",
  sfixed32: "32 bits",
  string: "length",
  bytes: "length",
  message: "length",
};

/** Describes the harm between two different scalars. Every such pair does some harm. */
function harmOfScalars(before: WireScalar, after: WireScalar): string {
  const pair = [before, after];
  const has = (part: string) => pair.some((type) => type.includes(part));
  if (wireTypes[before] !== wireTypes[after])
    return "neither side finds the other's value, which has another wire type";
  if (wireTypes[before] === "length") {
    if (pair.includes("message")) return "what is no such message, or no UTF-8, is refused";
    return "bytes that are not UTF-8 are refused";
  }
  if (has("double") || has("float")) return "the bits of one read as another number";
  if (has("bool")) return "numbers read as true";
  if (pair.filter((type) => type.startsWith("sint")).length === 1) return "numbers read as others: one side has zigzag";
  if (has("64") && has("32")) return "numbers that need more than 32 bits are cut";
  return "negative numbers read as large ones, or the other way round";
}
