/**
 * Reads types as written into types of the model. A type that the model cannot express becomes an `unsupported` leaf
 * and a diagnostic, and reading continues.
 */
import type { DiagnosticCode, DiagnosticParameters } from "../../diagnostics/index.js";
import { type DeclarationKey, isWellKnown, type Shape, type TupleElement, type Type } from "../../model/index.js";
import type { SourceMember, SourceReference, SourceType } from "../type-source.js";
import { refusal, typedArrays, utilities, vocabularyScalars } from "./builtins.js";
import type { FileScope } from "./context.js";

/** The parts of the reader that reading a type needs. */
export interface TypeContext {
  /** Returns whether a key identifies an actor interface. */
  isActor(key: DeclarationKey): boolean;
  /** Returns whether a key identifies a task. */
  isTask(key: DeclarationKey): boolean;
  /**
   * Returns whether a key identifies a generic alias that is computed from its parameters. It has no shape of its own.
   */
  isTypeFunction(key: DeclarationKey): boolean;
  /** Returns the type arguments of a reference, with defaults for omitted ones. */
  fillArguments(reference: SourceReference, scope: FileScope): readonly Type[];
  /**
   * Records that a declaration is needed. Returns false if a schema cannot refer to it. Classes and values are reported
   * here, actors at their declaration.
   */
  reach(reference: SourceReference, scope: FileScope): boolean;
  /** Reads an object type written inline, `{ … }`. */
  object(members: readonly SourceMember[], scope: FileScope, owner: string): Shape;
  union(type: SourceType & { readonly kind: "union" }, scope: FileScope, owner: string): Type;
  intersection(type: SourceType & { readonly kind: "intersection" }, scope: FileScope, owner: string): Type;
  oneof(type: SourceReference, scope: FileScope, owner: string): Type;
  /**
   * Returns the literals of a type if it consists only of string and number literals, otherwise undefined. They are
   * used as dimension names, for example.
   */
  literals(type: SourceType, scope: FileScope): readonly (string | number)[] | undefined;
}

/** Reports a diagnostic and returns the `unsupported` leaf for the type. */
export function unsupported<Code extends DiagnosticCode>(
  type: SourceType,
  scope: FileScope,
  code: Code,
  parameters: DiagnosticParameters<Code>,
): Type {
  const { text, fix } = scope.report(type, code, parameters);
  return { kind: "unsupported", reason: text, typeText: scope.text(type), fixHint: fix ?? "" };
}

/** Returns the leaf for a type with a problem that has already been reported. */
function reportedByCompiler(type: SourceType, scope: FileScope): Type {
  return { kind: "unsupported", reason: "TypeScript reports an error", typeText: scope.text(type), fixHint: "" };
}

/**
 * Reads a type.
 *
 * @param owner the member or declaration that has the type, for names and messages: `Tree.left`
 */
export function readType(type: SourceType, scope: FileScope, owner: string, context: TypeContext): Type {
  switch (type.kind) {
    case "keyword":
      return keywordType(type, scope);
    case "literal":
      return literalType(type, scope);
    case "parameter":
      return { kind: "parameter", name: type.name };
    case "array":
      return { kind: "array", element: readType(type.element, scope, owner, context), readonly: type.readonly };
    case "tuple":
      return tupleType(type, scope, owner, context);
    case "union":
      return context.union(type, scope, owner);
    case "intersection":
      return context.intersection(type, scope, owner);
    case "object":
      return inline(context.object(type.members, scope, owner));
    case "function":
      return unsupported(type, scope, "VC1102", { type: scope.text(type) });
    case "computed":
      return computedType(type, type.handle, scope, owner, context);
    case "reference":
      return referenceType(type, scope, owner, context);
  }
}

/** Returns an inline type for a shape. For an alias, returns the aliased type. */
export function inline(shape: Shape): Type {
  return shape.kind === "alias" ? shape.type : { kind: "inline", shape };
}

function keywordType(type: SourceType & { readonly kind: "keyword" }, scope: FileScope): Type {
  const text = scope.text(type);
  switch (type.name) {
    case "string":
    case "boolean":
      return { kind: "scalar", scalar: type.name };
    case "number":
      return { kind: "scalar", scalar: "double" };
    case "bigint":
      return unsupported(type, scope, "VC1105", {});
    case "undefined":
      return unsupported(type, scope, "VC1106", { type: text });
    case "null":
      return unsupported(type, scope, "VC1109", {
        type: "null",
        why: "its value is always the same",
        hint: "Remove it, or write the type of the other values: `T | null`.",
      });
    case "void":
      return unsupported(type, scope, "VC1101", { type: text, hint: "Remove it. Only endpoints return `void`." });
    case "symbol":
      return unsupported(type, scope, "VC1101", { type: text, hint: 'Use a union of strings: `"a" | "b"`.' });
    default:
      return unsupported(type, scope, "VC1101", { type: text, hint: hintFor(text) });
  }
}

/** Returns which types to use instead of `any`, `unknown`, `object` and `never`. */
function hintFor(text: string): string {
  const named = "Name the type of the value. For several types, use `Oneof<{ a: A; b: B }>`";
  if (text === "never") return `${named}.`;
  const json = text === "object" ? "any JSON object, use `Struct`" : "any JSON value, use `Value`";
  return `${named}. For ${json} of "viceroy/schema".`;
}

function literalType(type: SourceType & { readonly kind: "literal" }, scope: FileScope): Type {
  const { value } = type;
  if (typeof value === "boolean") {
    const why = "a boolean has two values";
    return unsupported(type, scope, "VC1109", { type: String(value), why, hint: "Use `boolean`." });
  }
  return inline(enumOf([value], type, scope));
}

/** Returns an enum of literals, in their order and without duplicates. */
export function enumOf(values: readonly (string | number)[], type: SourceType, scope: FileScope): Shape {
  const at = scope.at(type);
  const unique = [...new Set(values)];
  return {
    kind: "enum",
    origin: "literals",
    values: unique.map((value) => ({ name: String(value), value, id: 0, doc: "", at })),
  };
}

function tupleType(
  type: SourceType & { readonly kind: "tuple" },
  scope: FileScope,
  owner: string,
  context: TypeContext,
): Type {
  const { elements, readonly } = type;
  const last = elements.at(-1);
  const misplaced = elements.slice(0, -1).find(({ rest }) => rest);
  if (misplaced !== undefined) {
    return unsupported(type, scope, "VC1119", { type: scope.text(type), why: "its rest element is not the last" });
  }
  const fixed = elements.filter(({ rest }) => !rest);
  const read = fixed.map(
    (element): TupleElement => ({
      ...(element.name !== undefined && { name: element.name }),
      type: readType(element.type, scope, owner, context),
      optional: element.optional,
    }),
  );
  if (!last?.rest) return { kind: "tuple", elements: read, readonly };
  const rest = last.type;
  if (rest.kind !== "array") {
    return unsupported(type, scope, "VC1119", { type: scope.text(type), why: "its rest element is not an array" });
  }
  return { kind: "tuple", elements: read, rest: readType(rest.element, scope, owner, context), readonly };
}

function computedType(type: SourceType, handle: number, scope: FileScope, owner: string, context: TypeContext): Type {
  const expanded = scope.context.source.expand(handle);
  if (expanded === undefined) {
    const why = "it depends on a type parameter";
    return unsupported(type, scope, "VC1110", { type: scope.text(type), why });
  }
  if (expanded.kind === "computed") {
    return unsupported(type, scope, "VC1110", { type: scope.text(type), why: "it is infinite" });
  }
  return readType(expanded, scope, owner, context);
}

function referenceType(type: SourceReference, scope: FileScope, owner: string, context: TypeContext): Type {
  switch (type.origin) {
    case "vocabulary":
      return vocabularyType(type, scope, owner, context);
    case "global":
      return globalType(type, scope, owner, context);
    case "schema":
      return schemaType(type, scope, owner, context);
    case "foreign":
      return unsupported(type, scope, "VC1104", {
        type: scope.text(type),
        reason: "it is declared neither at the top level of a schema file nor in a namespace there",
        hint: "Declare it there, as an interface or a type.",
      });
    case "unresolved":
      return reportedByCompiler(type, scope);
  }
}

function schemaType(type: SourceReference, scope: FileScope, owner: string, context: TypeContext): Type {
  const key = type.key as DeclarationKey;
  if (context.isActor(key))
    return context.reach(type, scope) ? { kind: "mesh", actor: key } : reportedByCompiler(type, scope);
  if (context.isTask(key)) return unsupported(type, scope, "VC1124", { type: scope.text(type) });
  if (context.isTypeFunction(key)) {
    if (type.handle === undefined) {
      const why = "it depends on a type parameter";
      return unsupported(type, scope, "VC1110", { type: scope.text(type), why });
    }
    return computedType(type, type.handle, scope, owner, context);
  }
  if (!context.reach(type, scope)) return reportedByCompiler(type, scope);
  return { kind: "ref", target: key, args: context.fillArguments(type, scope) };
}

function vocabularyType(type: SourceReference, scope: FileScope, owner: string, context: TypeContext): Type {
  const { name, args } = type;
  const scalar = Object.hasOwn(vocabularyScalars, name) ? vocabularyScalars[name] : undefined;
  if (scalar !== undefined) return { kind: "scalar", scalar };
  if (isWellKnown(name)) return { kind: "wellKnown", name };
  const [first] = args;
  switch (name) {
    case "Port":
      return first === undefined
        ? reportedByCompiler(type, scope)
        : { kind: "port", element: readType(first, scope, owner, context) };
    case "Mesh":
      return meshType(type, scope, context);
    case "Oneof":
      return context.oneof(type, scope, owner);
    case "RdmaBuffer":
      return { kind: "rdmaBuffer" };
    case "Tensor":
      return { kind: "tensor" };
    case "ObjectRef":
      return first === undefined
        ? reportedByCompiler(type, scope)
        : { kind: "objectRef", element: readType(first, scope, owner, context) };
    case "Stream":
      return unsupported(type, scope, "VC1115", { type: scope.text(type) });
    case "Actor":
      return unsupported(type, scope, "VC1120", { type: scope.text(type) });
    case "Task":
      return unsupported(type, scope, "VC1124", { type: scope.text(type) });
    default:
      return unsupported(type, scope, "VC1104", {
        type: scope.text(type),
        reason: "it is not part of the schema language",
        hint: "Use a type of the schema language.",
      });
  }
}

const dimensionName = /^[A-Za-z_]\w*$/;

function meshType(type: SourceReference, scope: FileScope, context: TypeContext): Type {
  const [actor, dimensions] = type.args;
  if (actor === undefined || (actor.kind === "reference" && actor.origin === "unresolved"))
    return reportedByCompiler(type, scope);
  if (actor.kind !== "reference" || actor.key === undefined || !context.isActor(actor.key)) {
    return unsupported(actor, scope, "VC1117", { type: scope.text(actor) });
  }
  if (!context.reach(actor, scope)) return reportedByCompiler(type, scope);
  const mesh = { kind: "mesh", actor: actor.key } as const;
  if (dimensions === undefined || (dimensions.kind === "keyword" && dimensions.name === "string")) return mesh;
  if (dimensions.kind === "keyword" && dimensions.name === "never") return { ...mesh, dimensions: [] };
  const hint = 'Write names of dimensions: `Mesh<Counter, "hosts" | "gpus">`.';
  const names = context.literals(dimensions, scope);
  if (names === undefined) {
    return unsupported(dimensions, scope, "VC1118", { name: scope.text(dimensions), hint });
  }
  const invalid = names.find((name) => !dimensionName.test(String(name)));
  if (invalid !== undefined) return unsupported(dimensions, scope, "VC1118", { name: JSON.stringify(invalid), hint });
  return { ...mesh, dimensions: names.map(String) };
}

function globalType(type: SourceReference, scope: FileScope, owner: string, context: TypeContext): Type {
  const { name, args } = type;
  const read = (i: number): Type => {
    const arg = args[i];
    return arg === undefined ? reportedByCompiler(type, scope) : readType(arg, scope, owner, context);
  };
  switch (name) {
    case "Array":
    case "ReadonlyArray":
      return { kind: "array", element: read(0), readonly: name === "ReadonlyArray" };
    case "Map":
    case "ReadonlyMap":
      return { kind: "map", key: read(0), value: read(1), readonly: name === "ReadonlyMap" };
    case "Set":
    case "ReadonlySet":
      return { kind: "set", element: read(0), readonly: name === "ReadonlySet" };
    case "Date":
      return { kind: "scalar", scalar: "date" };
    case "Uint8Array":
      return { kind: "scalar", scalar: "bytes" };
    case "Record":
      return recordType(type, scope, owner, context);
    case "Readonly":
      return readonlyType(type, scope, owner, context);
  }
  const element = Object.hasOwn(typedArrays, name) ? typedArrays[name] : undefined;
  if (element !== undefined) return { kind: "typedArray", element };
  if (utilities.has(name) && type.handle !== undefined) return computedType(type, type.handle, scope, owner, context);
  return unsupported(type, scope, "VC1104", { type: scope.text(type), ...refusal(name) });
}

/** Reads `Record<K, T>`. With `string` as key it is a record, with literal keys a message. */
function recordType(type: SourceReference, scope: FileScope, owner: string, context: TypeContext): Type {
  const [key, value] = type.args;
  if (key === undefined || value === undefined) return reportedByCompiler(type, scope);
  if (isString(key, scope)) return { kind: "record", value: readType(value, scope, owner, context) };
  if (type.handle !== undefined && context.literals(key, scope) !== undefined) {
    return computedType(type, type.handle, scope, owner, context);
  }
  return unsupported(key, scope, "VC1112", {
    owner,
    why: `its keys are ${scope.text(key)}`,
    hint: "Use `Map<K, V>`. The keys of objects are strings.",
  });
}

/** Returns whether a type is `string` or an alias of `string`. */
export function isString(type: SourceType, scope: FileScope): boolean {
  for (let current: SourceType | undefined = type, i = 0; current !== undefined && i < 32; i++) {
    if (current.kind === "keyword") return current.name === "string";
    if (current.kind !== "reference" || current.key === undefined) return false;
    current = scope.context.source.declaration(current.key)?.type;
  }
  return false;
}

/** Reads `Readonly<T>`. A container becomes the readonly container; all other types are resolved by the compiler. */
function readonlyType(type: SourceReference, scope: FileScope, owner: string, context: TypeContext): Type {
  const [of] = type.args;
  if (of === undefined || type.handle === undefined) return reportedByCompiler(type, scope);
  const isContainer =
    of.kind === "array" ||
    of.kind === "tuple" ||
    (of.kind === "reference" && of.origin === "global" && /^(Readonly)?(Array|Map|Set)$/.test(of.name));
  if (!isContainer) return computedType(type, type.handle, scope, owner, context);
  const read = readType(of, scope, owner, context);
  return "readonly" in read ? { ...read, readonly: true } : read;
}
