/**
 * Generates the code of scalars: the test of a value, the instruction that stores it, and the method that does both
 * where one line is clearer than two.
 */
import type { ScalarName } from "../../../../model/type.js";
import { type Code, code } from "../../../kit/index.js";

/** A scalar that generated code itself tests and stores. */
interface PlainScalar {
  readonly refused: (value: Code) => Code;
  /** The suffix of the methods of DataView. */
  readonly view: "Float64" | "Int32" | "Uint32";
  /** The method of the writer that tests and stores. */
  readonly put: string;
}

const double: PlainScalar = {
  refused: (value) => code`typeof ${value} !== "number"`,
  view: "Float64",
  put: "putDouble",
};
const signed: PlainScalar = { refused: (value) => code`${value} !== (${value} | 0)`, view: "Int32", put: "putInt32" };
const unsigned: PlainScalar = {
  refused: (value) => code`${value} !== ${value} >>> 0`,
  view: "Uint32",
  put: "putUint32",
};

const plain: Partial<Record<ScalarName, PlainScalar>> = {
  double,
  int32: signed,
  sint32: signed,
  sfixed32: signed,
  uint32: unsigned,
  fixed32: unsigned,
};

export function plainScalar(scalar: ScalarName): PlainScalar | undefined {
  return plain[scalar];
}

/** Returns the writer's method for a scalar: `putString`. */
export function putMethod(scalar: ScalarName): string {
  switch (scalar) {
    case "boolean":
      return "putBoolean";
    case "string":
      return "putString";
    case "bytes":
      return "putBytes";
    case "date":
      return "putDate";
    case "float32":
      return "putFloat32";
    case "uint64":
    case "fixed64":
      return "putUint64";
    case "int64":
    case "sint64":
    case "sfixed64":
      return "putInt64";
    default:
      return plain[scalar]?.put ?? "";
  }
}

/** Returns an expression for the value of a scalar whose slot is at `at`. */
export function readScalar(scalar: ScalarName, r: Code, view: Code, at: Code): Code {
  switch (scalar) {
    case "boolean":
      return code`${r}.getBoolean(${at})`;
    case "string":
      return code`${r}.getString(${at})`;
    case "bytes":
      return code`${r}.getBytes(${at})`;
    case "date":
      return code`${r}.getDate(${at})`;
    case "float32":
      return code`${view}.getFloat32(${at}, true)`;
    case "uint64":
    case "fixed64":
      return code`${view}.getBigUint64(${at}, true)`;
    case "int64":
    case "sint64":
    case "sfixed64":
      return code`${view}.getBigInt64(${at}, true)`;
    default:
      return code`${view}.get${plain[scalar]?.view ?? ""}(${at}, true)`;
  }
}

/** Returns whether the slot holds the complete value. */
export function isFixed(scalar: ScalarName): boolean {
  return scalar !== "string" && scalar !== "bytes";
}
