/**
 * Caches the names of inline enums for watch mode. A new type may take the name of an enum elsewhere, so names are
 * computed for the whole schema, but only if something that they depend on has changed. Most edits do not change that.
 */
import type { Module, Schema } from "../model/index.js";
import { type DeclarationGroup, partsOf, textOf, typesOf } from "../model/resolve.js";
import type { Shape, Type } from "../model/type.js";
import { withoutPlainFields } from "./form/plain-fields.js";
import { type LowerOptions, nameEnums } from "./lower/lower.js";
import type { LoweredSchema } from "./lower/lowered-schema.js";

export class EnumNameMemory {
  /** Everything that the cached names depend on, as text. */
  #text: string | undefined;
  /** The names, in the order of modules and of the enums in them. */
  #names: readonly (string | undefined)[] = [];

  /** Returns the same as `nameEnums`, for the enums that `inlineEnumsIn` finds. */
  enumNames(schema: Schema, options: LowerOptions): LoweredSchema["enumNames"] {
    const modules = [...(schema.imported ?? []), ...schema.modules];
    const text = [options.package, options.schemaRoot, ...modules.map(nameText)].join("\n");
    const enums = modules.flatMap(inlineEnumsIn);
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

/** Returns the inline enums of a module, in an order that depends only on the module. */
export function inlineEnumsIn(module: DeclarationGroup): readonly Shape[] {
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

/**
 * Returns the text of everything in a module that names depend on. Fields of messages are included only if their type
 * is or contains a message or an enum.
 */
function nameText(module: Module): string {
  let text = textsByModule.get(module);
  if (text === undefined) {
    const types = module.types.map((declaration) =>
      textOf({ ...declaration, shape: withoutPlainFields(declaration.shape) }),
    );
    text = [module.path, ...types, ...module.actors.map(textOf), ...module.tasks.map(textOf)].join("\n");
    textsByModule.set(module, text);
  }
  return text;
}

const textsByModule = new WeakMap<Module, string>();
