/**
 * Checks a schema as a whole. Reports types that have no finite value, generic types with an infinite number of
 * instantiations, and types in a namespace whose name is also the name of a member.
 */
import { isNested, namespaceOf, simpleName } from "../../../shared/names/qualified-name.js";
import { type Diagnostic, diagnostic } from "../../diagnostics/index.js";
import type { DeclarationKey, Module, Schema, Shape, Type, TypeDeclaration } from "../../model/index.js";
import {
  indexSchema,
  instantiationsOf,
  partsOf,
  partsOfEndpoint,
  partsOfShape,
  type SchemaIndex,
} from "../../model/resolve.js";
import { checkObjectRefs } from "./check-object-refs.js";
import { checkStates } from "./check-states.js";

/**
 * Returns the problems of a schema as a whole.
 *
 * @param schema a schema without errors so far
 */
export function checkSchema(schema: Schema): readonly Diagnostic[] {
  const index = indexSchema(schema);
  return [
    ...schema.modules.flatMap((module) => endless(module, index)),
    ...impossible(schema, index),
    ...schema.modules.flatMap(namedAsMember),
    ...checkStates(schema, index),
    ...checkObjectRefs(schema, index),
  ];
}

/**
 * Reports types in a namespace that have the same name as a member of the declaration with the namespace's name. The
 * lock would use one path, such as `Order.line`, both for an inline type of the member `line` of `Order` and for a type
 * `line` in the namespace `Order`.
 */
function namedAsMember({ types, actors }: Module): readonly Diagnostic[] {
  return types.flatMap(({ name, at }) => {
    if (!isNested(name)) return [];
    const owner = namespaceOf(name);
    const shape = shapeInPlace(types.find((type) => type.name === owner)?.shape);
    const fields = shape?.kind === "message" ? shape.fields : shape?.kind === "oneof" ? shape.cases : [];
    const field = fields.find((member) => member.name === simpleName(name));
    const endpoint = actors
      .find((actor) => actor.name === owner)
      ?.endpoints.find((member) => member.name === simpleName(name));
    const parts = [...(field === undefined ? [] : [field.type]), ...(endpoint ? partsOfEndpoint(endpoint) : [])];
    if (!parts.some(holdsShape)) return [];
    const what = field === undefined ? "endpoint" : "field";
    return [diagnostic("VC1220", at, { name, member: `${what} ${simpleName(name)} of ${owner}` })];
  });
}

/**
 * Returns the shape that contains the members of a declaration, also through an alias, or undefined if there is none.
 */
function shapeInPlace(shape: Shape | undefined): Shape | undefined {
  if (shape?.kind !== "alias") return shape;
  const type = shape.type.kind === "nullable" ? shape.type.inner : shape.type;
  return type.kind === "inline" ? shapeInPlace(type.shape) : undefined;
}

/** Returns whether a type contains an inline shape. */
function holdsShape(type: Type): boolean {
  return type.kind === "inline" || partsOf(type).some(holdsShape);
}

function endless(module: Module, index: SchemaIndex): readonly Diagnostic[] {
  return instantiationsOf(module, index).endless.map((key) => {
    const { name, at } = index.type(key);
    return diagnostic("VC1122", at, { name });
  });
}

/** Reports messages that have no finite value, because they always contain themselves. */
function impossible(schema: Schema, index: SchemaIndex): readonly Diagnostic[] {
  const all = schema.modules.flatMap((module) => module.types);
  const possible = new Set<DeclarationKey>();
  const isPossible = (type: Type) => canBeBuilt(type, possible);
  for (let before = -1; before < possible.size; ) {
    before = possible.size;
    for (const { key, shape } of all) if (!possible.has(key) && shapeCanBeBuilt(shape, isPossible)) possible.add(key);
  }
  return all.flatMap((declaration) => {
    if (possible.has(declaration.key)) return [];
    const path = pathToItself(declaration, index, possible);
    return path === undefined ? [] : [diagnostic("VC1121", declaration.at, { name: declaration.name, path })];
  });
}

function shapeCanBeBuilt(shape: Shape, isPossible: (type: Type) => boolean): boolean {
  switch (shape.kind) {
    case "message":
      return shape.fields.every(({ optional, type }) => optional || isPossible(type));
    case "oneof":
      return shape.cases.some(({ type }) => isPossible(type));
    case "union":
      return shape.variants.some(({ type }) => isPossible(type));
    case "alias":
      return isPossible(shape.type);
    case "enum":
      return true;
  }
}

function canBeBuilt(type: Type, possible: ReadonlySet<DeclarationKey>): boolean {
  switch (type.kind) {
    case "ref":
      return possible.has(type.target) && type.args.every((arg) => canBeBuilt(arg, possible));
    case "tuple":
      return type.elements.every((element) => element.optional || canBeBuilt(element.type, possible));
    case "inline":
      return shapeCanBeBuilt(type.shape, (inner) => canBeBuilt(inner, possible));
    default:
      return true;
  }
}

/** Returns the fields that lead from a declaration back to it, for example `left.next`. */
function pathToItself(
  start: TypeDeclaration,
  index: SchemaIndex,
  possible: ReadonlySet<DeclarationKey>,
): string | undefined {
  const seen = new Set<DeclarationKey>();
  const search = (shape: Shape, path: readonly string[]): readonly string[] | undefined => {
    for (const [name, type] of namedParts(shape)) {
      const found = follow(type, [...path, name]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const follow = (type: Type, path: readonly string[]): readonly string[] | undefined => {
    if (canBeBuilt(type, possible)) return undefined;
    if (type.kind === "inline") return search(type.shape, path);
    if (type.kind === "ref") {
      if (type.target === start.key) return path;
      if (!seen.has(type.target)) {
        seen.add(type.target);
        const found = search(index.type(type.target).shape, path);
        if (found !== undefined) return found;
      }
    }
    for (const part of partsOf(type)) {
      const found = follow(part, path);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return search(start.shape, [])
    ?.filter((name) => name !== "")
    .join(".");
}

function namedParts(shape: Shape): readonly (readonly [string, Type])[] {
  if (shape.kind === "message")
    return shape.fields.filter((field) => !field.optional).map(({ name, type }) => [name, type]);
  if (shape.kind === "union") return shape.variants.map(({ tag, type }) => [tag, type]);
  return partsOfShape(shape).map((type) => ["", type]);
}
