/**
 * Type declarations: an interface for a message, an alias for everything else, and for a declared enumeration a constant
 * object with the union of its values. Real enums are avoided: they are no types that can be erased, and their members
 * would not be accepted where the schema's own enum is used.
 */
import { partsOf, partsOfShape } from "../../model/resolve.js";
import type { TypeDeclaration } from "../../model/schema.js";
import type { Shape, Type } from "../../model/type.js";
import { assignment, type Code, type FileBuilder, generic, group, propertyKey, type Scope } from "../kit/index.js";
import type { EmitContext } from "./context.js";
import { literal, type ParameterNames, TypePrinter } from "./types.js";

/** Writes the type that a schema declares. */
export function emitDeclaration(file: FileBuilder, declaration: TypeDeclaration, context: EmitContext): void {
  const { name, shape } = declaration;
  const parameters = nameParameters(file.scope(), declaration);
  const types = new TypePrinter(context, parameters);
  const head = generic(context.type(declaration.key), [...parameters.values()], true);
  const exported = context.exported(declaration.key) ? "export " : "";
  file.blank();
  file.doc(declaration.doc);
  if (shape.kind === "message" && shape.fields.length > 0) {
    file.block([exported, "interface ", head], () => {
      for (const field of shape.fields) {
        file.doc(field.doc);
        file.line(types.field(field), ";");
      }
    });
  } else if (shape.kind === "enum" && shape.origin === "enum") {
    emitEnum(file, name, shape, exported);
  } else {
    file.line(aliasCode([exported, "type ", head], shape, types.shape(shape)), ";");
  }
}

/** A union stands on lines of its own after `=`; anything else begins on the line of its name if it can. */
function aliasCode(left: Code, shape: Shape, right: Code): Code {
  const isUnion = shape.kind !== "message" && shape.kind !== "alias";
  return isUnion ? group([left, " = ", right]) : assignment(left, right);
}

function emitEnum(file: FileBuilder, name: string, shape: Extract<Shape, { kind: "enum" }>, exported: string): void {
  file.block(
    [exported, "const ", name, " ="],
    () => {
      for (const value of shape.values) {
        for (const { name, doc } of [value, ...(value.aliases ?? [])]) {
          file.doc(doc);
          file.line(propertyKey(name), ": ", literal(value.value), ",");
        }
      }
    },
    "} as const;",
  );
  file.line(assignment(`${exported}type ${name}`, `(typeof ${name})[keyof typeof ${name}]`), ";");
}

/** A declaration's type parameters; those that it does not use get an underscore, as linters want it. */
function nameParameters(scope: Scope, { shape, typeParameters }: TypeDeclaration): ParameterNames {
  const used = (name: string) => name.startsWith("_") || partsOfShape(shape).some(mentions(name));
  return new Map(typeParameters.map((name) => [name, scope.name(used(name) ? name : `_${name}`)]));
}

/** Whether a type has the type parameter `name` in it. */
export function mentions(name: string): (type: Type) => boolean {
  const test = (type: Type): boolean => (type.kind === "parameter" ? type.name === name : partsOf(type).some(test));
  return test;
}
