/**
 * What a type comes down to, as far as its layout is concerned: without the aliases that stand for something simpler,
 * and with `null` taken apart, since that is a bit of the row that the value stands in.
 */
import { instantiate, type SchemaIndex } from "../../../model/resolve.js";
import type { Shape, Type } from "../../../model/type.js";

/** A type with a layout of its own. A reference is to a message, a choice, or an alias of something composite. */
export type Core = Exclude<Type, { readonly kind: "nullable" | "parameter" | "unsupported" }>;

export interface Peeled {
  readonly core: Core;
  readonly nullable: boolean;
}

export function peel(type: Type, index: SchemaIndex): Peeled {
  let nullable = false;
  for (let current = type; ; ) {
    const next = simpler(current, index);
    if (current.kind === "nullable") nullable = true;
    if (next === undefined) return { core: current as Core, nullable };
    current = next;
  }
}

/** What `type` merely wraps or names; undefined if it is something itself. */
function simpler(type: Type, index: SchemaIndex): Type | undefined {
  if (type.kind === "parameter" || type.kind === "unsupported")
    throw new Error(`cannot lay out a type of kind ${type.kind}`);
  if (type.kind === "nullable") return type.inner;
  if (type.kind === "inline") return type.shape.kind === "alias" ? type.shape.type : undefined;
  if (type.kind !== "ref") return undefined;
  const shape = instantiate(index.type(type.target), type.args);
  return shape.kind === "alias" && !isComposite(shape.type) ? shape.type : undefined;
}

/** Composite types have codecs under the name of their alias, so that they may refer to themselves. */
function isComposite(type: Type): boolean {
  if (type.kind === "inline") return type.shape.kind !== "alias";
  return ["array", "tuple", "map", "set", "record"].includes(type.kind);
}

/** The shape behind a reference or written in place; of a composite alias what it is an alias of. */
export function shapeOf(core: Extract<Core, { kind: "ref" | "inline" }>, index: SchemaIndex): Shape {
  return core.kind === "inline" ? core.shape : instantiate(index.type(core.target), core.args);
}
