/** Generates the code of a schema, as the compiler does, and runs it. */
import { build } from "esbuild";
import { emitTypeScript } from "../../compiler/emit/index.js";
import type { Schema } from "../../compiler/model/index.js";
import { type GeneratedCodecs, runGenerated } from "./run-generated.js";

/** The generated files as one CommonJS script, which requires the ABI alone. */
export async function bundleGenerated(schema: Schema): Promise<string> {
  const options = { version: "0.1.0", schemaRoot: "schemas", out: "generated", actors: [] };
  const files = new Map(emitTypeScript(schema, options).map(({ path, text }) => [`/${path}`, text]));
  files.delete("/registry.ts");
  const entry = [...files.keys()].map((file) => `export * from ".${file}";`).join("\n");
  const bundle = await build({
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
        },
      },
    ],
  });
  return bundle.outputFiles[0]?.text ?? "";
}

export async function loadGenerated(schema: Schema): Promise<GeneratedCodecs> {
  return runGenerated(await bundleGenerated(schema));
}
