/**
 * Makes a child process understand TypeScript, built as `dist/typescript/register.js`. The parent passes its URL in the
 * first message, with the location of tsx and the options that it has taken from the child as parameters. The process
 * then loads the prepared modules of the program: those that were brought to this machine with its code, or else those in the cache. If there
 * are none, or they are out of date, it has them prepared.
 */
import Module, { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { preparedModules } from "../../proc/platform/prepared-modules.js";
import { installMirror } from "./mirror.js";
import { portableModules } from "./portable-program.js";
import { preparedProgram, programOf, resolutionOptions } from "./prepared-program.js";
import { type Manifest, programDirectory } from "./program.js";

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
  const options = resolutionOptions(process.execArgv);
  const env = { ...process.env };
  restoreOptions();
  process.setSourceMapsEnabled(true);
  const program = programOf(parameters, options, prepareScript);
  const { tsx } = program;
  catchCommonJs(() => require(fileURLToPath(`${tsx}dist/cjs/index.cjs`)));
  const modules = portableModules(program) ?? locations(await preparedProgram(program, { options, env }));
  if (modules === undefined) ((await import(`${tsx}dist/esm/api/index.mjs`)) as { register(): void }).register();
  else installMirror(modules, program);
}

/** Processes that the actors start themselves inherit the options with which the program was started. */
function restoreOptions(): void {
  process.execArgv.unshift(...(JSON.parse(parameters.get("execArgv") || "[]") as string[]));
  const nodeOptions = parameters.get("nodeOptions");
  if (nodeOptions !== null) process.env["NODE_OPTIONS"] = nodeOptions;
}

/** Returns the URLs of prepared modules, by their keys; undefined if the program cannot be prepared. */
function locations(manifest: Manifest | undefined): Record<string, string> | undefined {
  if (manifest === undefined || manifest.failure !== undefined) return undefined;
  const { folder, modules } = manifest;
  const base = pathToFileURL(`${join(programDirectory(), folder)}/`).href;
  return Object.fromEntries(Object.entries(modules).map(([key, name]) => [key, base + name]));
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
