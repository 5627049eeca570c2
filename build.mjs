/**
 * Builds dist/. `node build.mjs [part…]`, where the parts are `runtime`, `gateway`, `tensor`, `testing`, `compiler` and `types`; all
 * of them by default.
 *
 * - runtime:  runtime.cjs, the one bundle of the runtime; load.cjs, which loads it with a code cache; boot.cjs, which
 *             child processes run; index.js, rdma.js, codegen-v1.js and schema.js, which users import; capnp-v1.js, which stands
 *             alone.
 * - gateway:  gateway.js, which users import as viceroy/gateway; what it needs of the runtime it imports from index.js.
 * - tensor:   tensor.js, which users import as viceroy/tensor, and processes of a mesh for the actor that it registers; what it needs
 *             of the runtime it imports from index.js and codegen-v1.js.
 * - testing:  testing.js, which users import as viceroy/testing; what it needs of the runtime it imports from
 *             testing-kernel.js, which is part of `runtime`.
 * - compiler: cli/viceroy.js and compiler/index.js. ts-morph stays outside and is loaded when sources are read.
 * - types:    declarations of everything, under types/.
 */
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = path.dirname(fileURLToPath(import.meta.url));
const dist = path.join(root, "dist");
const require = createRequire(import.meta.url);
const { version, dependencies, peerDependencies } = require("./package.json");

/** Of the sources of each addon, as native/addon-location.ts asks for them. */
async function addonKeys() {
  const entry = { absWorkingDir: root, entryPoints: ["native/source-key.ts"], format: "esm", write: false };
  const [{ text }] = (await build(entry)).outputFiles;
  const { sourceKey } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
  const folders = readdirSync(path.join(root, "native"), { withFileTypes: true }).filter((found) =>
    found.isDirectory(),
  );
  return Object.fromEntries(folders.map(({ name }) => [name, sourceKey(version, path.join(root, "native", name))]));
}

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20.9",
  sourcemap: true,
  sourcesContent: true,
  charset: "ascii",
  logLevel: "warning",
  define: {
    VICEROY_VERSION: JSON.stringify(version),
    VICEROY_ADDON_KEYS: JSON.stringify(JSON.stringify(await addonKeys())),
  },
  // What is bundled refers to Viceroy by source, never to an earlier build of it.
  alias: {
    viceroy: "./runtime/index.ts",
    "viceroy/rdma": "./runtime/rdma/index.ts",
    "viceroy/schema": "./shared/vocabulary.ts",
    "viceroy/codegen/v1": "./runtime/codegen/v1/index.ts",
    "viceroy/capnp/v1": "./runtime/capnp/index.ts",
  },
};

const commonJs = { ...common, format: "cjs" };

/** In the bundle, `import.meta.url` is that of the output file. */
const withUrl = {
  ...commonJs,
  define: { ...common.define, "import.meta.url": "import_meta_url" },
  banner: { js: `"use strict";const import_meta_url = require("node:url").pathToFileURL(__filename).href;` },
};

async function buildRuntime() {
  await Promise.all([
    build({
      ...withUrl,
      entryPoints: { runtime: "runtime/bundle/entry.ts" },
      outdir: dist,
      outExtension,
      plugins: [external(/\/import-module\.js$/, "./load.cjs")],
    }),
    build({
      ...commonJs,
      entryPoints: { load: "runtime/bundle/load.ts", boot: "runtime/bundle/boot.ts" },
      outdir: dist,
      outExtension,
      sourcemap: false,
    }),
    build({ ...common, format: "esm", entryPoints: { "capnp-v1": "runtime/capnp/index.ts" }, outdir: dist }),
  ]);
  const bundle = finishBundle(path.join(dist, "runtime.cjs"));
  write("index.js", facade("main", bundle.main));
  write("codegen-v1.js", facade("codegenV1", bundle.codegenV1));
  write("rdma.js", facade("rdma", bundle.rdma));
  write("testing-kernel.js", facade("kernel", bundle.kernel));
  write("schema.js", "// Schemas are types only.\nexport {};\n");
}

const outExtension = { ".js": ".cjs" };

/** Leaves imports of one source file to run time, when another file of dist/ stands in for it. */
function external(filter, standIn) {
  return {
    name: "external",
    setup({ onResolve }) {
      onResolve({ filter }, () => ({ path: standIn, external: true }));
    },
  };
}

/** The same for one source file, from wherever it is imported. */
function externalFile(source, standIn) {
  return {
    name: "external file",
    setup({ onResolve }) {
      onResolve({ filter: /^\..*\/index\.js$/ }, ({ path: specifier, resolveDir }) =>
        path.resolve(resolveDir, specifier) === path.join(root, source) ? { path: standIn, external: true } : undefined,
      );
    },
  };
}

/** Puts right what esbuild cannot be told, and shows that the bundle loads. */
function finishBundle(file) {
  const text = readFileSync(file, "utf8");
  if (/\bimport\(/.test(text)) {
    throw new Error("cannot bundle the runtime: expected import() in runtime/proc/platform/import-module.ts alone");
  }
  writeFileSync(file, keepClassNames(text));
  delete require.cache[file];
  return require(file);
}

/**
 * A class that mentions itself becomes `var Point = class _Point`, and would call itself `_Point` in every report. The
 * option `keepNames` would cost a call for each function of the bundle whenever it is loaded.
 */
function keepClassNames(text) {
  let named = text;
  for (const [, variable, name] of text.matchAll(/\bvar (\w+) = class (_\w+)\b/g)) {
    if (name !== `_${variable}`) throw new Error(`cannot bundle the runtime: two things are called ${variable}`);
    named = named.replaceAll(new RegExp(`(?<![\\w.$])${name}\\b`, "g"), variable);
  }
  return named;
}

/** An ES module that exports by name what one part of the bundle exports. */
function facade(part, exports) {
  const names = Object.keys(exports).sort();
  return [
    // Not by import: Node.js would look for the names of its exports first, which takes a process that starts 2 ms.
    `import { createRequire } from "node:module";`,
    // Where the runtime is loaded already, as in every child process, its loader need not be.
    `const loaded = globalThis[Symbol.for("viceroy.runtime/${version}")];`,
    `const { ${part} } = loaded ?? createRequire(import.meta.url)("./load.cjs").load();`,
    ...names.map((name) => `export const ${name} = ${part}.${name};`),
    "",
  ].join("\n");
}

function write(name, text) {
  const file = path.join(dist, name);
  mkdirSync(path.dirname(file), { recursive: true });
  // Renamed into place: programs that run meanwhile read the old or the new one, never half of one.
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

async function buildGateway() {
  await build({
    ...common,
    format: "esm",
    entryPoints: { gateway: "runtime/gateway/index.ts" },
    outdir: dist,
    external: Object.keys(peerDependencies),
    plugins: [external(/^\.\.\/index\.js$/, "./index.js")],
  });
}

async function buildTensor() {
  await build({
    ...common,
    format: "esm",
    entryPoints: { tensor: "runtime/tensor/index.ts" },
    outdir: dist,
    // It registers an actor when it is loaded.
    ignoreAnnotations: true,
    // Nine tenths of its sources are declarations, which nobody steps through.
    sourcesContent: false,
    alias: {},
    plugins: [
      externalFile("runtime/index.js", "./index.js"),
      externalFile("runtime/rdma/index.js", "./rdma.js"),
      externalFile("runtime/codegen/v1/index.js", "./codegen-v1.js"),
      external(/^viceroy\/codegen\/v1$/, "./codegen-v1.js"),
    ],
  });
}

async function buildTesting() {
  await build({
    ...common,
    format: "esm",
    entryPoints: { testing: "runtime/testing/index.ts" },
    outdir: dist,
    plugins: [external(/\/kernel\.js$/, "./testing-kernel.js")],
  });
}

async function buildCompiler() {
  const { metafile } = await build({
    ...common,
    metafile: true,
    // Traces need lines; whoever steps through a compiler has its sources.
    sourcesContent: false,
    format: "esm",
    entryPoints: { "compiler/index": "compiler/index.ts", "cli/viceroy": "compiler/cli/viceroy.ts" },
    outdir: dist,
    external: Object.keys(dependencies),
    splitting: true,
    chunkNames: "compiler/chunk-[hash]",
  });
  removeStale(path.join(dist, "compiler"), metafile);
  chmodSync(path.join(dist, "cli/viceroy.js"), 0o755);
}

/** Chunks of earlier builds. */
function removeStale(folder, { outputs }) {
  const current = new Set(Object.keys(outputs).map((file) => path.join(root, file)));
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    if (!current.has(file)) rmSync(file, { recursive: true });
  }
}

/** The type checker runs beside everything else: it is the slowest part. */
async function buildTypes() {
  const compiler = path.join(path.dirname(require.resolve("typescript/package.json")), "bin/tsc");
  const child = spawn(process.execPath, [compiler, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
  const code = await new Promise((resolve) => child.once("exit", resolve));
  if (code !== 0) throw new Error(`cannot emit declarations: tsc ended with code ${code}`);
}

const parts = {
  runtime: buildRuntime,
  gateway: buildGateway,
  tensor: buildTensor,
  testing: buildTesting,
  compiler: buildCompiler,
  types: buildTypes,
};
const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts);
const unknown = chosen.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  console.error(`cannot build ${unknown.join(", ")}: expected some of ${Object.keys(parts).join(", ")}`);
  process.exit(3);
}
const results = await Promise.allSettled(chosen.map((name) => parts[name]()));
for (const result of results) {
  if (result.status === "fulfilled") continue;
  process.exitCode = 1;
  // esbuild has printed its own errors.
  if (result.reason?.errors === undefined) console.error(result.reason);
}
