/** Fields that need no message and no enum: scalars, lists of them and maps from them to them. Most fields are like that. */
import { indexSchema, partsOf } from "../../model/resolve.js";
import type { Field, Shape, Type } from "../../model/type.js";
import { elementForm } from "./form.js";

/** A message with those fields alone that need a message, an enum or a place; any other shape as it is. */
export function withoutPlainFields<S extends Shape>(shape: S): S {
  if (shape.kind !== "message") return shape;
  let rest = known.get(shape);
  if (rest === undefined) {
    rest = { ...shape, fields: shape.fields.filter((field) => !isPlain(field)) };
    known.set(shape, rest);
  }
  return rest as S;
}

/** Shapes do not change, and whoever watches asks again and again. */
const known = new WeakMap<Shape, Shape>();

/** What is bare refers to none. */
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

/** Whether a type says all of what it is: nothing in it is declared somewhere else, or left open, and nothing has a shape. */
function isSelfContained(type: Type): boolean {
  return !["ref", "inline", "parameter"].includes(type.kind) && partsOf(type).every(isSelfContained);
}
