/** What a type says about absence. */
import type { Type } from "../model/index.js";

export function withoutNull(type: Type): Type {
  return type.kind === "nullable" ? type.inner : type;
}

/** Whether a value must be there. */
export function isRequired({ type, optional }: { readonly type?: Type; readonly optional: boolean }): boolean {
  return !optional && type?.kind !== "nullable";
}
