/**
 * Builds dist/. `node build.mjs [part…]` builds the parts `runtime`, `gateway`, `job`, `sync`, `websocket`, `tasks`, `tensor`, `testing`,
 * `compiler` and `types`. The default is all parts.
 *
 * - runtime: runtime.cjs, what every process needs of the runtime; runtime-rest.cjs, the rest; load.cjs, which loads both with a code cache;
 * boot.cjs, which child processes run; index.js, rdma.js, codegen-v1.js and schema.js, which users import; capnp-v1.js,
 * which does not use the bundle; inline/, the same for programs that a bundler puts into one file, whose runtime is in
 * the package of the compiler.
 * - gateway: gateway.js, which users import as viceroy/gateway. It imports parts of the runtime as #main.
 * - job: job.js, which users import as viceroy/job. It imports parts of the runtime as #job-kernel, which belongs to
 * `runtime`. What talks to the API server of Kubernetes is in a chunk that its jobs load on first use. job-keeper.js,
 * job-issuer.mjs, job-command.js, job-controller.js and job-ssh-doctor.js are programs. job-yaml.mjs reads the rules of the controller. job-credentials.mjs has the certificates of jobs, for all of
 * them and for hosts. job-ssh-starter.cjs and job-ssh-probe.cjs are the programs that ssh brings to a host.
 * job-kubernetes-host.cjs is the program of a pod of Kubernetes, job-kubernetes-image.cjs the one that pods apply the steps of
 * an image with, and job-kubernetes-holder.cjs the one of the pod in which the command of a job runs. job-skypilot-host.cjs is the program
 * of a machine that SkyPilot has launched.
 * - sync: sync.mjs, which a program loads when it brings code to hosts, and hosts when they receive it. It takes parts of the
 * runtime from the instance that its process has loaded, because hosts of jobs have no package.json.
 * - websocket: websocket.mjs, which drivers and hosts load when they use WebSockets, with the libraries for them.
 * - tasks: tasks.js, which users import as viceroy/tasks, and which worker processes import for the actors that it
 * registers. It imports parts of the runtime as #tasks-kernel, #main and #codegen-v1. tasks-environment.js is the program that
 * prepares the npm packages of a job on its hosts. tasks-preload.cjs, and tasks-packages-hooks.mjs on older versions of
 * Node.js, are loaded first by processes with a runtime environment.
 * - tensor: tensor.js, which users import as viceroy/tensor, and which the processes of a mesh import for the actor
 * that it registers. It imports parts of the runtime as #main, #codegen-v1 and #rdma.
 * - testing: testing.js, which users import as viceroy/testing. It imports parts of the runtime as #testing-kernel,
 * which belongs to `runtime`.
 * - compiler: cli/viceroy.js, the command, a CommonJS module that starts fast; cli/command-line.mjs, which it loads; native/, the sources of addons for `viceroy setup`; compiler.js, which configs import as viceroy/compiler; and the package
 * @viceroy/compiler in node_modules/, where the command line of a checkout finds it. ts-morph is not bundled. It is
 * loaded when sources are read.
 * - types: the declarations that the entry points reach, in types/.
 */
import { spawn } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";
import { reduceDeclarations } from "./.ci/packages/declarations.mjs";
import { compilerManifest } from "./.ci/packages/manifests.mjs";
import { buildRuntimeScripts, runRuntimeScripts } from "./.ci/packages/runtime-scripts.mjs";
import { withoutComments } from "./.ci/packages/script-of-bundle.mjs";

const root = path.dirname(fileURLToPath(import.meta.url));
const dist = path.join(root, "dist");
const require = createRequire(import.meta.url);
const { version, exports: entryPoints, peerDependencies } = require("./package.json");

const addonFolders = readdirSync(path.join(root, "native"), { withFileTypes: true })
  .filter((found) => found.isDirectory())
  .map(({ name }) => name);
const { sharedHeaders, sourceFiles, sourceKey } = await addonSources();

/** Returns the exports of native/source-key.ts. */
async function addonSources() {
  const entry = { absWorkingDir: root, entryPoints: ["native/source-key.ts"], format: "esm", write: false };
  const [{ text }] = (await build(entry)).outputFiles;
  return import(`data:text/javascript,${encodeURIComponent(text)}`);
}

/** Returns the keys of the sources of each addon, for native/addon-location.ts. */
function addonKeys() {
  return Object.fromEntries(addonFolders.map((name) => [name, sourceKey(version, path.join(root, "native", name))]));
}

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20.9",
  sourcemap: true,
  // Stack traces need names and lines only. Developers who debug Viceroy have its sources.
  sourcesContent: false,
  charset: "ascii",
  logLevel: "warning",
  define: {
    VICEROY_VERSION: JSON.stringify(version),
    VICEROY_ADDON_KEYS: JSON.stringify(JSON.stringify(addonKeys())),
  },
  // Bundles import Viceroy's sources, never an earlier build.
  alias: {
    viceroy: "./runtime/index.ts",
    "viceroy/rdma": "./runtime/rdma/index.ts",
    "viceroy/schema": "./shared/vocabulary.ts",
    "viceroy/codegen/v1": "./runtime/codegen/v1/index.ts",
    "viceroy/capnp/v1": "./runtime/capnp/index.ts",
  },
};

/**
 * Leaves the protobuf layout of Viceroy's own messages to their composed codecs, which `GeneratedCodec` falls back to. Processes
 * use that layout only if their versions of Viceroy differ, and the code for it is a third of the generated code. Their whole messages
 * are written and read by the methods that all codecs share: faster ones pay off for messages that are sent often.
 */
const lockstepOnly = {
  name: "lockstep only",
  setup({ onLoad }) {
    onLoad({ filter: /\/generated\/[\w-]+\.ts$/ }, ({ path: file }) => {
      if (path.dirname(file) !== path.join(root, "generated")) return undefined;
      const contents = readFileSync(file, "utf8").replaceAll(methodsLeftOut, "");
      return { contents, loader: "ts" };
    });
  },
};

/** The methods of generated codecs for the protobuf layout and for whole messages. Their bodies are indented further. */
const methodsLeftOut = /\n {2}(?:protected )?override (?:write|read)(?:Fields|Message)\([\s\S]*?\n {2}\}\n/g;

const commonJs = { ...common, format: "cjs" };

/** In the bundle, `import.meta.url` is the URL of the output file. */
const withUrl = {
  ...commonJs,
  define: { ...common.define, "import.meta.url": "import_meta_url" },
  banner: { js: `"use strict";const import_meta_url = require("node:url").pathToFileURL(__filename).href;` },
};

async function buildRuntime() {
  const [parts] = await Promise.all([
    buildScripts(),
    build({
      ...commonJs,
      entryPoints: { load: "runtime/bundle/load.ts", boot: "runtime/bundle/boot.ts" },
      outdir: dist,
      outExtension,
      sourcemap: false,
    }),
    build({ ...common, format: "esm", entryPoints: { "capnp-v1": "runtime/capnp/index.ts" }, outdir: dist }),
    buildPreparedTypeScript(),
  ]);
  await buildInline();
  write("index.js", facade("main", parts.main));
  write("codegen-v1.js", facade("codegenV1", parts.codegenV1));
  write("rdma.js", facade("rdma", parts.rdma));
  write("testing-kernel.js", facade("kernel", parts.kernel));
  write("job-kernel.js", facade("jobKernel", parts.jobKernel));
  write("tasks-kernel.js", facade("tasksKernel", parts.tasksKernel));
  write("inline/index.js", inlineFacade("main", parts.main));
  write("inline/codegen-v1.js", inlineFacade("codegenV1", parts.codegenV1));
  write("inline/rdma.js", inlineFacade("rdma", parts.rdma));
  write("inline/testing-kernel.js", inlineFacade("kernel", parts.kernel));
  write("inline/job-kernel.js", inlineFacade("jobKernel", parts.jobKernel));
  write("inline/tasks-kernel.js", inlineFacade("tasksKernel", parts.tasksKernel));
  write("schema.js", "// Schemas are types only.\nexport {};\n");
}

/** Builds the scripts of the runtime, and checks that they can be loaded. @returns their exports */
async function buildScripts() {
  const scripts = await buildRuntimeScripts(root, dist, {
    ...common,
    define: { ...common.define, "import.meta.url": "import_meta_url" },
    plugins: [lockstepOnly, external(/\/(?:import-module|share-compiled-code)\.js$/, "./load.cjs")],
  });
  for (const [name, text] of Object.entries(scripts)) write(name, text);
  return runRuntimeScripts(scripts, dist);
}

/** Builds what child processes load when the program runs with tsx. */
async function buildPreparedTypeScript() {
  const outdir = path.join(dist, "typescript");
  const folder = "runtime/bundle/typescript";
  const names = ["register", "mirror-hooks", "prepare"];
  const built = await build({
    ...common,
    metafile: true,
    format: "esm",
    entryPoints: Object.fromEntries(names.map((name) => [name, `${folder}/${name}.ts`])),
    outdir,
    sourcemap: false,
    // An import whose options are computed must stay as it is.
    logOverride: { "unsupported-dynamic-import": "silent" },
  });
  removeStale(outdir, built);
  for (const name of ["es-module-lexer", "@jridgewell/sourcemap-codec"]) {
    const license = path.join(root, "node_modules", name, "LICENSE");
    cpSync(license, path.join(outdir, `LICENSE.${path.basename(name)}`));
  }
}

/**
 * Builds the runtime as an ES module that bundlers can copy into a program of one file. It is in the package of the
 * compiler, because it is needed where programs are bundled, and not where they run.
 */
async function buildInline() {
  await build({
    ...common,
    format: "esm",
    sourcemap: false,
    minify: true,
    keepNames: true,
    define: { ...common.define, ...definedUrl, VICEROY_INLINED: "true" },
    banner: urlInBundles,
    entryPoints: { runtime: "runtime/bundle/entry.ts" },
    outdir: path.join(compilerPackage, "inline"),
  });
}

/** Bundlers replace import.meta.url where they write CommonJS modules, which have a file name instead. */
const definedUrl = { "import.meta.url": "viceroyUrl" };
const urlInBundles = {
  js:
    'import { pathToFileURL as viceroyToUrl } from "node:url";' +
    'const viceroyUrl = typeof __filename === "string" ? viceroyToUrl(__filename).href : import.meta.url;',
};

const outExtension = { ".js": ".cjs" };

/** Leaves the imports of one source file to run time. Another file of dist/ replaces the source file. */
function external(filter, standIn) {
  return {
    name: "external",
    setup({ onResolve }) {
      onResolve({ filter }, () => ({ path: standIn, external: true }));
    },
  };
}

const abi = /^\.\.\/codegen\/v1\/index\.js$/;
/**
 * The names by which modules of the package import the runtime. package.json maps them to files, for programs of one file
 * to others.
 */
const runtimeImports = {
  main: "#main",
  codegenV1: "#codegen-v1",
  rdma: "#rdma",
  kernel: "#testing-kernel",
  jobKernel: "#job-kernel",
  tasksKernel: "#tasks-kernel",
};
const externalAbi = external(abi, runtimeImports.codegenV1);
/** Replaces the ABI by that of browsers. */
const browserAbi = {
  name: "ABI of browsers",
  setup({ onResolve }) {
    onResolve({ filter: abi }, () => ({ path: path.join(root, "runtime/browser/codegen-v1.ts") }));
  },
};

/** Leaves the imports of one source file, by any relative path, to run time. */
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

/** Returns an ES module that exports the exports of one part of the bundle by name. */
function facade(part, exports) {
  const names = Object.keys(exports).sort();
  return [
    // The bundle is not imported: Node.js would analyze its exports first, which takes 2 ms at the start of a process.
    `import { createRequire } from "node:module";`,
    // If the runtime is already loaded, as in every child process, its loader is not needed.
    `const { ${part} } = globalThis[Symbol.for("viceroy.runtime/${version}")] ?? load();`,
    `function load() {`,
    `  try {`,
    `    return createRequire(import.meta.url)("./load.cjs").load();`,
    `  } catch (cause) {`,
    // In a bundle of CommonJS modules, import.meta.url is undefined.
    `    if (cause.code !== "MODULE_NOT_FOUND" && cause.code !== "ERR_INVALID_ARG_VALUE") throw cause;`,
    `    const text =`,
    `      "cannot load the runtime of viceroy: the module that loads it was copied into a bundle; configure the " +`,
    `      'bundler to leave "viceroy" and "viceroy/*" external, or to use the condition "viceroy-inline" for a program ' +`,
    `      "of one file, got " + import.meta.url;`,
    `    throw new Error(text, { cause });`,
    `  }`,
    `}`,
    ...names.map((name) => `export const ${name} = ${part}.${name};`),
    "",
  ].join("\n");
}

/** Returns an ES module like `facade`. Its runtime is the part of the bundle that a bundler has copied. */
function inlineFacade(part, exports) {
  return [
    `import * as inlined from "${compilerManifest.name}/inline";`,
    `const { ${part} } = (globalThis[Symbol.for("viceroy.runtime/${version}")] ??= inlined);`,
    ...Object.keys(exports)
      .sort()
      .map((name) => `export const ${name} = ${part}.${name};`),
    "",
  ].join("\n");
}

function write(name, text) {
  const file = path.join(dist, name);
  mkdirSync(path.dirname(file), { recursive: true });
  // The file is renamed into place, so that running programs read the old or the new file completely.
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
    plugins: [external(/^\.\.\/index\.js$/, runtimeImports.main), externalAbi],
  });
}

/** Builds the clients of the gateway twice: for Node.js, and for browsers together with the ABI of generated code there. */
async function buildConnect() {
  const clients = { ...common, format: "esm", external: Object.keys(peerDependencies) };
  const entry = "runtime/connect/index.ts";
  const [, { metafile }] = await Promise.all([
    build({ ...clients, entryPoints: { "connect-v1": entry }, outdir: dist, plugins: [externalAbi] }),
    build({
      ...clients,
      metafile: true,
      minify: true,
      keepNames: true,
      platform: "browser",
      target: "es2022",
      entryPoints: { "codegen-v1": "runtime/browser/codegen-v1.ts", "connect-v1": entry },
      outdir: path.join(dist, "browser"),
      splitting: true,
      chunkNames: "chunk-[hash]",
      inject: ["runtime/browser/buffer.ts"],
      alias: { "node:buffer": "./runtime/browser/buffer.ts" },
      plugins: [browserAbi],
    }),
  ]);
  removeStale(path.join(dist, "browser"), { metafile });
}

/** Builds the jobs, and the programs of their keepers and issuers, which do not load the runtime. */
async function buildJob() {
  const options = { ...common, format: "esm", outdir: dist };
  // A checkout has a limit for its size, too.
  const small = { ...options, minifyWhitespace: true };
  const externalCredentials = external(/\/credentials\/index\.js$/, "./job-credentials.mjs");
  const externalWebSockets = external(/\/websocket\/index\.js$/, "./websocket.mjs");
  const [shared] = await Promise.all([
    build({
      ...options,
      metafile: true,
      entryPoints: {
        job: "runtime/job/index.ts",
        "job-command": "runtime/job/command/main.ts",
        "job-ssh-doctor": "runtime/job/ssh/doctor/main.ts",
        "job-controller": "runtime/job/kubernetes/controller/main.ts",
      },
      splitting: true,
      // It is an optional peer, which jobs of Kubernetes load.
      external: ["@kubernetes/client-node"],
      // Several entry points share several chunks.
      chunkNames: "job-chunk-[hash]",
      plugins: [
        external(/\/kernel\.js$/, runtimeImports.jobKernel),
        externalFile("runtime/tasks/index.js", "./tasks.js"),
        externalFile("runtime/index.js", runtimeImports.main),
        externalCredentials,
        externalWebSockets,
        external(/\/yaml-text\.js$/, "./job-yaml.mjs"),
      ],
    }),
    build({
      ...options,
      entryPoints: { "job-yaml": "runtime/job/yaml-text.ts" },
      // The variant for browsers consists of ES modules, of which the bundle contains only what is used.
      alias: { yaml: "./node_modules/yaml/browser/dist/index.js" },
      outExtension: { ".js": ".mjs" },
      sourcemap: false,
      minify: true,
    }),
    build({ ...small, entryPoints: { "job-keeper": "runtime/job/keeper/main.ts" }, plugins: [externalCredentials] }),
    build({
      ...small,
      entryPoints: {
        "job-credentials": "runtime/job/credentials/index.ts",
        "job-issuer": "runtime/job/issuer/main.ts",
      },
      // Hosts of jobs have no package.json that says which kind of module it is.
      outExtension: { ".js": ".mjs" },
      plugins: [externalCredentials],
    }),
    build({
      ...commonJs,
      entryPoints: {
        "job-ssh-starter": "runtime/job/ssh/starter/main.ts",
        "job-ssh-probe": "runtime/job/ssh/doctor/probe/main.ts",
        "job-kubernetes-host": "runtime/job/kubernetes/host/main.ts",
        "job-kubernetes-image": "runtime/job/kubernetes/image/applier/main.ts",
        "job-kubernetes-holder": "runtime/job/kubernetes/batch/holder/main.ts",
        "job-skypilot-host": "runtime/job/skypilot/machine/main.ts",
      },
      outdir: dist,
      outExtension,
      sourcemap: false,
      minify: true,
      plugins: [externalWebSockets],
    }),
  ]);
  cpSync(path.join(root, "node_modules/yaml/LICENSE"), path.join(dist, "LICENSE.yaml"));
  const current = new Set(Object.keys(shared.metafile.outputs).map((file) => path.basename(file)));
  const stale = readdirSync(dist).filter((name) => name.startsWith("job-chunk") && !current.has(name));
  for (const name of stale) rmSync(path.join(dist, name));
}

/** Builds what brings code to hosts. */
async function buildSync() {
  const parts = [
    [path.join(root, "runtime/sync/kernel.js"), "syncKernel"],
    [path.join(root, "runtime/tasks/kernel.js"), "tasksKernel"],
    [path.join(root, "runtime/sync/sync-error.js"), "main"],
    [path.join(root, "runtime/index.js"), "main"],
    [path.join(root, "runtime/codegen/v1/index.js"), "codegenV1"],
  ];
  const loadedRuntime = {
    name: "loaded runtime",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\..*\.js$|^viceroy\/codegen\/v1$/ }, ({ path: specifier, resolveDir }) => {
        const file = specifier.startsWith(".") ? path.resolve(resolveDir, specifier) : parts.at(-1)[0];
        const part = parts.find(([source]) => source === file)?.[1];
        return part === undefined ? undefined : { path: part, namespace: "loaded-runtime" };
      });
      onLoad({ filter: /.*/, namespace: "loaded-runtime" }, ({ path: part }) => ({
        contents: `module.exports = globalThis[Symbol.for("viceroy.runtime/${version}")].${part};`,
        loader: "js",
      }));
    },
  };
  await build({
    ...common,
    format: "esm",
    entryPoints: { sync: "runtime/sync/index.ts" },
    // It is loaded rarely, and a checkout has a limit for its size, too.
    minifyWhitespace: true,
    minifySyntax: true,
    outdir: dist,
    outExtension: { ".js": ".mjs" },
    // The bundle must keep its side effects: loading it registers an actor.
    ignoreAnnotations: true,
    alias: {},
    plugins: [loadedRuntime],
  });
}

/** Builds what speaks WebSocket, with its libraries, so that the package has no dependencies. */
async function buildWebSocket() {
  await build({
    ...common,
    format: "esm",
    entryPoints: { websocket: "runtime/link/transport/websocket/index.ts" },
    outdir: dist,
    outExtension: { ".js": ".mjs" },
    sourcemap: false,
    minify: true,
    keepNames: true,
    // The library looks for faster code of other packages, which a host might have in any version.
    define: {
      ...common.define,
      "process.env.WS_NO_BUFFER_UTIL": "true",
      "process.env.WS_NO_UTF_8_VALIDATE": "true",
    },
    // The library is a CommonJS module.
    banner: { js: 'import { createRequire } from "node:module";const require = createRequire(import.meta.url);' },
  });
  for (const name of ["ws", "proxy-from-env"]) {
    cpSync(path.join(root, "node_modules", name, "LICENSE"), path.join(dist, `LICENSE.${name}`));
  }
}

/** Builds the tasks, the program that prepares hosts of jobs, and what processes with a runtime environment load first. */
async function buildTasks() {
  const preload = "runtime/tasks/environment/preload";
  await Promise.all([
    build({
      ...common,
      format: "esm",
      entryPoints: { tasks: "runtime/tasks/index.ts" },
      outdir: dist,
      // The bundle must keep its side effects: loading it registers actors.
      ignoreAnnotations: true,
      alias: {},
      define: { ...common.define, ...definedUrl },
      banner: urlInBundles,
      plugins: [
        lockstepOnly,
        external(/\/kernel\.js$/, runtimeImports.tasksKernel),
        externalFile("runtime/index.js", runtimeImports.main),
        externalFile("runtime/codegen/v1/index.js", runtimeImports.codegenV1),
        external(/^viceroy\/codegen\/v1$/, runtimeImports.codegenV1),
      ],
    }),
    build({
      ...common,
      format: "esm",
      entryPoints: { "tasks-environment": "runtime/tasks/cluster/print-environment.ts" },
      outdir: dist,
      plugins: [external(/\/kernel\.js$/, runtimeImports.tasksKernel)],
    }),
    build({
      ...commonJs,
      entryPoints: { "tasks-preload": `${preload}/main.ts` },
      outdir: dist,
      outExtension,
      sourcemap: false,
    }),
    build({
      ...common,
      format: "esm",
      entryPoints: { "tasks-packages-hooks": `${preload}/packages-hooks.ts` },
      outdir: dist,
      outExtension: { ".js": ".mjs" },
      sourcemap: false,
    }),
  ]);
  // Worker processes that run tasks read this bundle, too.
  write("tasks.js", withoutComments(readFileSync(path.join(dist, "tasks.js"), "utf8")));
}

async function buildTensor() {
  await build({
    ...common,
    format: "esm",
    entryPoints: { tensor: "runtime/tensor/index.ts" },
    outdir: dist,
    // The bundle must keep its side effects: loading it registers an actor.
    ignoreAnnotations: true,
    alias: {},
    define: { ...common.define, ...definedUrl },
    banner: urlInBundles,
    plugins: [
      lockstepOnly,
      externalFile("runtime/index.js", runtimeImports.main),
      externalFile("runtime/rdma/index.js", runtimeImports.rdma),
      externalFile("runtime/codegen/v1/index.js", runtimeImports.codegenV1),
      external(/^viceroy\/codegen\/v1$/, runtimeImports.codegenV1),
    ],
  });
}

async function buildTesting() {
  await build({
    ...common,
    format: "esm",
    entryPoints: { testing: "runtime/testing/index.ts" },
    outdir: dist,
    plugins: [external(/\/kernel\.js$/, runtimeImports.kernel)],
  });
}

/** The package of the compiler, in a folder where Node.js finds it from the files of dist/. */
const compilerPackage = path.join(dist, "node_modules", compilerManifest.name);

async function buildCompiler() {
  archiveAddonSources();
  await Promise.all([buildCommandLine(), buildCompilerPackage()]);
}

/** Writes the sources of addons, and the headers that they include, for native/build-sources.ts. */
function archiveAddonSources() {
  const folder = path.join(dist, "native");
  const headers = ["node-addon-api", "node-api-headers"].map((name) => path.join(root, "node_modules", name));
  const places = [
    ...addonFolders.map((name) => [name, path.join(root, "native", name), [".cc", ".h"]]),
    ["include", headers[0], [".h"]],
    ["include", path.join(headers[1], "include"), [".h"]],
  ];
  const text = (file) => withoutCppComments(readFileSync(file, "utf8"));
  const shared = sharedHeaders(path.join(root, "native")).map((file) => path.basename(file));
  const files = [
    ...shared.map((file) => [file, text(path.join(root, "native", file))]),
    ...places.flatMap(([name, from, extensions]) =>
      sourceFiles(from, extensions).map((file) => [`${name}/${file}`, text(path.join(from, file))]),
    ),
  ];
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "sources.br"), brotliCompressSync(JSON.stringify(Object.fromEntries(files))));
  for (const from of headers) {
    const license = readdirSync(from).find((name) => name.startsWith("LICENSE"));
    cpSync(path.join(from, license), path.join(folder, `LICENSE.${path.basename(from)}`));
  }
}

/**
 * Removes comments and indentation of C++, which are a third of the archive. Comments behind code stay: what begins them may be
 * a part of a text there.
 */
function withoutCppComments(text) {
  const lines = text.replaceAll(/^[ \t]*\/\*[\s\S]*?\*\//gm, "").split("\n");
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("//"))
    .join("\n");
}

async function buildCommandLine() {
  const options = { ...common, format: "esm", outdir: dist, metafile: true };
  const commander = path.dirname(require.resolve("commander"));
  const [, ...built] = await Promise.all([
    build({ ...options, entryPoints: { compiler: "compiler/index.ts" } }),
    build({
      ...options,
      entryPoints: { "cli/command-line": "compiler/cli/command-line.ts" },
      outExtension: { ".js": ".mjs" },
      splitting: true,
      chunkNames: "cli/chunk-[hash]",
      plugins: [external(/^commander$/, "./commander.cjs")],
    }),
    build({
      ...withUrl,
      entryPoints: { "cli/viceroy": "compiler/cli/viceroy.ts" },
      outdir: dist,
      metafile: true,
      plugins: [external(/^\.\/command-line\.js$/, "./command-line.mjs")],
    }),
    // The argument parser is bundled, so that the package has no dependencies.
    build({
      ...commonJs,
      entryPoints: { "cli/commander": path.join(commander, "esm.mjs") },
      outdir: dist,
      outExtension,
      sourcemap: false,
      minify: true,
      metafile: true,
    }),
  ]);
  removeStale(path.join(dist, "cli"), ...built);
  // The command is a CommonJS module.
  write("cli/package.json", '{ "type": "commonjs" }\n');
  cpSync(path.join(commander, "LICENSE"), path.join(dist, "cli/LICENSE.commander"));
  chmodSync(path.join(dist, "cli/viceroy.js"), 0o755);
}

async function buildCompilerPackage() {
  const outdir = path.join(compilerPackage, "dist");
  const built = await build({
    ...common,
    metafile: true,
    format: "esm",
    entryPoints: { commands: "compiler/cli/compiler-commands.ts" },
    outdir,
    external: Object.keys(compilerManifest.dependencies),
    splitting: true,
    chunkNames: "chunk-[hash]",
  });
  const untouched = await build({
    ...withUrl,
    metafile: true,
    entryPoints: { untouched: "compiler/cli/untouched.ts" },
    outdir,
    outExtension,
  });
  removeStale(outdir, built, untouched);
  for (const file of ["shared/vocabulary.ts", ...explainingPages, "LICENSE"]) {
    rmSync(path.join(compilerPackage, file), { recursive: true, force: true });
    cpSync(path.join(root, file), path.join(compilerPackage, file), { recursive: true });
  }
  writeFileSync(path.join(compilerPackage, "package.json"), `${JSON.stringify(compilerManifest, null, 2)}\n`);
}

/** The pages that `viceroy explain` reads. */
const explainingPages = ["docs/reference/diagnostics.md", "docs/reference/breaking-changes.md"];

/** Removes the chunks of earlier builds. */
function removeStale(folder, ...built) {
  const outputs = built.flatMap(({ metafile }) => Object.keys(metafile.outputs));
  const current = new Set(outputs.map((file) => path.join(root, file)));
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    if (!current.has(file)) rmSync(file, { recursive: true });
  }
}

/** Builds the declarations. The type checker is the slowest part and runs in parallel to all others. */
async function buildTypes() {
  const compiler = path.join(path.dirname(require.resolve("typescript/package.json")), "bin/tsc");
  const child = spawn(process.execPath, [compiler, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
  const code = await new Promise((resolve) => child.once("exit", resolve));
  if (code !== 0) throw new Error(`cannot emit declarations: tsc ended with code ${code}`);
  const entries = Object.values(entryPoints).flatMap(({ types }) =>
    types === undefined ? [] : [path.join(root, types)],
  );
  reduceDeclarations(path.join(dist, "types"), entries);
}

const parts = {
  runtime: buildRuntime,
  gateway: buildGateway,
  connect: buildConnect,
  job: buildJob,
  sync: buildSync,
  websocket: buildWebSocket,
  tasks: buildTasks,
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
  // esbuild has already printed its own errors.
  if (result.reason?.errors === undefined) console.error(result.reason);
}
