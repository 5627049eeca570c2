/**
 * Finds flattened oneofs. A flattened oneof is a field of type `Oneof<{ … }>`, written inline, in which every case has
 * an `@id`. The numbers of its cases are numbers of the enclosing message, so the lock and the layout need to know
 * them.
 */
import type { Field, Type } from "./type.js";

/**
 * Returns the cases of a field if its type is a flattened oneof, otherwise undefined. `x?: Oneof<…> | null` is not
 * flattened, because it can be absent in two ways.
 *
 * @param type the type of the field
 * @param optional whether the field is optional
 */
export function flattenedCases(type: Type, optional: boolean): readonly Field[] | undefined {
  const inner = type.kind === "nullable" && !optional ? type.inner : type;
  if (inner.kind !== "inline" || inner.shape.kind !== "oneof") return undefined;
  const { cases } = inner.shape;
  return cases.every(({ tags }) => tags.id !== undefined) ? cases : undefined;
}
