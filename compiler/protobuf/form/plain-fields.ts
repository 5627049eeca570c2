/**
 * Recognizes plain fields, which need no message and no enum: scalars, lists of scalars, and maps of scalars. Most
 * fields are plain.
 */
import { indexSchema, partsOf } from "../../model/resolve.js";
import type { Field, Shape, Type } from "../../model/type.js";
import { elementForm } from "./form.js";

/**
 * Returns a message with only those fields that need a message, an enum or a name path. Returns other shapes unchanged.
 */
export function withoutPlainFields<S extends Shape>(shape: S): S {
  if (shape.kind !== "message") return shape;
  let rest = known.get(shape);
  if (rest === undefined) {
    rest = { ...shape, fields: shape.fields.filter((field) => !isPlain(field)) };
    known.set(shape, rest);
  }
  return rest as S;
}

/** Caches the results. Shapes never change, and watch mode asks for them after every edit. */
const known = new WeakMap<Shape, Shape>();

/** An empty index, since self-contained types refer to no declarations. */
const noDeclarations = indexSchema({ package: "", modules: [] });

function isPlain({ type, optional }: Field): boolean {
  if (!isSelfContained(type)) return false;
  const { form } = elementForm(type, optional, noDeclarations);
  switch (form.kind) {
    case "scalar":
      return true;
    case "repeated":
      return form.element.kind === "scalar";
    case "map":
      return form.value.kind === "scalar";
    default:
      return false;
  }
}

/** Returns whether a type is complete in itself: it contains no reference, no type parameter and no inline shape. */
function isSelfContained(type: Type): boolean {
  return !["ref", "inline", "parameter"].includes(type.kind) && partsOf(type).every(isSelfContained);
}
