/** Where the declarations of a schema stand, as blocks of a lock name them. */
import type { Schema, Shape } from "../model/index.js";
import { moduleName } from "./module-name.js";

/** `<kind> <name> in <module>` of every named declaration. Shapes written in place move with the one they stand in. */
export function declarationKeys(schema: Schema): ReadonlySet<string> {
  const places = new Set<string>();
  for (const { path, types, actors } of schema.modules) {
    const module = moduleName(path);
    for (const { name, shape } of types) for (const kind of kindsOf(shape)) places.add(`${kind} ${name} in ${module}`);
    for (const { name } of actors) places.add(`actor ${name} in ${module}`);
  }
  return places;
}

/** An alias of a shape that is written in place has a block for each of the two. */
function kindsOf(shape: Shape): readonly string[] {
  if (shape.kind !== "alias") return [shape.kind];
  const type = shape.type.kind === "nullable" ? shape.type.inner : shape.type;
  return type.kind === "inline" ? [shape.kind, ...kindsOf(type.shape)] : [shape.kind];
}
