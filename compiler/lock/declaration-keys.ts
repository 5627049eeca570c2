/** Keys of the declarations of a schema, as the lock identifies blocks. */
import type { Schema, Shape } from "../model/index.js";
import { moduleName } from "./module-name.js";

/**
 * Returns `<kind> <name> in <module>` for every named declaration. Inline shapes move with the declaration that
 * contains them.
 */
export function declarationKeys(schema: Schema): ReadonlySet<string> {
  const places = new Set<string>();
  for (const { path, types, actors, tasks } of schema.modules) {
    const module = moduleName(path);
    for (const { name, shape } of types) for (const kind of kindsOf(shape)) places.add(`${kind} ${name} in ${module}`);
    for (const { name } of tasks) places.add(`task ${name} in ${module}`);
    for (const { name } of actors) places.add(`actor ${name} in ${module}`);
  }
  return places;
}

/** An alias of an inline shape has two blocks: one for the alias and one for the shape. */
function kindsOf(shape: Shape): readonly string[] {
  if (shape.kind !== "alias") return [shape.kind];
  const type = shape.type.kind === "nullable" ? shape.type.inner : shape.type;
  return type.kind === "inline" ? [shape.kind, ...kindsOf(type.shape)] : [shape.kind];
}
