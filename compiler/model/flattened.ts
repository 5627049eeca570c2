/**
 * Oneofs that are part of the message they stand in: a field's `Oneof<{ … }>`, written in place, whose cases all have an
 * `@id`. Their numbers are numbers of that message, so lock and layout need to know.
 */
import type { Field, Type } from "./type.js";

/** The cases of a field that is such a oneof; undefined for all others. `x?: Oneof<…> | null` is none: it has two ways to be absent. */
export function flattenedCases(type: Type, optional: boolean): readonly Field[] | undefined {
  const inner = type.kind === "nullable" && !optional ? type.inner : type;
  if (inner.kind !== "inline" || inner.shape.kind !== "oneof") return undefined;
  const { cases } = inner.shape;
  return cases.every(({ tags }) => tags.id !== undefined) ? cases : undefined;
}
