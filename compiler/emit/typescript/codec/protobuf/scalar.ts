/** Scalars and enums of the protobuf layout, as generated code writes and reads them. */
import type { ProtoScalar } from "../../../../../shared/protobuf/proto-schema.js";
import { hasNumbers, type ValueForm } from "../../../../protobuf/form/form.js";
import { type Code, code, globalName } from "../../../kit/index.js";
import { abiValue } from "../../abi-names.js";
import { upperFirst } from "../lockstep/body.js";

/** The wire type of one value: 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes. */
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

/** Whether values are written as they are: those of an enum of numbers. */
export function isNumeric(form: Extract<ValueForm, { kind: "enum" }>): boolean {
  return form.type.kind !== "wellKnown" && hasNumbers(form.shape);
}

/** The value of an enum that is 0 on the wire, as code. */
export function zeroOf(form: Extract<ValueForm, { kind: "enum" }>): string {
  return form.type.kind === "wellKnown" ? "null" : "0";
}

export function isClamped(form: ValueForm): boolean {
  return form.kind === "scalar" && form.type.kind === "typedArray";
}

/** The method of the writer for a scalar. */
export function putMethod(scalar: ProtoScalar, clamped: boolean): string {
  if (scalar !== "bytes") return scalar;
  return clamped ? "clamped" : "putBytes";
}

/** The method of the reader for a scalar. */
export function getMethod(scalar: ProtoScalar, clamped: boolean): string {
  if (scalar !== "bytes") return scalar;
  return clamped ? "clamped" : "getBytes";
}

/** The method for a packed field of such elements, in writer and reader; undefined: they are not packed. */
export function packedMethod(scalar: ProtoScalar): string | undefined {
  return scalar === "string" || scalar === "bytes" ? undefined : `packed${upperFirst(scalar)}`;
}

/** Whether `value` has to be written: it is not the default, or it is no such scalar, which writing it will tell. */
export function isWritten(scalar: ProtoScalar, clamped: boolean, value: Code): Code {
  switch (scalar) {
    case "double":
    case "float":
      // -0 is not the default.
      return code`!${globalName("Object")}.is(${value}, 0)`;
    case "bytes": {
      const type = globalName(clamped ? "Uint8ClampedArray" : "Uint8Array");
      return code`!${abiValue("isEmpty")}(${value}, ${type})`;
    }
    default:
      return code`${value} !== ${defaultOf(scalar) ?? ""}`;
  }
}

/** The literal of the default; undefined: it is made anew. */
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
