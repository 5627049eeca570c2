/** Generates the code of a schema, as the compiler does, and runs it. */
import { build } from "esbuild";
import { emitTypeScript } from "../../compiler/emit/index.js";
import type { Schema } from "../../compiler/model/index.js";
import * as wire from "../../runtime/wire/index.js";
import { LockstepCodec } from "../../runtime/wire/index.js";

/** The codecs that the generated files export, by their names. */
export async function loadGenerated(schema: Schema): Promise<ReadonlyMap<string, LockstepCodec<unknown>>> {
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
  const module: { exports: Record<string, unknown> } = { exports: {} };
  const run = new Function("require", "module", "exports", bundle.outputFiles[0]?.text ?? "");
  run(() => wire, module, module.exports);
  const codecs = Object.entries(module.exports).filter(([, value]) => value instanceof LockstepCodec);
  return new Map(codecs as [string, LockstepCodec<unknown>][]);
}
