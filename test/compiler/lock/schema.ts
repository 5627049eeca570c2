/** Small schemas for tests of the lock, written in a few words. */
import type {
  ActorDeclaration,
  Endpoint,
  Field,
  Parameter,
  Schema,
  Tags,
  TaskDeclaration,
  Type,
  TypeDeclaration,
} from "../../../compiler/model/index.js";

export const at = { file: "schemas/a.ts", line: 3, column: 5 };
export const string: Type = { kind: "scalar", scalar: "string" };
export const int32: Type = { kind: "scalar", scalar: "int32" };

export function field(name: string, type: Type = string, tags: Tags = {}, optional = false): Field {
  return { name, id: 0, type, optional, readonly: false, doc: "", tags, at };
}

export function message(name: string, ...fields: readonly Field[]): TypeDeclaration {
  return declare(name, { kind: "message", fields });
}

export function declare(name: string, shape: TypeDeclaration["shape"]): TypeDeclaration {
  return { key: `schemas/a.ts#${name}`, name, exported: true, doc: "", typeParameters: [], shape, at };
}

export function param(name: string, type: Type = string): Parameter {
  return { name, id: 0, type, optional: false, at };
}

export function endpoint(name: string, params: readonly Parameter[], result?: Type, tags: Tags = {}): Endpoint {
  const options = { concurrent: false, idempotent: false, respond: false };
  return {
    name,
    id: 0,
    doc: "",
    params,
    stream: false,
    options,
    tags,
    at,
    ...(result === undefined ? {} : { result }),
  };
}

export function actor(name: string, args: readonly Parameter[], ...endpoints: readonly Endpoint[]): ActorDeclaration {
  return { key: `schemas/a.ts#${name}`, name, id: 0, doc: "", extends: [], args, endpoints, at };
}

export function schema(
  types: readonly TypeDeclaration[],
  actors: readonly ActorDeclaration[] = [],
  path = "schemas/a.ts",
  tasks: readonly TaskDeclaration[] = [],
): Schema {
  return { package: "shop", modules: [{ path, types, actors, tasks }] };
}
