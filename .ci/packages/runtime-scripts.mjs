/**
 * Builds the runtime as two scripts (script-of-bundle.mjs): runtime.cjs, which every process loads, and runtime-rest.cjs, which processes load
 * on first use. The rest uses the modules of the first script, so that a process has one instance of each module. Modules that others import
 * dynamically are in the rest, too, and run when they are imported.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { Script } from "node:vm";
import { build, transform } from "esbuild";
import { isStandIn, lateModuleExports, lateModulesPlugin, refuseOtherUses } from "./late-modules.mjs";
import { deferredScheme, objectOf, statements, toScript } from "./script-of-bundle.mjs";

const require = createRequire(import.meta.url);

const coreScript = "runtime.cjs";
const restScript = "runtime-rest.cjs";
/** The namespace of the entry point of the rest. */
const restNamespace = "rest";

/**
 * Builds the scripts.
 *
 * @param root the root of the checkout
 * @param dist the folder that the scripts will be in
 * @param options the options of esbuild, except for those of the output
 * @returns the content of the scripts and their source maps, by their names
 */
export async function buildRuntimeScripts(root, dist, options) {
  const core = path.join(root, "runtime/bundle/core.ts");
  const deferred = await dynamicImports(root, { ...options, entryPoints: [core] });
  const { outputFiles, metafile } = await build({
    ...options,
    format: "esm",
    splitting: true,
    chunkNames: path.parse(coreScript).name,
    entryPoints: { core, [path.parse(restScript).name]: restScript },
    outExtension: { ".js": ".cjs" },
    outdir: dist,
    write: false,
    metafile: true,
    plugins: [lateModulesPlugin(root, restNamespace), restPlugin(root, deferred), ...options.plugins],
  });
  refuseChangingExports(root, Object.keys(metafile.outputs[path.relative(root, path.join(dist, coreScript))].inputs));
  refuseOtherUses(
    root,
    Object.keys(metafile.inputs).filter((file) => /^(?:runtime|shared)\/.*\.ts$/.test(file)),
  );
  const built = new Map(outputFiles.map((file) => [path.basename(file.path), file.text]));
  const coreExports = namespacesOfCore(built.get("core.cjs"), built.get(coreScript));
  return {
    [coreScript]: toScript(built.get(coreScript), coreScript, (names) => [
      `module.exports = ${objectOf(coreExports)};`,
      // A function, because most processes need none of these hundreds of names.
      `module.exports.shared = () => (${objectOf(names)});`,
    ]),
    [restScript]: toScript(built.get(restScript), coreScript, (names) => [`module.exports = ${objectOf(names)};`]),
    [`${coreScript}.map`]: built.get(`${coreScript}.map`),
    [`${restScript}.map`]: built.get(`${restScript}.map`),
  };
}

/** Runs the scripts. @returns the exports of both */
export function runRuntimeScripts(scripts, dist) {
  const run = (name, others) => {
    const module = { exports: {} };
    const file = path.join(dist, name);
    const main = new Script(scripts[name], { filename: file }).runInThisContext();
    main(module.exports, (id) => others[id] ?? require(id), module, file, dist);
    return module.exports;
  };
  const loader = { "./load.cjs": {} };
  const core = run(coreScript, loader);
  return { ...core, ...run(restScript, { ...loader, [`./${coreScript}`]: core }) };
}

/** Returns the modules of the sources that are imported dynamically, by their paths from the root. */
async function dynamicImports(root, options) {
  const { metafile } = await build({ ...options, metafile: true, write: false, format: "cjs", outdir: root });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const found = imports.filter(({ kind, external }) => kind === "dynamic-import" && !external);
  return [...new Set(found.map((each) => each.path))].sort();
}

/** The rest takes the values of what it imports from the core once. */
function refuseChangingExports(root, files) {
  for (const file of files.filter((each) => !isStandIn(each))) {
    const name = /^export (?:let|var) (\w+)/m.exec(readFileSync(path.join(root, file), "utf8"))?.[1];
    if (name !== undefined)
      throw new Error(`cannot bundle the runtime: expected a constant, got "let ${name}" in ${file}`);
  }
}

/** Makes the entry point of the rest, which contains the modules that are imported dynamically. */
function restPlugin(root, deferred) {
  const contents = [
    'export * from "./runtime/bundle/rest.ts";',
    ...lateModuleExports,
    "export const deferred = {",
    // A bundled module that is required runs at the first call.
    ...deferred.map((file) => `  "${file}": () => require("./${file}"),`),
    "};",
  ].join("\n");
  return {
    name: "rest of the runtime",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\./ }, ({ kind, path: specifier, resolveDir }) => {
        if (kind !== "dynamic-import") return undefined;
        const file = path.relative(root, path.resolve(resolveDir, specifier)).replace(/\.js$/, ".ts");
        return { path: `${deferredScheme}${file}`, external: true };
      });
      onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
        if (!deferred.includes(path.relative(root, file))) return undefined;
        return { contents: await withLazyModules(file), loader: "js" };
      });
      onResolve({ filter: /^runtime-rest\.cjs$/ }, () => ({ path: restScript, namespace: restNamespace }));
      onLoad({ filter: /.*/, namespace: restNamespace }, () => ({ contents, resolveDir: root }));
    },
  };
}

/**
 * Returns a module whose imports of modules of Node.js are calls of `require`. The imports of a script are at its beginning, and would load
 * these modules in processes that never run this one.
 */
async function withLazyModules(file) {
  const source = readFileSync(file, "utf8");
  const { code } = await transform(source, { loader: "ts", sourcefile: file, sourcemap: "inline" });
  return code.replaceAll(
    /^import \{([^}]*)\} from "(node:[\w/]+)";$/gm,
    (_, names, from) => `const {${names.replaceAll(" as ", ": ")}} = require("${from}");`,
  );
}

/**
 * Returns the exports of the core, as pairs of a name and a variable of its script. esbuild has put all modules of the core into the
 * script that the rest imports, and their exports into a file that imports this script.
 */
function namespacesOfCore(entryText, scriptText) {
  const entry = statements(entryText);
  const imported = new Map(entry.imports.flatMap(({ names }) => names.map(([name, variable]) => [variable, name])));
  const shared = new Map(statements(scriptText).exports);
  return entry.exports.map(([name, variable]) => [name, shared.get(imported.get(variable))]);
}
