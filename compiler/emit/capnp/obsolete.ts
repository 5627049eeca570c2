/**
 * The places of members that are no more. A member's place depends on all that came before it, so that what has gone has to
 * be as large as it was: that is worked out from the text of its type in the lock.
 */
import type { Lock } from "../../lock/index.js";
import type { CapnpType, DataScalar } from "./schema.js";

export interface Obsolete {
  readonly type: CapnpType;
  readonly optional: boolean;
  readonly nullable: boolean;
}

/** What a name in the text stands for; undefined when nobody knows any more. */
export type Resolve = (name: string) => { readonly type: CapnpType; readonly nullable: boolean } | undefined;

const scalars: Readonly<Record<string, DataScalar>> = {
  boolean: "bool",
  double: "float64",
  float32: "float32",
  int32: "int32",
  uint32: "uint32",
  sint32: "int32",
  fixed32: "uint32",
  sfixed32: "int32",
  int64: "int64",
  uint64: "uint64",
  sint64: "int64",
  fixed64: "uint64",
  sfixed64: "int64",
  date: "date",
};

const pointer: CapnpType = { kind: "anyPointer" };
const pointers = new Set(["string", "bytes", "message", "union", "oneof"]);
const handles = new Set(["rdmabuffer", "tensor"]);

/** @returns undefined when the text names a type of which nothing is known */
export function parseObsolete(text: string, resolve: Resolve): Obsolete | undefined {
  const optional = text.endsWith("?");
  const { inner, nullable } = withoutNull(optional ? text.slice(0, -1) : text);
  const found = typeOf(inner, resolve);
  return found && { type: found.type, optional, nullable: nullable || found.nullable };
}

function withoutNull(text: string): { readonly inner: string; readonly nullable: boolean } {
  const nullable = /^nullable<(.*)>$/.exec(text);
  return nullable === null ? { inner: text, nullable: false } : { inner: nullable[1] as string, nullable: true };
}

function typeOf(text: string, resolve: Resolve): { readonly type: CapnpType; readonly nullable: boolean } | undefined {
  const known = (type: CapnpType) => ({ type, nullable: false });
  const scalar = scalars[text];
  if (scalar !== undefined) return known({ kind: "data", scalar });
  if (pointers.has(text) || /\]$|^(map|set|record)<|^[a-z]+\d*(clamped)?array$/.test(text)) return known(pointer);
  if (handles.has(text) || /^(port|mesh)</.test(text)) return known({ kind: "void" });
  // Written in place. Its numbers were told in the lock beside it, and have gone with it.
  if (text === "enum") return known({ kind: "data", scalar: "uint16" });
  const resolved = resolve(text.replace(/<.*/, ""));
  if (resolved === undefined) return undefined;
  const { type, nullable } = resolved;
  if (type.kind === "enum") return { type: { kind: "data", scalar: "uint16" }, nullable };
  return { type: type.kind === "data" || type.kind === "void" ? type : pointer, nullable };
}

/** What the lock knows of a declaration that is not in the schema any more. An enumeration may have been one of numbers. */
export function lockedType(lock: Lock, name: string): CapnpType | undefined {
  const kinds = new Set(lock.blocks.filter((block) => block.name === name).map(({ kind }) => kind));
  return kinds.size > 0 && !kinds.has("enum") && !kinds.has("actor") ? pointer : undefined;
}
