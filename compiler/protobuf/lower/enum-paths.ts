/** Lists the inline enums in a shape with their name paths, which are the same as when the shape is lowered. */
import type { SchemaIndex } from "../../model/resolve.js";
import type { Shape, Type } from "../../model/type.js";
import { type EnumShape, elementForm } from "../form/form.js";
import { elementStep, memberStep, type NamePath, namePathBelow, steps, variantStep } from "./name-path.js";

export interface EnumAtPath {
  readonly shape: EnumShape;
  readonly place: NamePath;
}

export function enumsInShape(shape: Shape, place: NamePath, index: SchemaIndex): readonly EnumAtPath[] {
  switch (shape.kind) {
    case "enum":
      return [{ shape, place }];
    case "alias":
      return enumsIn(shape.type, place, index);
    case "message":
      return shape.fields.flatMap(({ name, at, type }) =>
        enumsIn(type, namePathBelow(place, memberStep(name, at)), index),
      );
    case "oneof":
      return shape.cases.flatMap(({ name, at, type }) =>
        enumsIn(type, namePathBelow(place, memberStep(name, at)), index),
      );
    case "union":
      return shape.variants.flatMap(({ tag, at, type }) =>
        enumsIn(type, namePathBelow(place, variantStep(tag, at)), index),
      );
    default:
      return [];
  }
}

function enumsIn(type: Type, place: NamePath, index: SchemaIndex): readonly EnumAtPath[] {
  switch (type.kind) {
    case "inline":
      return enumsInShape(type.shape, place, index);
    case "nullable":
      return enumsIn(type.inner, namePathBelow(place, { name: "", path: "" }), index);
    case "array":
    case "set":
      return enumsIn(type.element, namePathBelow(place, steps.item), index);
    case "record":
      return enumsIn(type.value, namePathBelow(place, steps.value), index);
    case "map": {
      // A map whose keys protobuf does not allow is a list of entries.
      const isList = elementForm(type, false, index).form.kind === "repeated";
      const around = isList ? namePathBelow(place, steps.entry) : place;
      return [
        ...enumsIn(type.key, namePathBelow(around, steps.key), index),
        ...enumsIn(type.value, namePathBelow(around, steps.value), index),
      ];
    }
    case "tuple":
      return [
        ...type.elements.flatMap((element, i) =>
          enumsIn(element.type, namePathBelow(place, elementStep(i, element.name)), index),
        ),
        ...(type.rest === undefined
          ? []
          : enumsIn(type.rest, namePathBelow(namePathBelow(place, steps.rest), steps.restItem), index)),
      ];
    default:
      return [];
  }
}
