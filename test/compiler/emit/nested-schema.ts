/**
 * Random schemas with namespaces: those of `arbitrarySchema`, with some of their types moved into namespaces. Whole names are
 * no longer than names can be there, and hostile words are among the namespaces as well.
 */
import type fc from "fast-check";
import type { Module, Schema, TypeDeclaration } from "../../../compiler/model/index.js";
import { checkSchema } from "../../../compiler/source/read/check-schema.js";
import { flatName, rootName } from "../../../shared/names/qualified-name.js";
import { randomNumbers } from "../../random.js";
import { arbitrarySchema } from "./arbitrary-schema.js";

export const nestedSchema: fc.Arbitrary<Schema> = arbitrarySchema
  .map(inNamespaces)
  .filter((schema) => checkSchema(schema).every(({ severity }) => severity !== "error"));

const namespaces = ["Own", "Map", "Codec", "Deep.Inner", "Date.D", "$", "w", "日本語"];

/** Which types move, the schema itself decides: the same seed draws the same schemas with and without namespaces. */
function inNamespaces(schema: Schema): Schema {
  const random = randomNumbers(JSON.stringify(schema).length);
  const renamed = new Map<string, string>();
  for (const module of schema.modules) rename(module, () => Math.floor(random() * 1000), renamed);
  const modules = JSON.parse(JSON.stringify(schema.modules), (key, value: unknown) => {
    return key === "target" ? (renamed.get(value as string) ?? value) : value;
  }) as readonly Module[];
  return {
    ...schema,
    modules: modules.map((module) => ({ ...module, types: module.types.map((type) => moved(type, renamed)) })),
  };
}

/** Gives about every other type a namespace: one of the list, or one that has the name of another type of the file. */
function rename({ path, types }: Module, choose: () => number, renamed: Map<string, string>): void {
  const codecs = new Set(types.map(({ name }) => flatName(name)));
  for (const [i, { key, name }] of types.entries()) {
    const choice = choose();
    if (choice % 2 === 0) continue;
    const other = types[choice % types.length];
    const isOther = other !== undefined && !renamed.has(other.key) && other.key !== key && other.name.length < 20;
    const namespace = isOther && choice % 3 > 0 ? other.name : namespaces[choice % namespaces.length];
    const qualified = `${namespace}.${name.length < 20 ? name : `N${i}`}`;
    if (codecs.has(flatName(qualified))) continue;
    codecs.add(flatName(qualified));
    renamed.set(key, `${path}#${qualified}`);
  }
}

function moved(type: TypeDeclaration, renamed: ReadonlyMap<string, string>): TypeDeclaration {
  const key = renamed.get(type.key) ?? type.key;
  const name = key.slice(key.indexOf("#") + 1);
  const { shape } = type;
  // A constant called `Map` is something that a linter has to refuse.
  if (shape.kind !== "enum" || !(rootName(name) in globalThis)) return { ...type, key, name };
  return { ...type, key, name, shape: { ...shape, origin: "literals" } };
}
