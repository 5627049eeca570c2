/** Scalars of schemas, and elements of typed arrays, as protobuf calls them. */
import type { ProtoScalar } from "../../../shared/protobuf/proto-schema.js";
import type { ScalarName, TypedArrayElement } from "../../model/type.js";

/** Undefined: a message of protobuf's own (`Timestamp`). */
export function protoScalarOf(scalar: ScalarName): ProtoScalar | undefined {
  switch (scalar) {
    case "date":
      return undefined;
    case "boolean":
      return "bool";
    case "float32":
      return "float";
    default:
      return scalar;
  }
}

/** Of the repeated field that a typed array is; undefined: it is `bytes`. */
export function protoScalarOfElement(element: TypedArrayElement): ProtoScalar | undefined {
  return elements[element];
}

const elements: Readonly<Record<TypedArrayElement, ProtoScalar | undefined>> = {
  float64: "double",
  float32: "float",
  int32: "sfixed32",
  uint32: "fixed32",
  bigint64: "sfixed64",
  biguint64: "fixed64",
  int8: "sint32",
  int16: "sint32",
  uint16: "uint32",
  uint8clamped: undefined,
};

/** Whether a map of protobuf can have such keys. */
export function canBeMapKey(scalar: ProtoScalar): boolean {
  return scalar !== "double" && scalar !== "float" && scalar !== "bytes";
}
