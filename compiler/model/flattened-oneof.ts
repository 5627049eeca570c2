/**
 * Oneofs that are part of the message they stand in: a field's `Oneof<{ … }>`, written in place, whose cases all have an
 * `@id`. Their numbers are numbers of that message, so lock and layout need to know.
 */
import type { Field, Type } from "./type.js";

/**
 * Returns the cases of a field whose type is a oneof without a name; undefined for all other fields. `x?: Oneof<…> |
 * null` is not such a field, since it can be absent in two ways.
 *
 * @param type of the field
 * @param optional whether the field is optional
 */
export function flattenedCases(type: Type, optional: boolean): readonly Field[] | undefined {
  const inner = type.kind === "nullable" && !optional ? type.inner : type;
  if (inner.kind !== "inline" || inner.shape.kind !== "oneof") return undefined;
  const { cases } = inner.shape;
  return cases.every(({ tags }) => tags.id !== undefined) ? cases : undefined;
}
