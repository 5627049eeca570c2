/**
 * Names declarations in protobuf, without the package. `Order.Line`, a type in a namespace, is nested in the message
 * `Order`. Enums and services cannot contain types, so types of a namespace with such a name are placed beside it:
 * `StatusDetail`.
 */

import { namespacesOf } from "../../shared/names/qualified-name.js";
import { pascalCase, serviceName } from "../../shared/protobuf/names.js";
import type { Module } from "../model/schema.js";

/** Returns the protobuf name of a type or a namespace. */
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

/** Returns whether protobuf can nest types in the declaration that has the namespace's name. */
export function canHoldTypes(namespace: string, module: Module): boolean {
  const type = module.types.find(({ name }) => name === namespace);
  if (type?.shape.kind === "enum") return false;
  const actor = module.actors.find(({ name }) => name === namespace);
  return actor === undefined || serviceName(pascalCase(namespace)) !== pascalCase(namespace);
}
