/**
 * Prepares a program, built as `dist/typescript/prepare.js`. A child process runs this script with tsx, and reads the
 * description of the program from its standard input.
 */
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, extname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { fnv1aText } from "../../../shared/hash/fnv1a.js";
import { CannotPrepare, type Loader, ModuleGraph } from "./module-graph.js";
import { type Manifest, manifestFile, type ProgramSource, programDirectory, writeManifest } from "./program.js";
import { commonJsMeta } from "./rewrite-module.js";
import { readTypeScriptConfig, type TypeScriptConfig } from "./tsconfig.js";
import { type WrittenModules, writeModules } from "./write-modules.js";

/** Time in ms after their last use for which prepared programs are kept. Processes that run may still load modules. */
const keptMs = 7 * 24 * 3600 * 1000;

/** esbuild's names of languages, by extensions. */
const loaders: Readonly<Record<string, string>> = {
  ".ts": "ts",
  ".mts": "ts",
  ".cts": "ts",
  ".tsx": "tsx",
  ".jsx": "jsx",
};

/** The hooks of tsx. */
interface TsxHooks {
  initialize(data: unknown): unknown;
  load(
    url: string,
    context: { format: string },
    next: () => Promise<{ format: string; source: Buffer }>,
  ): Promise<{ format: string; source: Uint8Array | string }>;
}

/** The compiler of tsx. */
interface Esbuild {
  transform(source: string, options: object): Promise<{ code: string }>;
}

async function loaderOf(program: ProgramSource, { compilerOptions }: TypeScriptConfig): Promise<Loader> {
  const tsx = (await import(`${program.tsx}dist/esm/index.mjs`)) as TsxHooks;
  tsx.initialize({ tsconfig: program.tsconfig });
  const esbuild = createRequire(program.tsx)("esbuild") as Esbuild;
  return {
    resolve: (specifier, parent) => import.meta.resolve(specifier, parent),
    resolveRequired: (specifier, parent) => createRequire(parent).resolve(specifier),
    async transform(url, source) {
      const given = url.endsWith(".json") ? "json" : "module";
      const { source: code } = await tsx.load(url, { format: given }, async () => ({ format: given, source }));
      return typeof code === "string" ? code : Buffer.from(code).toString();
    },
    // tsx does this in its loader of CommonJS modules, which cannot be called without running the module.
    async transformCommonJs(url, source) {
      const sourcefile = fileURLToPath(url);
      const { code } = await esbuild.transform(source.toString(), {
        format: "cjs",
        platform: "node",
        target: `node${process.versions.node}`,
        loader: loaders[extname(sourcefile)] ?? "js",
        sourcefile,
        sourcemap: "inline",
        sourcesContent: false,
        minifyWhitespace: true,
        keepNames: true,
        define: { "import.meta": commonJsMeta },
        tsconfigRaw: { compilerOptions },
        logLevel: "silent",
      });
      return code;
    },
  };
}

async function prepare(program: ProgramSource): Promise<void> {
  const file = manifestFile(program);
  const config = readTypeScriptConfig(program.tsconfig, program.folder);
  const graph = new ModuleGraph(await loaderOf(program, config), config);
  const { failure = config.failure } = config.failure === undefined ? await addAll(graph, program.roots) : config;
  const { inputs, absent } = graph;
  if (failure !== undefined) {
    writeManifest(file, { inputs, absent, folder: "", modules: {}, failure });
    return;
  }
  let written: WrittenModules;
  try {
    written = writeModules(graph, program.tree);
  } catch (error) {
    if (!(error instanceof CannotPrepare)) throw error;
    writeManifest(file, { inputs, absent, folder: "", modules: {}, failure: error.message });
    return;
  }
  const folder = storeModules(basename(file, ".json"), written.texts, previousFolder(file));
  writeManifest(file, { inputs, absent, folder, modules: written.names });
  removeUnused();
}

async function addAll(graph: ModuleGraph, roots: readonly string[]): Promise<{ failure?: string }> {
  try {
    for (const root of roots) await graph.add(root);
    return {};
  } catch (error) {
    if (error instanceof CannotPrepare) return { failure: error.message };
    throw error;
  }
}

function previousFolder(file: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as Manifest).folder || undefined;
  } catch {
    return undefined;
  }
}

/**
 * Stores the modules in a folder of their own, completely or not at all. Processes that run may still load modules from
 * the folder before it, so that one stays. Equal files are stored once.
 * @returns the name of the folder
 */
function storeModules(program: string, texts: ReadonlyMap<string, string>, previous: string | undefined): string {
  const folder = `${program}-${fnv1aText([...texts].flat().join("\0"))}`;
  const directory = join(programDirectory(), folder);
  if ([...texts].every(([name, text]) => isEqual(join(directory, name), text))) return folder;
  const unfinished = `${directory}.${process.pid}`;
  try {
    mkdirSync(unfinished, { mode: 0o700 });
    for (const [name, text] of texts) {
      const file = join(unfinished, name);
      const before = previous === undefined ? undefined : join(programDirectory(), previous, name);
      if (before !== undefined && isEqual(before, text)) linkSync(before, file);
      else writeFileSync(file, text, { mode: 0o600, flag: "wx" });
    }
    // A folder of this name is damaged.
    rmSync(directory, { recursive: true, force: true });
    renameSync(unfinished, directory);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
  return folder;
}

function isEqual(file: string, text: string): boolean {
  try {
    return (statSync(file).mode & 0o022) === 0 && readFileSync(file, "utf8") === text;
  } catch {
    return false;
  }
}

function removeUnused(): void {
  const directory = programDirectory();
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    const status = statSync(path, { throwIfNoEntry: false });
    if (status !== undefined && Date.now() - status.mtimeMs > keptMs) rmSync(path, { recursive: true, force: true });
  }
}

await prepare(JSON.parse(await text(process.stdin)) as ProgramSource);
process.exit(0);
