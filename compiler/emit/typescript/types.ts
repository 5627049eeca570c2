/**
 * Types of the model as TypeScript: what a user's code sees. Sized numbers are `number` or `bigint`, a port is `Port<T>`,
 * a mesh of counters is `CounterMesh`.
 */
import type { Field, Shape, Type } from "../../model/type.js";
import {
  bracketed,
  type Code,
  generic,
  global,
  type LocalName,
  objectType,
  parenthesizedUnion,
  propertyKey,
  stringLiteral,
  union,
} from "../kit/index.js";
import type { EmitContext } from "./context.js";
import { abiType } from "./names.js";

/** The type parameters in scope: what each is called in the generated code. */
export type ParameterNames = ReadonlyMap<string, LocalName>;

const none: ParameterNames = new Map();

const typedArrays = {
  int8: "Int8Array",
  uint8clamped: "Uint8ClampedArray",
  int16: "Int16Array",
  uint16: "Uint16Array",
  int32: "Int32Array",
  uint32: "Uint32Array",
  bigint64: "BigInt64Array",
  biguint64: "BigUint64Array",
  float32: "Float32Array",
  float64: "Float64Array",
} as const;

/** The TypeScript type of `type`, as it stands in a field, a parameter or a type argument. */
export function typeCode(type: Type, context: EmitContext, parameters: ParameterNames = none): Code {
  const code = (part: Type): Code => typeCode(part, context, parameters);
  switch (type.kind) {
    case "scalar":
      return scalarCode(type.scalar);
    case "typedArray":
      return global(typedArrays[type.element]);
    case "array":
      return [type.readonly ? "readonly " : "", operandCode(type.element, context, parameters), "[]"];
    case "tuple":
      return [type.readonly ? "readonly " : "", bracketed(tupleElements(type, context, parameters))];
    case "map":
      return generic(global(type.readonly ? "ReadonlyMap" : "Map"), [code(type.key), code(type.value)]);
    case "set":
      return generic(global(type.readonly ? "ReadonlySet" : "Set"), [code(type.element)], isCompact(type.element));
    case "record":
      return generic(global("Record"), ["string", code(type.value)]);
    case "nullable":
      return isObject(type.inner) ? [code(type.inner), " | null"] : union(variantsOf(type, context, parameters));
    case "ref":
      return generic(context.type(type.target), type.args.map(code), type.args.every(isCompact));
    case "parameter":
      return parameters.get(type.name) ?? type.name;
    case "inline":
      return shapeCode(type.shape, context, parameters);
    case "port":
      return generic(abiType("Port"), [code(type.element)], isCompact(type.element));
    case "mesh":
      return generic(context.mesh(type.actor), dimensionsCode(type.dimensions), type.dimensions?.length === 1);
    case "rdmaBuffer":
      return abiType("RdmaBuffer");
    case "tensor":
      return abiType("Tensor");
    case "unsupported":
      throw new Error(`cannot emit ${type.typeText}: the schema has errors`);
  }
}

/** The right-hand side of a type alias, or a type written in place. */
export function shapeCode(shape: Shape, context: EmitContext, parameters: ParameterNames = none): Code {
  switch (shape.kind) {
    case "message":
      if (shape.fields.length === 0) return "object";
      return objectType(shape.fields.map((field) => fieldCode(field, context, parameters)));
    case "alias":
      return typeCode(shape.type, context, parameters);
    default:
      return union(shapeVariants(shape, context, parameters));
  }
}

/** `readonly name?: T`, without what ends it. */
export function fieldCode(field: Field, context: EmitContext, parameters: ParameterNames = none): Code {
  const key = [field.readonly ? "readonly " : "", propertyKey(field.name), field.optional ? "?" : ""];
  return [...key, ": ", typeCode(field.type, context, parameters)];
}

/** The elements of a tuple type: `count?: number`, `number?`, `...T[]`. */
function tupleElements(
  type: Extract<Type, { kind: "tuple" }>,
  context: EmitContext,
  parameters: ParameterNames,
): readonly Code[] {
  const fixed = type.elements.map(({ name, type, optional }): Code => {
    if (name !== undefined) return [name, optional ? "?: " : ": ", typeCode(type, context, parameters)];
    return optional ? [operandCode(type, context, parameters), "?"] : typeCode(type, context, parameters);
  });
  return type.rest === undefined ? fixed : [...fixed, ["...", operandCode(type.rest, context, parameters), "[]"]];
}

function scalarCode(scalar: Extract<Type, { kind: "scalar" }>["scalar"]): Code {
  switch (scalar) {
    case "boolean":
    case "string":
      return scalar;
    case "bytes":
      return global("Uint8Array");
    case "date":
      return global("Date");
    default:
      return scalar.endsWith("64") ? "bigint" : "number";
  }
}

function dimensionsCode(dimensions: readonly string[] | undefined): readonly Code[] {
  if (dimensions === undefined) return [];
  return [dimensions.length === 0 ? "never" : union(dimensions.map(stringLiteral))];
}

/** The variants that `type` adds to a union: several if it is one itself. */
function variantsOf(type: Type, context: EmitContext, parameters: ParameterNames): readonly Code[] {
  if (type.kind === "nullable") return [...variantsOf(type.inner, context, parameters), "null"];
  if (type.kind === "inline" && isUnion(type.shape)) return shapeVariants(type.shape, context, parameters);
  return [typeCode(type, context, parameters)];
}

type UnionShape = Exclude<Shape, { kind: "message" | "alias" }>;

function isUnion(shape: Shape): shape is UnionShape {
  return shape.kind !== "message" && shape.kind !== "alias";
}

function shapeVariants(shape: UnionShape, context: EmitContext, parameters: ParameterNames): readonly Code[] {
  switch (shape.kind) {
    case "enum":
      return shape.values.map(({ value }) => literal(value));
    case "oneof":
      return shape.cases.map(({ name, type }) =>
        objectType([
          ["readonly case: ", stringLiteral(name)],
          ["readonly value: ", typeCode(type, context, parameters)],
        ]),
      );
    case "union":
      return shape.variants.map(({ tag, type }) => {
        if (type.kind !== "inline" || type.shape.kind !== "message") return typeCode(type, context, parameters);
        const fields = type.shape.fields.map((field) => fieldCode(field, context, parameters));
        return objectType([[propertyKey(shape.discriminant), ": ", stringLiteral(tag)], ...fields]);
      });
  }
}

/** A literal of an enumeration, as a type or as a value. */
export function literal(value: string | number): string {
  return typeof value === "string" ? stringLiteral(value) : String(value);
}

/** `type` where an operator follows it: `(A | B)[]`. */
function operandCode(type: Type, context: EmitContext, parameters: ParameterNames): Code {
  const readonlyList = (type.kind === "array" || type.kind === "tuple") && type.readonly;
  if (readonlyList) return ["(", typeCode(type, context, parameters), ")"];
  if (type.kind === "nullable" && isObject(type.inner)) return ["(", typeCode(type, context, parameters), ")"];
  const variants = variantsOf(type, context, parameters);
  return variants.length > 1 ? parenthesizedUnion(variants) : (variants[0] as Code);
}

export function isObject(type: Type): boolean {
  return type.kind === "inline" && type.shape.kind === "message";
}

/** Whether a lone type argument stays beside its bracket: a plain name or an object type. */
function isCompact(type: Type): boolean {
  if (type.kind === "ref") return type.args.length === 0;
  if (isObject(type)) return true;
  return ["scalar", "typedArray", "parameter", "rdmaBuffer", "tensor"].includes(type.kind);
}
