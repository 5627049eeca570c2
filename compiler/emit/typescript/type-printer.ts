/**
 * Prints types of the model as TypeScript for users. Sized numbers are `number` or `bigint`, a port is `Port<T>`, a
 * mesh of counters is `CounterMesh`.
 */
import type { Parameter } from "../../model/schema.js";
import type { DeclarationKey, Field, Shape, Type } from "../../model/type.js";
import {
  bracketed,
  type Code,
  generic,
  globalName,
  type LocalName,
  objectType,
  parenthesizedUnion,
  propertyKey,
  stringLiteral,
  ungrouped,
  union,
  unionArgument,
  unionElement,
} from "../kit/index.js";
import { abiType, objectRefType, tensorType } from "./abi-names.js";
import type { EmitContext } from "./emit-context.js";

/** The names of the type parameters in scope. */
export type ParameterNames = ReadonlyMap<string, LocalName>;

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

/** The syntactic position of a type. A union that does not fit on its line is broken differently in each position. */
type TypePosition = "annotation" | "argument" | "element";

const unionIn = { annotation: union, argument: unionArgument, element: unionElement } as const;

/** Prints types for one generated file. */
export class TypePrinter {
  readonly #context: EmitContext;
  readonly #parameters: ParameterNames;
  readonly #referTo: (key: DeclarationKey) => Code;

  /** @param referTo returns the name of a declaration at the place of use */
  constructor(
    context: EmitContext,
    parameters: ParameterNames = new Map(),
    referTo: (key: DeclarationKey) => Code = context.type,
  ) {
    this.#context = context;
    this.#parameters = parameters;
    this.#referTo = referTo;
  }

  /** Returns the TypeScript type of a field, a parameter or a type argument. */
  type(type: Type, place: TypePosition = "annotation"): Code {
    switch (type.kind) {
      case "scalar":
        return scalarCode(type.scalar);
      case "typedArray":
        return globalName(typedArrays[type.element]);
      case "array":
        return [type.readonly ? "readonly " : "", this.#operand(type.element), "[]"];
      case "tuple":
        return [type.readonly ? "readonly " : "", bracketed(this.#elements(type))];
      case "map":
        return this.generic(globalName(type.readonly ? "ReadonlyMap" : "Map"), [type.key, type.value]);
      case "set":
        return this.generic(globalName(type.readonly ? "ReadonlySet" : "Set"), [type.element]);
      case "record":
        return generic(globalName("Record"), ["string", this.type(type.value, "argument")]);
      case "nullable":
        if (isObjectType(type.inner) || isReference(type.inner)) return [this.type(type.inner), " | null"];
        return unionIn[place](this.#variants(type));
      case "ref":
        return this.generic(this.#referTo(type.target), type.args);
      case "parameter":
        return this.#parameters.get(type.name) ?? type.name;
      case "inline":
        return this.shape(type.shape, place);
      case "port":
        return this.generic(abiType("Port"), [type.element]);
      case "mesh":
        return generic(this.#context.mesh(type.actor), dimensionsCode(type.dimensions), type.dimensions?.length === 1);
      case "rdmaBuffer":
        return abiType("RdmaBuffer");
      case "tensor":
        return tensorType;
      case "objectRef":
        return this.generic(objectRefType, [type.element]);
      case "wellKnown":
        return abiType(type.name);
      case "unsupported":
        throw new Error(`cannot emit ${type.typeText}: the schema has errors`);
    }
  }

  /** Returns the right-hand side of a type alias, or an inline type. */
  shape(shape: Shape, place: TypePosition = "annotation"): Code {
    if (shape.kind === "alias") return this.type(shape.type, place);
    if (shape.kind !== "message") return unionIn[place](this.#shapeVariants(shape));
    return shape.fields.length === 0 ? "object" : objectType(shape.fields.map((field) => this.field(field)));
  }

  /** Returns a property without its terminator: `readonly name?: T`. */
  field(field: Field): Code {
    const key = [field.readonly ? "readonly " : "", propertyKey(field.name), field.optional ? "?" : ""];
    return [...key, ": ", this.type(field.type)];
  }

  /** Returns a generic type: `name<A, B>`. */
  generic(name: Code, args: readonly Type[]): Code {
    const codes = args.map((arg) => this.type(arg, "argument"));
    return generic(name, codes, args.every(isCompact));
  }

  /** Returns a tuple type of parameters: `[by?: number]`. */
  parameterTuple(params: readonly Parameter[]): Code {
    return bracketed(params.map((param) => this.parameter(param)));
  }

  /** Returns a parameter: `by?: number`. See `signature` for `hugged`. */
  parameter({ name, optional, type }: Parameter, hugged = false): Code {
    const code = this.type(type);
    return [name, optional ? "?: " : ": ", hugged ? ungrouped(code) : code];
  }

  /** Returns the elements of a tuple type: `count?: number`, `number?`, `...T[]`. */
  #elements({ elements, rest }: Extract<Type, { kind: "tuple" }>): readonly Code[] {
    const place = elements.length + (rest ? 1 : 0) > 1 ? "element" : "argument";
    const fixed = elements.map(({ name, type, optional }): Code => {
      if (name !== undefined) return [name, optional ? "?: " : ": ", this.type(type)];
      return optional ? [this.#operand(type), "?"] : this.type(type, place);
    });
    return rest === undefined ? fixed : [...fixed, ["...", this.#operand(rest), "[]"]];
  }

  /** Returns `type` for use before an operator: `(A | B)[]`. */
  #operand(type: Type): Code {
    const readonlyList = (type.kind === "array" || type.kind === "tuple") && type.readonly;
    const hugged = type.kind === "nullable" && (isObjectType(type.inner) || isReference(type.inner));
    if (readonlyList || hugged) return ["(", this.type(type), ")"];
    const variants = this.#variants(type);
    return variants.length > 1 ? parenthesizedUnion(variants) : (variants[0] as Code);
  }

  /** Returns the variants that `type` adds to a union. A type that is itself a union adds several. */
  #variants(type: Type): readonly Code[] {
    if (type.kind === "nullable") return [...this.#variants(type.inner), "null"];
    if (type.kind === "inline" && isUnion(type.shape)) return this.#shapeVariants(type.shape);
    return [this.type(type)];
  }

  #shapeVariants(shape: UnionShape): readonly Code[] {
    switch (shape.kind) {
      case "enum": {
        const values = shape.values.map(({ value }) => literalText(value));
        return isLoneLiteral(shape) ? values : [...values, unknownValueOf(shape)];
      }
      case "oneof": {
        const cases = shape.cases.map(({ name, type }) =>
          objectType([`readonly case: ${stringLiteral(name)}`, ["readonly value: ", this.type(type)]]),
        );
        return [...cases, abiType("UnknownCase")];
      }
      case "union": {
        const variants = shape.variants.map(({ tag, type }) => {
          if (type.kind !== "inline" || type.shape.kind !== "message") return this.type(type);
          const discriminant = `${propertyKey(shape.discriminant)}: ${stringLiteral(tag)}`;
          return objectType([discriminant, ...type.shape.fields.map((field) => this.field(field))]);
        });
        return [...variants, generic(abiType("UnknownVariant"), [stringLiteral(shape.discriminant)], true)];
      }
    }
  }
}

/** Returns the type of the values of an enumeration that only newer schemas have. */
export function unknownValueOf({ values }: Extract<Shape, { kind: "enum" }>): Code {
  return abiType(values.every(({ value }) => value === Number(value) >> 0) ? "UnknownNumber" : "UnknownValue");
}

/** Prints a literal of an enumeration, as a type or as a value. */
export function literalText(value: string | number): string {
  return typeof value === "string" ? stringLiteral(value) : String(value);
}

/** Returns whether `type` is printed as an object type. */
export function isObjectType(type: Type): boolean {
  if (type.kind !== "inline") return false;
  return type.shape.kind === "message" && type.shape.fields.length > 0;
}

/** Returns whether `type` is printed as a name with type arguments. */
export function isApplied(type: Type): boolean {
  if (type.kind === "ref") return type.args.length > 0;
  if (type.kind === "mesh") return type.dimensions !== undefined;
  return ["map", "set", "record", "port", "objectRef"].includes(type.kind);
}

/** Returns whether an enumeration has one value. Such literals, the discriminants of variants among them, stay closed. */
function isLoneLiteral(shape: Shape): boolean {
  return shape.kind === "enum" && shape.values.length === 1;
}

type UnionShape = Exclude<Shape, { kind: "message" | "alias" }>;

function isUnion(shape: Shape): shape is UnionShape {
  return shape.kind !== "message" && shape.kind !== "alias";
}

/** Returns whether `type` is printed as a name, with or without type arguments. */
function isReference(type: Type): boolean {
  if (type.kind === "scalar") return type.scalar === "bytes" || type.scalar === "date";
  return !["array", "tuple", "nullable", "inline"].includes(type.kind);
}

/** Returns whether a single type argument stays beside its bracket. */
function isCompact(type: Type): boolean {
  switch (type.kind) {
    case "ref":
      return type.args.length === 0;
    case "mesh":
      return type.dimensions === undefined;
    case "nullable":
      return isObjectType(type.inner) || isReference(type.inner);
    case "inline":
      return isObjectType(type) || type.shape.kind === "message" || isLoneLiteral(type.shape);
    default:
      return !["array", "tuple", "map", "set", "record", "port", "objectRef"].includes(type.kind);
  }
}

function scalarCode(scalar: Extract<Type, { kind: "scalar" }>["scalar"]): Code {
  switch (scalar) {
    case "boolean":
    case "string":
      return scalar;
    case "bytes":
      return globalName("Uint8Array");
    case "date":
      return globalName("Date");
    default:
      return scalar.endsWith("64") ? "bigint" : "number";
  }
}

function dimensionsCode(dimensions: readonly string[] | undefined): readonly Code[] {
  if (dimensions === undefined) return [];
  return [dimensions.length === 0 ? "never" : unionArgument(dimensions.map(stringLiteral))];
}
