/** Generates the code of scalars and enums in the protobuf layout. */
import type { ProtoScalar } from "../../../../../shared/protobuf/proto-schema.js";
import { hasNumbers, type ValueForm } from "../../../../protobuf/form/form.js";
import { type Code, code, globalName } from "../../../kit/index.js";
import { abiValue } from "../../abi-names.js";
import { upperFirst } from "../lockstep/body.js";

/** Returns the wire type of a value: 0 for a varint, 1 for eight bytes, 2 for length and bytes, 5 for four bytes. */
export function wireTypeOf(form: ValueForm): 0 | 1 | 2 | 5 {
  if (form.kind === "message") return 2;
  return form.kind === "enum" ? 0 : wireTypeNumbers[form.scalar];
}

const wireTypeNumbers: Readonly<Record<ProtoScalar, 0 | 1 | 2 | 5>> = {
  double: 1,
  float: 5,
  int32: 0,
  uint32: 0,
  sint32: 0,
  fixed32: 5,
  sfixed32: 5,
  int64: 0,
  uint64: 0,
  sint64: 0,
  fixed64: 1,
  sfixed64: 1,
  bool: 0,
  string: 2,
  bytes: 2,
};

/** Returns whether the values of an enum are numbers, which are written unchanged. */
export function isNumeric(form: Extract<ValueForm, { kind: "enum" }>): boolean {
  return form.type.kind !== "wellKnown" && hasNumbers(form.shape);
}

/** Returns the value of an enum that is 0 on the wire, as code. */
export function zeroOf(form: Extract<ValueForm, { kind: "enum" }>): string {
  return form.type.kind === "wellKnown" ? "null" : "0";
}

export function isClamped(form: ValueForm): boolean {
  return form.kind === "scalar" && form.type.kind === "typedArray";
}

/** Returns the method of the writer for a scalar. */
export function putMethod(scalar: ProtoScalar, clamped: boolean): string {
  if (scalar !== "bytes") return scalar;
  return clamped ? "clamped" : "putBytes";
}

/** Returns the method of the reader for a scalar. */
export function getMethod(scalar: ProtoScalar, clamped: boolean): string {
  if (scalar !== "bytes") return scalar;
  return clamped ? "clamped" : "getBytes";
}

/** Returns the method of writer and reader for a packed field, or undefined if the elements are not packed. */
export function packedMethod(scalar: ProtoScalar): string | undefined {
  return scalar === "string" || scalar === "bytes" ? undefined : `packed${upperFirst(scalar)}`;
}

/**
 * Returns the test whether `value` must be written. It is true for a value of a wrong type, so that the writer reports
 * it.
 */
export function isWritten(scalar: ProtoScalar, clamped: boolean, value: Code): Code {
  switch (scalar) {
    case "double":
    case "float":
      // Negative zero is not the default.
      return code`!${globalName("Object")}.is(${value}, 0)`;
    case "bytes": {
      const type = globalName(clamped ? "Uint8ClampedArray" : "Uint8Array");
      return code`!${abiValue("isEmpty")}(${value}, ${type})`;
    }
    default:
      return code`${value} !== ${defaultOf(scalar) ?? ""}`;
  }
}

/** Returns the literal of the default, or undefined if every default is a new object. */
export function defaultOf(scalar: ProtoScalar): string | undefined {
  switch (scalar) {
    case "bool":
      return "false";
    case "string":
      return '""';
    case "bytes":
      return undefined;
    default:
      return scalar.endsWith("64") ? "0n" : "0";
  }
}
