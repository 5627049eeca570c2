/** Answers whether a type allows a value to be null or absent. */
import type { Type } from "../model/index.js";

export function withoutNull(type: Type): Type {
  return type.kind === "nullable" ? type.inner : type;
}

/** Returns whether a value is required: neither optional nor nullable. */
export function isRequired({ type, optional }: { readonly type?: Type; readonly optional: boolean }): boolean {
  return !optional && type?.kind !== "nullable";
}
