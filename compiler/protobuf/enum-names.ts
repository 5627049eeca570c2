/**
 * Names of enums that are written in place, for as long as the compiler watches. A new type anywhere may take a name from
 * one somewhere else, so they are worked out for the whole schema; but only when something differs that they are made of,
 * which most edits leave as it was.
 */
import type { Module, Schema } from "../model/index.js";
import { partsOf, textOf, typesOf } from "../model/resolve.js";
import type { Shape, Type } from "../model/type.js";
import { withoutPlainFields } from "./form/plain-fields.js";
import { type LowerOptions, nameEnums } from "./lower/lower.js";
import type { LoweredSchema } from "./lower/lowered-schema.js";

export class EnumNameMemory {
  /** What the names were made of. */
  #text: string | undefined;
  /** In the order of modules, and of the enums in them. */
  #names: readonly (string | undefined)[] = [];

  /** As `nameEnums`, for the enums that `enumsIn` finds. */
  enumNames(schema: Schema, options: LowerOptions): LoweredSchema["enumNames"] {
    const text = [options.package, options.schemaRoot, ...schema.modules.map(nameText)].join("\n");
    const enums = schema.modules.flatMap(inlineEnumsIn);
    if (text !== this.#text) {
      const names = nameEnums(schema, options);
      this.#names = enums.map((shape) => names.get(shape));
      this.#text = text;
    }
    return new Map(
      enums.flatMap((shape, i): [Shape, string][] => {
        const name = this.#names[i];
        return name === undefined ? [] : [[shape, name]];
      }),
    );
  }
}

/** The enums that are written in place in a module, in an order that depends on nothing but the module. */
export function inlineEnumsIn(module: Pick<Module, "types" | "actors">): readonly Shape[] {
  let known = enumsByModule.get(module);
  if (known === undefined) {
    const found: Shape[] = [];
    const visit = (type: Type): void => {
      if (type.kind === "inline" && type.shape.kind === "enum") found.push(type.shape);
      partsOf(type).forEach(visit);
    };
    typesOf(module).forEach(visit);
    known = found;
    enumsByModule.set(module, known);
  }
  return known;
}

const enumsByModule = new WeakMap<object, readonly Shape[]>();

/** All of a module that names depend on: of messages, the fields that are messages or enums themselves. */
function nameText(module: Module): string {
  let text = textsByModule.get(module);
  if (text === undefined) {
    const types = module.types.map((declaration) =>
      textOf({ ...declaration, shape: withoutPlainFields(declaration.shape) }),
    );
    text = [module.path, ...types, ...module.actors.map(textOf)].join("\n");
    textsByModule.set(module, text);
  }
  return text;
}

const textsByModule = new WeakMap<Module, string>();
