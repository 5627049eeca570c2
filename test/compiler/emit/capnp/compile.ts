/** Compiles the schemas of a golden case, the newer one of a pair with the lock of the older one. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { emitCapnp } from "../../../../compiler/emit/capnp/index.js";
import { printFile } from "../../../../compiler/emit/kit/index.js";
import { createContext } from "../../../../compiler/emit/typescript/emit-context.js";
import { emitDeclaration } from "../../../../compiler/emit/typescript/emit-declaration.js";
import { assignIds, type Lock } from "../../../../compiler/lock/index.js";
import type { Schema } from "../../../../compiler/model/index.js";
import { openTypeSource, readSchema } from "../../../../compiler/source/index.js";

const source = openTypeSource({ exists: () => false });
const own = fileURLToPath(new URL("input/", import.meta.url));
const shared = fileURLToPath(new URL("../golden/", import.meta.url));

/** Cases with schemas of their own, and those of the TypeScript emitter that have more than actors in them. */
export const cases = [
  ...readdirSync(own),
  ...["choices", "collections", "generics", "presence", "recursion", "scalars"],
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
  const { files, diagnostics } = emitReaders(schema, lock, before);
  return {
    schema,
    lock,
    files: [...typesOf(schema), ...files].sort((a, b) => (a.path < b.path ? -1 : 1)),
    diagnostics,
  };
}

const options = { version: "0.1.0", schemaRoot: "schemas", out: "generated", texts: new Map() };

export function emitReaders(schema: Schema, lock: Lock, before?: Lock): Pick<CompiledCase, "files" | "diagnostics"> {
  const { files, diagnostics } = emitCapnp({ schema, lock, previousLock: before, typeScript: true, ...options });
  return {
    files: files.map(({ path, content }) => ({ path, text: content as string })),
    diagnostics: diagnostics.map(({ code, text }) => `${code} ${text}`),
  };
}

/** The generated types alone, which readers import: codecs have golden cases of their own. */
function typesOf(schema: Schema): CompiledCase["files"] {
  const context = createContext(schema, options.schemaRoot);
  return schema.modules.map((module) => {
    const path = context.fileOf(module);
    const text = printFile(path, [`The types of ${module.path}, without codecs.`], (file) => {
      for (const { name } of module.types) file.declare(name);
      for (const declaration of module.types) emitDeclaration(file, declaration, context);
    });
    return { path, text };
  });
}
