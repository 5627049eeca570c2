/** Short ways to write models in tests. Everything is declared in `schemas/a.ts`, in package `p`. */
import type {
  ActorDeclaration,
  Field,
  Module,
  Schema,
  Shape,
  TaskDeclaration,
  Type,
  TypeDeclaration,
} from "../../../compiler/model/index.js";

const at = { file: "schemas/a.ts", line: 1, column: 1 };

export const int32: Type = { kind: "scalar", scalar: "int32" };
export const string: Type = { kind: "scalar", scalar: "string" };

export function ref(name: string, ...args: readonly Type[]): Type {
  return { kind: "ref", target: `schemas/a.ts#${name}`, args };
}

export function parameter(name: string): Type {
  return { kind: "parameter", name };
}

export function array(element: Type): Type {
  return { kind: "array", element, readonly: false };
}

/** `{ "next?": type }` declares an optional field. */
export function message(fields: Readonly<Record<string, Type>>): Shape {
  return {
    kind: "message",
    fields: Object.entries(fields).map(([key, type]): Field => {
      const optional = key.endsWith("?");
      const name = optional ? key.slice(0, -1) : key;
      return { name, id: 1, type, optional, readonly: false, doc: "", tags: {}, at };
    }),
  };
}

export function declare(
  name: string,
  shape: Shape | Type,
  typeParameters: readonly string[] = [],
  doc = "",
): TypeDeclaration {
  const shapes = ["message", "enum", "union", "oneof", "alias"];
  const whole = shapes.includes(shape.kind) ? (shape as Shape) : { kind: "alias" as const, type: shape as Type };
  return { key: `schemas/a.ts#${name}`, name, exported: true, doc, typeParameters, shape: whole, at };
}

export function module(
  types: readonly TypeDeclaration[],
  actors: readonly ActorDeclaration[] = [],
  path = "schemas/a.ts",
  tasks: readonly TaskDeclaration[] = [],
): Module {
  return { path, types, actors, tasks };
}

export function schema(...modules: readonly Module[]): Schema {
  return { package: "p", modules };
}
