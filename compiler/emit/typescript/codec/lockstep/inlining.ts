/**
 * Decides which types are written and read in place, without a call of their codec: messages of few plain fields that are always present, and
 * enumerations whose values are their own indices. A call would take longer than the work itself. Messages with parts
 * are not inlined, so that the code of a message is repeated only in the types that hold it directly.
 */
import { type CoreType, peel, shapeOf } from "../../../../model/core-type.js";
import type { SchemaIndex } from "../../../../model/resolve.js";
import type { Field } from "../../../../model/type.js";

/** Messages with more fields are called: for them, a call takes little of the time, and its absence much code. */
const maxFields = 8;

/** Returns the fields of a message that is small enough to be written and read in place, or undefined for other types. */
export function flatFields(core: CoreType, index: SchemaIndex): readonly Field[] | undefined {
  if (core.kind !== "inline" && (core.kind !== "ref" || core.args.length > 0)) return undefined;
  const shape = shapeOf(core, index);
  if (shape.kind !== "message" || shape.fields.length > maxFields) return undefined;
  return shape.fields.every((field) => isPlain(field, index)) ? shape.fields : undefined;
}

/** Returns whether a field is always present and has no parts. */
function isPlain({ type, optional }: Field, index: SchemaIndex): boolean {
  const { core, nullable } = peel(type, index);
  if (optional || nullable) return false;
  return core.kind === "scalar" || (core.kind === "ref" && shapeOf(core, index).kind === "enum");
}

/** Returns the last value of a declared enumeration whose values are 0, 1, 2, …, or undefined for other types. */
export function lastOfRange(core: CoreType, index: SchemaIndex): number | undefined {
  if (core.kind !== "ref") return undefined;
  const shape = shapeOf(core, index);
  if (shape.kind !== "enum" || shape.values.length > 256) return undefined;
  return shape.values.every(({ value }, i) => value === i) ? shape.values.length - 1 : undefined;
}
