/** Maps scalars of schemas, and elements of typed arrays, to scalars of protobuf. */
import type { ProtoScalar } from "../../../shared/protobuf/proto-schema.js";
import type { ScalarName, TypedArrayElement } from "../../model/type.js";

/** Returns the scalar, or undefined for a date, which is the message `Timestamp`. */
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

/** Returns the scalar of the repeated field for a typed array, or undefined if the array is `bytes`. */
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

/** Returns whether protobuf allows the scalar as the key of a map. */
export function canBeMapKey(scalar: ProtoScalar): boolean {
  return scalar !== "double" && scalar !== "float" && scalar !== "bytes";
}
