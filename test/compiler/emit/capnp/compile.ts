/** Compiles the schemas of a golden case, the newer one of a pair with the lock of the older one. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { emitCapnp } from "../../../../compiler/emit/capnp/index.js";
import { emitTypeScript } from "../../../../compiler/emit/index.js";
import { assignIds, type Lock } from "../../../../compiler/lock/index.js";
import type { Schema } from "../../../../compiler/model/index.js";
import { openTypeSource, readSchema } from "../../../../compiler/source/index.js";

const source = openTypeSource({ exists: () => false });
const own = fileURLToPath(new URL("input/", import.meta.url));
const shared = fileURLToPath(new URL("../golden/", import.meta.url));

/** Cases with schemas of their own, and those of the TypeScript emitter that have more than actors in them. */
export const cases = [
  ...readdirSync(own),
  ...["choices", "collections", "documentation", "generics", "presence", "recursion", "scalars"],
].sort();

export interface CompiledCase {
  readonly schema: Schema;
  readonly lock: Lock;
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly diagnostics: readonly string[];
}

export function compileCase(name: string): CompiledCase {
  const before = name === "evolution-new" ? compileCase("evolution-old").lock : undefined;
  const folder = readdirSync(own).includes(name) ? `${own}${name}/` : `${shared}${name}/input/`;
  const inputs = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  source.update(inputs.map((file) => ({ path: `schemas/${file}`, text: readFileSync(folder + file, "utf8") })));
  const read = readSchema(source, "golden");
  expect(read.diagnostics).toEqual([]);
  const { schema, lock } = assignIds(read.schema, before);
  return { schema, lock, ...emit(schema, lock, before) };
}

export function emit(schema: Schema, lock: Lock, before?: Lock): Pick<CompiledCase, "files" | "diagnostics"> {
  const options = { version: "0.1.0", schemaRoot: "schemas" };
  const typeScript = emitTypeScript(schema, { ...options, out: "generated", actors: [] });
  const capnp = emitCapnp({ schema, lock, before, typeScript: true, protoPackage: "golden", ...options });
  const files = [
    ...typeScript.filter(({ path }) => path !== "registry.ts"),
    ...capnp.files.map(({ path, content }) => ({ path, text: content as string })),
  ];
  return {
    files: files.sort((a, b) => (a.path < b.path ? -1 : 1)),
    diagnostics: capnp.diagnostics.map(({ code, text }) => `${code} ${text}`),
  };
}
