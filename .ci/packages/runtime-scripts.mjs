/**
 * Builds the runtime as two scripts: runtime.cjs, which every process loads, and runtime-rest.cjs, which processes load on first
 * use. The rest uses the modules of the first script, so that a process has one instance of each module. Modules that others
 * import dynamically are in the rest, too, and run when they are imported.
 *
 * The value of a script is a function with the parameters of a CommonJS module. V8 compiles the text as it is in the file,
 * so that a process does not need a second copy of it to add the function (`runtime/bundle/load.ts`).
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { Script } from "node:vm";
import { build, transform } from "esbuild";

const require = createRequire(import.meta.url);

const coreScript = "runtime.cjs";
const restScript = "runtime-rest.cjs";

/** The scheme by which the scripts name modules that are imported dynamically. */
const deferredScheme = "deferred:";

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
    plugins: [restPlugin(root, deferred), ...options.plugins],
  });
  refuseChangingExports(root, Object.keys(metafile.outputs[path.relative(root, path.join(dist, coreScript))].inputs));
  const built = new Map(outputFiles.map((file) => [path.basename(file.path), file.text]));
  const coreExports = namespacesOfCore(built.get("core.cjs"), built.get(coreScript));
  return {
    [coreScript]: toScript(built.get(coreScript), (names) => [
      `module.exports = ${objectOf(coreExports)};`,
      // A function, because most processes need none of these hundreds of names.
      `module.exports.shared = () => (${objectOf(names)});`,
    ]),
    [restScript]: toScript(built.get(restScript), (names) => [`module.exports = ${objectOf(names)};`]),
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
  for (const file of files) {
    const name = /^export (?:let|var) (\w+)/m.exec(readFileSync(path.join(root, file), "utf8"))?.[1];
    if (name !== undefined)
      throw new Error(`cannot bundle the runtime: expected a constant, got "let ${name}" in ${file}`);
  }
}

/** Makes the entry point of the rest, which contains the modules that are imported dynamically. */
function restPlugin(root, deferred) {
  const contents = [
    'export * from "./runtime/bundle/rest.ts";',
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
      onResolve({ filter: /^runtime-rest\.cjs$/ }, () => ({ path: restScript, namespace: "rest" }));
      onLoad({ filter: /.*/, namespace: "rest" }, () => ({ contents, resolveDir: root }));
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

/** Converts a bundle of ES modules. @param tail returns the last lines of the script for the exports of the bundle */
function toScript(bundle, tail) {
  const { imports, exports, ranges } = statements(bundle);
  const required = new Map();
  for (const { from, names } of imports) required.set(from, [...(required.get(from) ?? []), ...names]);
  const head = [...required]
    .filter(([, names]) => names.length > 0)
    .map(([from, names]) => `const ${objectOf(names)} = ${requireCall(from)};`);
  for (const { from, wholes } of imports) head.push(...wholes.map((name) => `const ${name} = ${requireCall(from)};`));
  const text = withoutComments(keepClassNames(blank(bundle, ranges)));
  const map = text.lastIndexOf("//# sourceMappingURL");
  const body = text.slice(0, map).replaceAll(`import("${deferredScheme}`, 'importDeferred("');
  if (/\bimport\(/.test(body)) {
    throw new Error("cannot bundle the runtime: expected import() in runtime/proc/platform/import-module.ts alone");
  }
  return [
    '(function (exports, require, module, __filename, __dirname) { "use strict"; ',
    // The numbers of lines stay those of the source map.
    ...head,
    'const import_meta_url = require("node:url").pathToFileURL(__filename).href; ',
    'const importDeferred = async (file) => require("./load.cjs").loadRest().deferred[file](); ',
    `${body.trimEnd()}\n`,
    ...tail(exports).map((line) => `${line}\n`),
    `})\n${text.slice(map)}`,
  ].join("");
}

function requireCall(from) {
  return from === `./${coreScript}` ? `require("${from}").shared()` : `require("${from}")`;
}

/** Returns the text of an object, or of a pattern that takes one apart. */
function objectOf(names) {
  return `{ ${names.map(([name, variable]) => (name === variable ? name : `${name}: ${variable}`)).join(", ")} }`;
}

/** Returns the imports and exports of a bundle, as pairs of a name and a variable, and where they are in its text. */
function statements(text) {
  const { ts } = require("ts-morph");
  const found = { imports: [], exports: [], ranges: [] };
  const file = ts.createSourceFile("bundle.js", text, ts.ScriptTarget.Latest, false, ts.ScriptKind.JS);
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement)) {
      const { name, namedBindings } = statement.importClause;
      const list = namedBindings === undefined || !ts.isNamedImports(namedBindings) ? [] : namedBindings.elements;
      const names = list.map((each) => [(each.propertyName ?? each.name).text, each.name.text]);
      // The default export of a module of Node.js is the module.
      const wholes = [name, list === namedBindings?.elements ? undefined : namedBindings?.name].flatMap(
        (each) => each?.text ?? [],
      );
      found.imports.push({ from: statement.moduleSpecifier.text, names, wholes });
    } else if (ts.isExportDeclaration(statement)) {
      const { elements } = statement.exportClause;
      found.exports.push(...elements.map((each) => [each.name.text, (each.propertyName ?? each.name).text]));
    } else continue;
    found.ranges.push([statement.getStart(file), statement.end]);
  }
  return found;
}

/** Removes parts of a text. Their line breaks stay. */
function blank(text, ranges) {
  let kept = "";
  let from = 0;
  for (const [begin, end] of ranges) {
    kept += text.slice(from, begin) + text.slice(begin, end).replace(/[^\n]/g, "");
    from = end;
  }
  return kept + text.slice(from);
}

/**
 * Empties the lines of comments, which are a seventh of the bundle: every process reads all of it when it starts. esbuild
 * keeps comments inside classes unless it also joins all lines. The numbers of lines stay, for stack traces and the source map.
 */
function withoutComments(text) {
  const { ts } = require("ts-morph");
  const comments = new Map();
  const visit = (node) => {
    for (const { pos, end } of ts.getLeadingCommentRanges(text, node.pos) ?? []) comments.set(pos, end);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("bundle.js", text, ts.ScriptTarget.Latest, false, ts.ScriptKind.JS));
  const ranges = [];
  for (const [pos, end] of [...comments].sort(([left], [right]) => left - right)) {
    const begin = text.lastIndexOf("\n", pos) + 1;
    const isOwnLine = text.slice(begin, pos).trim() === "" && /^[ \t]*(?:\n|$)/.test(text.slice(end, end + 80));
    // The last comment names the source map.
    if (isOwnLine && begin >= (ranges.at(-1)?.[1] ?? 0) && !text.startsWith("//#", pos)) ranges.push([begin, end]);
  }
  return blank(text, ranges);
}

/**
 * Restores class names. esbuild prints a class that refers to itself as `var Point = class _Point`, whose name would be
 * `_Point` in every error. The option `keepNames` would cost a call for each function of the bundle at load time.
 */
function keepClassNames(text) {
  let named = text;
  for (const [, variable, name] of text.matchAll(/\bvar (\w+) = class (_\w+)\b/g)) {
    if (name !== `_${variable}`) throw new Error(`cannot bundle the runtime: two things are called ${variable}`);
    named = named.replaceAll(new RegExp(`(?<![\\w.$])${name}\\b`, "g"), variable);
  }
  return named;
}
