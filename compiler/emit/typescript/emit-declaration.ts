/**
 * Emits type declarations: an interface for a message, a type alias for all other shapes, and a constant object with
 * the union of its values for a declared enumeration. It emits no TypeScript enums: they are not erasable, and a
 * parameter of the schema's own enum type would not accept their members.
 */
import { rootName, simpleName } from "../../../shared/names/qualified-name.js";
import { partsOf, partsOfShape } from "../../model/resolve.js";
import type { TypeDeclaration } from "../../model/schema.js";
import type { DeclarationKey, Shape, Type } from "../../model/type.js";
import {
  assignment,
  type Code,
  type FileBuilder,
  generic,
  globalName,
  group,
  type NameScope,
  propertyKey,
  stringLiteral,
  union,
  unionArgument,
} from "../kit/index.js";
import type { EmitContext } from "./emit-context.js";
import { literalText, type ParameterNames, TypePrinter, unknownValueOf } from "./type-printer.js";

/** The scope of a declaration that is in a namespace, or that has the name of a namespace. */
export interface DeclaringScope {
  /** Returns the name of another declaration in this scope. */
  readonly referTo: (key: DeclarationKey) => Code;
  /** Returns the entries of an enumeration's constant beside its values. `emitConstants` writes the constant. */
  othersIn(name: string): readonly string[];
  readonly isNamespace: boolean;
}

/** Writes the type of a declaration. */
export function emitDeclaration(
  file: FileBuilder,
  declaration: TypeDeclaration,
  context: EmitContext,
  scope?: DeclaringScope,
): void {
  const { name, shape } = declaration;
  const parameters = nameParameters(file.scope(), declaration);
  const types = new TypePrinter(context, parameters, scope?.referTo);
  const own = scope?.isNamespace ? simpleName(name) : context.type(declaration.key);
  const head = generic(own, [...parameters.values()], true);
  const exported = context.isExported(declaration.key) ? "export " : "";
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
    if (scope === undefined) emitConstants(file, exported, name, new Map([[name, declaration]]));
    emitEnumType(file, [exported, "type ", head], name, scope?.othersIn(name) ?? [], unknownValueOf(shape));
  } else {
    file.line(aliasCode([exported, "type ", head], shape, types.shape(shape)), ";");
  }
}

/**
 * Returns the code of a type alias. A union starts on its own line after `=`. Any other type starts on the line of the
 * name if it fits.
 */
function aliasCode(left: Code, shape: Shape, right: Code): Code {
  const isUnion = shape.kind !== "message" && shape.kind !== "alias";
  return isUnion ? group([left, " = ", right]) : assignment(left, right);
}

/**
 * Writes the constant of an enumeration, or of a namespace that contains enumerations: `Order.Status.Open`.
 * @param root the name of the constant
 * @param enums the enumerations in it, by name
 */
export function emitConstants(
  file: FileBuilder,
  exported: string,
  root: string,
  enums: ReadonlyMap<string, TypeDeclaration>,
): void {
  file.block([exported, "const ", root, " ="], () => writeConstants(file, root, enums), "} as const;");
}

function writeConstants(file: FileBuilder, path: string, enums: ReadonlyMap<string, TypeDeclaration>): void {
  const shape = enums.get(path)?.shape;
  for (const value of shape?.kind === "enum" ? shape.values : []) {
    for (const { name, doc } of [value, ...(value.aliases ?? [])]) {
      file.doc(doc);
      file.line(propertyKey(name), ": ", literalText(value.value), ",");
    }
  }
  for (const part of constantsIn(path, enums)) {
    const inside = `${path}.${part}`;
    file.doc(enums.get(inside)?.doc ?? "");
    file.block([propertyKey(part), ":"], () => writeConstants(file, inside, enums), "},");
  }
}

/** Returns the entries of a namespace's constant beside the values of the enumeration of the same name. */
export function constantsIn(path: string, enums: ReadonlyMap<string, TypeDeclaration>): readonly string[] {
  const inside = [...enums.keys()].filter((name) => name.startsWith(`${path}.`));
  return [...new Set(inside.map((name) => rootName(name.slice(path.length + 1))))];
}

/**
 * @param others the entries of the constant beside the values
 * @param unknown the type of values of newer schemas
 */
function emitEnumType(file: FileBuilder, head: Code, path: string, others: readonly string[], unknown: Code): void {
  const keys =
    others.length === 0
      ? `keyof typeof ${path}`
      : generic(globalName("Exclude"), [`keyof typeof ${path}`, unionArgument(others.map(stringLiteral))]);
  file.line(group([head, " = ", union([[`(typeof ${path})[`, keys, "]"], unknown])]), ";");
}

/** Names the type parameters of a declaration. Unused parameters get an underscore, as linters require. */
function nameParameters(scope: NameScope, { shape, typeParameters }: TypeDeclaration): ParameterNames {
  const used = (name: string) => name.startsWith("_") || partsOfShape(shape).some(mentionsParameter(name));
  return new Map(typeParameters.map((name) => [name, scope.name(used(name) ? name : `_${name}`)]));
}

/** Returns a function that tells whether a type contains the type parameter `name`. */
export function mentionsParameter(name: string): (type: Type) => boolean {
  const test = (type: Type): boolean => (type.kind === "parameter" ? type.name === name : partsOf(type).some(test));
  return test;
}
