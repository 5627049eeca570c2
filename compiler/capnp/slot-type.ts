/** The types of values in a struct, and the members that hold them. These functions need no schema. */
import type { EnumValue, Type } from "../model/index.js";
import type { CapnpMember, CapnpSchemaType, DataScalar } from "./capnp-schema.js";
import { slotSize } from "./struct-layout.js";

/** A type and whether it is nullable. The member or element that holds the value stores the `null`. */
export interface SlotType {
  readonly type: CapnpSchemaType;
  readonly nullable: boolean;
}

const scalars: Readonly<Record<string, DataScalar>> = {
  boolean: "bool",
  double: "float64",
  float32: "float32",
  int32: "int32",
  sint32: "int32",
  sfixed32: "int32",
  uint32: "uint32",
  fixed32: "uint32",
  int64: "int64",
  sint64: "int64",
  sfixed64: "int64",
  uint64: "uint64",
  fixed64: "uint64",
  date: "date",
};

export const voidType: CapnpSchemaType = { kind: "void" };

export function slotType(type: CapnpSchemaType): SlotType {
  return { type, nullable: false };
}

export function scalarType(scalar: string): CapnpSchemaType {
  if (scalar === "string") return { kind: "text" };
  if (scalar === "bytes") return { kind: "bytes" };
  return { kind: "data", scalar: scalars[scalar] as DataScalar };
}

/** Numeric enumerations are stored as numbers, so values that are missing from the schema are preserved. */
export function numericEnumType(values: readonly EnumValue[], type: Type): CapnpSchemaType | undefined {
  const whole = values.every(({ value }) => typeof value === "number" && Number.isInteger(value));
  if (!whole) return undefined;
  const small = values.every(({ value }) => Math.abs(Number(value)) < 2 ** 31);
  return { kind: "data", scalar: small ? "int32" : "float64", type };
}

export function plainStructMember(name: string, source: string | undefined, type: CapnpSchemaType): CapnpMember {
  return { name, property: source, type, doc: "", optional: false, nullable: false, ordinals: 1 };
}

/** @param isCase whether the member is a case of a choice; a case has no union of its own */
export function structMember(
  name: string,
  source: string | undefined,
  { type, nullable }: SlotType,
  optional: boolean,
  doc: string,
  isCase = false,
): CapnpMember {
  // A null pointer means that the value is absent. Data, and values that can be both absent and null, need a tag.
  const told = !isCase && type.kind !== "void" && (optional || nullable);
  const alone = slotSize(type) === "pointer" && !(optional && nullable);
  const ordinals = !told || alone ? 1 : optional && nullable ? 3 : 2;
  return { name, property: source, type, doc, optional, nullable, ordinals };
}
