/**
 * Makes a child process understand TypeScript, built as `dist/typescript/register.js`. The parent passes its URL in the
 * first message, with the location of tsx and the options that it has taken from the child as parameters. The process
 * then loads the prepared modules of the program. If there are none, or they are out of date, it has them prepared.
 */
import type { ChildProcess } from "node:child_process";
import { statSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { makePrivateDirectory } from "../../cache/private-files.js";
import { preparedModules } from "../../proc/platform/prepared-modules.js";
import { packagesVariable } from "../../tasks/environment/preload/variables.js";
import { installMirror } from "./mirror.js";
import { type Manifest, manifestFile, type ProgramSource, programDirectory, readProgram } from "./program.js";
import { takeTurn } from "./turn.js";

const parameters = new URL(import.meta.url).searchParams;
const require = createRequire(import.meta.url);
const prepareScript = fileURLToPath(new URL("prepare.js", import.meta.url));

/** The parts of Node.js's CommonJS loader that loaders of other languages change. */
interface CommonJsLoader {
  readonly _extensions: Record<string, ((module: { exports: unknown }, file: string) => void) | undefined>;
  _resolveFilename(request: string, parent: { readonly filename?: string } | undefined, ...rest: unknown[]): string;
}

/** Has this process load the prepared modules of the program, or tsx if the program cannot be prepared. */
export async function register(): Promise<void> {
  const tsx = parameters.get("tsx") ?? "";
  const ownOptions = resolutionOptions(process.execArgv);
  const ownEnv = { ...process.env };
  // Prepared modules name the files of packages, which differ between runtime environments.
  const packages = process.env[packagesVariable] ?? "";
  restoreOptions();
  process.setSourceMapsEnabled(true);
  const program: ProgramSource = {
    roots: parameters.getAll("root"),
    tsx,
    identity: [parameters.get("versions"), process.version, ...ownOptions, packages, scriptStamp()].join(" "),
    tsconfig: process.env["TSX_TSCONFIG_PATH"] || undefined,
    folder: process.cwd(),
  };
  catchCommonJs(() => require(fileURLToPath(`${tsx}dist/cjs/index.cjs`)));
  const manifest = await prepared(program, ownOptions, ownEnv);
  if (manifest === undefined || manifest.failure !== undefined) {
    ((await import(`${tsx}dist/esm/api/index.mjs`)) as { register(): void }).register();
  } else installMirror(locations(manifest), program);
}

/** Distinguishes builds of Viceroy, which may prepare modules in different ways. */
function scriptStamp(): string {
  const { size, mtimeMs } = statSync(prepareScript);
  return `${prepareScript} ${size} ${mtimeMs}`;
}

/** Returns the options by which Node.js finds modules. All others, such as those for profiles, concern this process alone. */
function resolutionOptions(execArgv: readonly string[]): string[] {
  return execArgv.filter(
    (option, i) =>
      /^(?:--conditions|-C|--preserve-symlinks)/.test(option) || /^(?:--conditions|-C)$/.test(execArgv[i - 1] ?? ""),
  );
}

/** Processes that the actors start themselves inherit the options with which the program was started. */
function restoreOptions(): void {
  process.execArgv.unshift(...(JSON.parse(parameters.get("execArgv") || "[]") as string[]));
  const nodeOptions = parameters.get("nodeOptions");
  if (nodeOptions !== null) process.env["NODE_OPTIONS"] = nodeOptions;
}

function locations({ folder, modules }: Manifest): Record<string, string> {
  const base = pathToFileURL(`${join(programDirectory(), folder)}/`).href;
  return Object.fromEntries(Object.entries(modules).map(([url, name]) => [url, base + name]));
}

/** Returns the prepared program, which one process prepares if it is out of date. */
async function prepared(
  program: ProgramSource,
  options: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Manifest | undefined> {
  const file = manifestFile(program);
  const known = readProgram(file);
  if (known !== undefined) return known;
  if (!makePrivateDirectory(dirname(file))) return undefined;
  const turn = join(dirname(file), `${basename(file, ".json")}.turn`);
  await takeTurn(turn, async () => {
    // Another process may have prepared the program before this one had its turn.
    if (readProgram(file) === undefined) await runPrepare(program, options, env);
  });
  return readProgram(file);
}

/** Runs `prepare.js` with tsx, and waits until it has ended. */
async function runPrepare(program: ProgramSource, options: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { spawn } = await import("node:child_process");
  const loader = ["--experimental-import-meta-resolve", "--import", `${program.tsx}dist/loader.mjs`];
  const argv = [...options, ...loader, prepareScript, JSON.stringify(program)];
  await new Promise<void>((resolve) => {
    const child: ChildProcess = spawn(process.execPath, argv, { env, stdio: "ignore" });
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  });
}

/**
 * Notices `require` of a TypeScript file. A file that has been prepared is loaded from there. For all others, and for files
 * that only tsx finds, tsx changes `require`.
 * @param load has tsx do so
 */
function catchCommonJs(load: () => void): void {
  const loader = Module as unknown as CommonJsLoader;
  const { _extensions: extensions, _resolveFilename: find } = loader;
  const before = new Map([".ts", ".tsx", ".jsx", ".mts", ".cts"].map((name) => [name, extensions[name]]));
  const caught = new Map([...before.keys()].map((name) => [name, catchExtension(name)]));
  const install = () => {
    for (const [name, handle] of caught) extensions[name] = handle;
  };
  let isLoaded = false;
  const loadOnce = () => {
    if (isLoaded) return;
    isLoaded = true;
    for (const [name, handle] of before) {
      if (handle === undefined) delete extensions[name];
      else extensions[name] = handle;
    }
    load();
    for (const name of before.keys()) before.set(name, extensions[name]);
    install();
  };
  function catchExtension(name: string) {
    return (module: { exports: unknown }, file: string) => {
      const url = pathToFileURL(file).href;
      const prepared = preparedModules()?.locate(url) ?? url;
      if (prepared.endsWith(".cjs") && prepared !== url) {
        module.exports = require(fileURLToPath(prepared));
        return;
      }
      loadOnce();
      (before.get(name) ?? extensions[".js"]!)(module, file);
    };
  }
  install();
  loader._resolveFilename = function (this: unknown, request, parent, ...rest) {
    try {
      return find.call(this, request, parent, ...rest);
    } catch (error) {
      const isForeign = /[\\/]node_modules[\\/]/.test(parent?.filename ?? "");
      if (isLoaded || isForeign || (error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    }
    loadOnce();
    return loader._resolveFilename(request, parent, ...rest);
  };
}
