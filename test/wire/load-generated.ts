/** Generates the code of a schema, as the compiler does, and runs it. */
import { build } from "esbuild";
import { emitTypeScript, type TypeScriptOptions } from "../../compiler/emit/index.js";
import type { Schema } from "../../compiler/model/index.js";
import * as abi from "../../runtime/codegen/v1/index.js";
import { type GeneratedCodecs, runGenerated, runScript } from "./run-generated.js";

type ProtoNaming = Pick<TypeScriptOptions, "enumNames">;

/** The generated files as one CommonJS script, which requires the ABI alone. */
export function bundleGenerated(schema: Schema): Promise<string> {
  return bundle(schema, (file) => `export * from ".${file}";`);
}

/** What each generated file exports, by its path: two may export the same name. Actors too. */
export async function loadModules(
  schema: Schema,
  naming: ProtoNaming,
): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>> {
  const script = await bundle(schema, (file) => `export * as ${JSON.stringify(file)} from ".${file}";`, naming);
  return new Map(Object.entries(runScript(script, abi)) as [string, Record<string, unknown>][]);
}

async function bundle(schema: Schema, exportOf: (file: string) => string, naming: ProtoNaming = {}): Promise<string> {
  const options = { version: "0.1.0", schemaRoot: "schemas", out: "generated", actors: [], ...naming };
  const files = new Map(emitTypeScript(schema, options).map(({ path, text }) => [`/${path}`, text]));
  files.delete("/registry.ts");
  const entry = [...files.keys()].map(exportOf).join("\n");
  const built = await build({
    stdin: { contents: entry, resolveDir: "/", loader: "ts" },
    bundle: true,
    write: false,
    format: "cjs",
    external: ["viceroy/codegen/v1"],
    logLevel: "silent",
    plugins: [
      {
        name: "generated",
        setup(setup) {
          setup.onResolve({ filter: /^\.\.?\// }, ({ path, importer }) => {
            const base = importer.startsWith("/") ? importer : "/entry.ts";
            const file = new URL(path.replace(/\.js$/, ".ts"), `file://${base}`).pathname;
            return { path: file, namespace: "generated" };
          });
          setup.onLoad({ filter: /.*/, namespace: "generated" }, ({ path }) => {
            return { contents: files.get(path) ?? "", loader: "ts" };
          });
          // Codecs of references without the rest of viceroy/tasks.
          setup.onResolve({ filter: /^viceroy\/tasks$/ }, ({ path }) => ({ path, namespace: "tasks" }));
          setup.onLoad({ filter: /.*/, namespace: "tasks" }, () => {
            const contents = `import { codec } from "viceroy/codegen/v1"; export const objectRefCodec = codec.objectRef;`;
            return { contents, loader: "ts" };
          });
        },
      },
    ],
  });
  return built.outputFiles[0]?.text ?? "";
}

export async function loadGenerated(schema: Schema): Promise<GeneratedCodecs> {
  return runGenerated(await bundleGenerated(schema));
}
