/**
 * Bundles tests and the mutated sources that they import into one script. The script can run again for each mutant
 * without reading, transforming or resolving files.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build, transform } from "esbuild";
import { loadOfVitest } from "./of-vitest.mjs";

/** The package's own names resolve to the sources, which Stryker mutates, and not to the build in dist. */
const entryPoints = {
  viceroy: "runtime/index.ts",
  "viceroy/schema": "shared/vocabulary.ts",
  "viceroy/codegen/v1": "runtime/codegen/v1/index.ts",
  "viceroy/compiler": "compiler/index.ts",
};

function sourceOf(name) {
  return entryPoints[name] ?? name.replace(/^viceroy\/(rdma|tensor|gateway|testing)$/, "runtime/$1/index.ts");
}

const target = "node20";

function plugin(root) {
  return {
    name: "mutated sources",
    setup(builder) {
      builder.onResolve({ filter: /^viceroy($|\/)/ }, ({ path: name }) => ({ path: path.join(root, sourceOf(name)) }));
      // A script has no import.meta.
      builder.onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
        const text = readFileSync(file, "utf8");
        if (!text.includes("import.meta")) return undefined;
        const define = {
          "import.meta.url": JSON.stringify(pathToFileURL(file).href),
          "import.meta.dirname": JSON.stringify(path.dirname(file)),
        };
        const options = { loader: "ts", target, define, sourcemap: "inline", sourcefile: file, sourcesContent: false };
        const { code } = await transform(text, options);
        return { contents: code, loader: "js" };
      });
    },
  };
}

/**
 * @param root the copy of the checkout that contains the mutated sources
 * @param patterns globs of test files; a glob after `!` excludes files
 * @returns the test files and the text of the script, a function of `require`, `module` and `exports` whose exports
 * contain, for each test file, a function that runs the file's module
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
    target,
    // Classes must keep their names, which errors and tests show.
    keepNames: true,
    write: false,
    banner: { js: "module.exports = (require, module, exports) => {" },
    footer: { js: "};" },
    // Stack traces, which tests examine, must name the source files.
    sourcemap: "inline",
    sourcesContent: false,
    sourceRoot: root,
    logLevel: "error",
    plugins: [plugin(root)],
  });
  return { files, script: outputFiles[0].text };
}
