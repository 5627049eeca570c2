/**
 * The names of declarations in protobuf, without the package: `Order.Line` for a type in a namespace, which stands inside of
 * the message `Order`. Where the namespace has the name of an enum or of a service, which can hold no types there, its types
 * stand beside that: `StatusDetail`.
 */

import { namespacesOf } from "../../shared/names/qualified-name.js";
import { pascalCase, serviceName } from "../../shared/protobuf/names.js";
import type { Module } from "../model/schema.js";

/** @param name of a type, or of a namespace */
export function protoDeclarationName(name: string, module: Module): string {
  const namespaces = namespacesOf(name);
  if (namespaces.length === 0) return pascalCase(name);
  let full = "";
  for (const [i, part] of name.split(".").entries()) {
    const around = namespaces[i - 1];
    full += (around === undefined || !canHoldTypes(around, module) ? "" : ".") + pascalCase(part);
  }
  return full;
}

/** Whether protobuf can declare types inside of what a namespace has its name from. */
export function canHoldTypes(namespace: string, module: Module): boolean {
  const type = module.types.find(({ name }) => name === namespace);
  if (type?.shape.kind === "enum") return false;
  const actor = module.actors.find(({ name }) => name === namespace);
  return actor === undefined || serviceName(pascalCase(namespace)) !== pascalCase(namespace);
}
