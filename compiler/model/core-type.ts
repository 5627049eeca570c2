/**
 * Reduces a type to its core type: the type without the aliases around it, which decides its layout. `null` is returned
 * separately, because the row that contains the value stores it as one bit.
 */
import { instantiate, type SchemaIndex } from "./resolve.js";
import type { Shape, Type } from "./type.js";

/**
 * A type with a layout of its own. A reference here leads to a message, a choice or an alias of a composite type. If
 * the alias is of a composite type or null, the reference means the part that is not null.
 */
export type CoreType = Exclude<Type, { readonly kind: "nullable" | "parameter" | "unsupported" }>;

export interface PeeledType {
  readonly core: CoreType;
  readonly nullable: boolean;
}

export function peel(type: Type, index: SchemaIndex): PeeledType {
  switch (type.kind) {
    case "nullable":
      return { core: peel(type.inner, index).core, nullable: true };
    case "inline":
      return type.shape.kind === "alias" ? peel(type.shape.type, index) : { core: type, nullable: false };
    case "ref":
      return peelReference(type, index);
    case "parameter":
    case "unsupported":
      throw new Error(`cannot lay out a type of kind ${type.kind}`);
    default:
      return { core: type, nullable: false };
  }
}

type Reference = Extract<Type, { kind: "ref" }>;

/**
 * Peels a reference. An alias of a composite type is kept, because composite types have codecs under the name of their
 * alias and can therefore refer to themselves.
 */
function peelReference(type: Reference, index: SchemaIndex): PeeledType {
  const shape = instantiate(index.type(type.target), type.args);
  if (shape.kind !== "alias") return { core: type, nullable: false };
  const { inner, nullable } = withoutNull(shape.type);
  if (isComposite(inner)) return { core: type, nullable };
  const peeled = peel(inner, index);
  return { core: peeled.core, nullable: nullable || peeled.nullable };
}

function withoutNull(type: Type): { readonly inner: Type; readonly nullable: boolean } {
  if (type.kind === "nullable") return { inner: withoutNull(type.inner).inner, nullable: true };
  if (type.kind === "inline" && type.shape.kind === "alias") return withoutNull(type.shape.type);
  return { inner: type, nullable: false };
}

function isComposite(type: Type): boolean {
  if (type.kind === "inline") return type.shape.kind !== "enum";
  return ["array", "tuple", "map", "set", "record"].includes(type.kind);
}

/** Returns the shape of a core type. For an alias, the result is an alias of the aliased type without `null`. */
export function shapeOf(core: Extract<CoreType, { kind: "ref" | "inline" }>, index: SchemaIndex): Shape {
  if (core.kind === "inline") return core.shape;
  const shape = instantiate(index.type(core.target), core.args);
  return shape.kind === "alias" ? { kind: "alias", type: withoutNull(shape.type).inner } : shape;
}
