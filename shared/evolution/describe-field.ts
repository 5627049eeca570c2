/** Describes types and fields of the protobuf layout in words, for the texts of differences. */
import type { ProtoField, ProtoType } from "../protobuf/proto-schema.js";

export function describeType(type: ProtoType): string {
  return type.kind === "scalar" ? type.scalar : `${type.kind} ${type.name}`;
}

/** Describes a field: `repeated string`, `optional int32`, `map<string, message a.B>`. */
export function describeField(field: ProtoField): string {
  const type = describeType(field.type);
  switch (field.cardinality) {
    case "implicit":
      return type;
    case "explicit":
      return field.type.kind === "message" || field.oneof !== undefined ? type : `optional ${type}`;
    case "repeated":
      return `repeated ${type}`;
    case "map":
      return `map<${field.key}, ${type}>`;
  }
}

/** Joins the names of fields in the given order: `a`, `a and b`, `a, b and c`. */
export function joinNames(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}
