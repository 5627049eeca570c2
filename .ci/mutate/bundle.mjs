/**
 * Puts tests and the mutated sources that they import into one script. It can be run again for each mutant without reading,
 * transforming or resolving any file.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { loadOfVitest } from "./of-vitest.mjs";

/** The package's own names lead to the sources, which Stryker mutates, and not to the build in dist. */
const entryPoints = {
  viceroy: "runtime/index.ts",
  "viceroy/schema": "schemas/vocabulary.ts",
  "viceroy/codegen/v1": "runtime/codegen/v1/index.ts",
  "viceroy/compiler": "compiler/index.ts",
};

function sourceOf(name) {
  return entryPoints[name] ?? name.replace(/^viceroy\/(rdma|tensor|gateway|testing)$/, "runtime/$1/index.ts");
}

function plugin(root) {
  return {
    name: "mutated sources",
    setup(builder) {
      builder.onResolve({ filter: /^viceroy($|\/)/ }, ({ path: name }) => ({ path: path.join(root, sourceOf(name)) }));
      builder.onLoad({ filter: /\.ts$/ }, ({ path: file }) => ({
        contents: readFileSync(file, "utf8")
          .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(file).href))
          .replaceAll("import.meta.dirname", JSON.stringify(path.dirname(file))),
        loader: "ts",
        resolveDir: path.dirname(file),
      }));
    },
  };
}

/**
 * @param root the copy of the checkout that holds the mutated sources
 * @param patterns globs of test files, those to leave out behind a `!`
 * @returns the test files, and a script whose exports are functions by test file, each of which runs that module
 */
export async function bundle(root, patterns) {
  const { glob } = await loadOfVitest("tinyglobby");
  const files = (await glob(patterns, { cwd: root, ignore: ["test/fixtures/**"] })).sort();
  const imports = files.map((file) => `${JSON.stringify(file)}: () => require(${JSON.stringify(`./${file}`)}),`);
  const { outputFiles } = await build({
    stdin: { contents: `module.exports = {\n${imports.join("\n")}\n};`, resolveDir: root, loader: "js" },
    bundle: true,
    packages: "external",
    platform: "node",
    format: "cjs",
    target: "node20",
    // Classes must keep the names that errors and tests show.
    keepNames: true,
    write: false,
    logLevel: "error",
    plugins: [plugin(root)],
  });
  return { files, script: outputFiles[0].text };
}
