/**
 * Makes a child process understand TypeScript, built as `dist/typescript/register.js`. The parent passes its URL in the
 * first message, with the location of tsx and the options that it has taken from the child as parameters.
 */
import Module, { createRequire, register as registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import type { HooksData } from "./hooks.js";

const parameters = new URL(import.meta.url).searchParams;
const require = createRequire(import.meta.url);

/** The parts of Node.js's CommonJS loader that loaders of other languages change. */
interface CommonJsLoader {
  readonly _extensions: Record<string, ((module: unknown, file: string) => void) | undefined>;
  _resolveFilename(request: string, parent: { readonly filename?: string } | undefined, ...rest: unknown[]): string;
}

/** Registers the hooks. */
export function register(): void {
  const text = (name: string) => parameters.get(name) ?? "";
  const tsx = text("tsx");
  // Processes that the actors start themselves inherit the options with which the program was started.
  process.execArgv.unshift(...(JSON.parse(text("execArgv") || "[]") as string[]));
  const nodeOptions = parameters.get("nodeOptions");
  if (nodeOptions !== null) process.env["NODE_OPTIONS"] = nodeOptions;
  process.setSourceMapsEnabled(true);
  const data: HooksData = {
    tsxHooks: `${tsx}dist/esm/index.mjs`,
    tsxFolder: tsx,
    identity: [text("versions"), process.version, isInspected(), process.env["NODE_V8_COVERAGE"] ?? ""].join(" "),
    tsconfig: process.env["TSX_TSCONFIG_PATH"] || undefined,
    folder: process.cwd(),
  };
  catchCommonJs(() => require(fileURLToPath(`${tsx}dist/cjs/index.cjs`)));
  registerHooks("./hooks.js", { parentURL: import.meta.url, data });
}

/** tsx keeps sources in source maps for the debugger. */
function isInspected(): boolean {
  return `${process.execArgv} ${process.env["NODE_OPTIONS"]}`.includes("--inspect");
}

/**
 * Notices `require` of a TypeScript file, and of a file that only tsx finds, and then has tsx change `require`.
 * @param load has tsx do so
 */
function catchCommonJs(load: () => void): void {
  const loader = Module as unknown as CommonJsLoader;
  const { _extensions: extensions, _resolveFilename: find } = loader;
  const caught = [".ts", ".tsx", ".jsx", ".mts", ".cts"].map((name) => [name, extensions[name]] as const);
  let isLoaded = false;
  const loadOnce = () => {
    if (isLoaded) return;
    isLoaded = true;
    for (const [name, before] of caught) {
      if (before === undefined) delete extensions[name];
      else extensions[name] = before;
    }
    load();
  };
  for (const [name] of caught) {
    extensions[name] = (module, file) => {
      loadOnce();
      (extensions[name] ?? extensions[".js"]!)(module, file);
    };
  }
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
