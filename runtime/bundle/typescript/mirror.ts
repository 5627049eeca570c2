/**
 * The functions that prepared modules call at run time. The modules lie in another folder than their sources, so `import.meta` and imports
 * whose targets are computed need the URL of the source. A module that was not prepared is loaded by tsx, which is
 * loaded into the process only then.
 */
import { createRequire, register } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { mirrorKey, type PreparedModules } from "../../proc/platform/prepared-modules.js";
import { fromScheme, type HooksData } from "./mirror-hooks.js";
import { type ProgramSource, requiredPrefix } from "./program.js";

/**
 * The functions that prepared modules call. `rewrite-module.ts` writes the calls. A prepared module is known by the name of its
 * file, because the folder of its source differs between machines.
 */
export interface Mirror extends PreparedModules {
  /** Gives `import.meta` of a prepared module the properties of its source, and returns it. */
  meta(meta: ImportMeta, name: string): ImportMeta;
  /** Returns what tsx makes of `import.meta` in a CommonJS module. */
  commonJsMeta(name: string): { readonly url: string; readonly filename: string; readonly dirname: string };
  /** Imports a module relative to the source of a prepared module. */
  import(name: string, specifier: unknown, options?: unknown): Promise<unknown>;
  /** Returns what a CommonJS module in TypeScript gets for a namespace that it imports: the exports of another such module. */
  interop(namespace: object): unknown;
  /**
   * Returns the `require` of a prepared CommonJS module.
   * @param own the function that Node.js gives to the prepared module
   * @param files the files next to the prepared module that it requires, by the specifiers of the source
   */
  require(name: string, own: NodeJS.Require, files: Readonly<Record<string, string>>): NodeJS.Require;
}

/** The file of the runtime that errors name as the importer, as in programs that are not prepared. */
const importer = new URL("../boot.cjs", import.meta.url).href;

/**
 * Installs the mirror of this thread.
 * @param modules the URLs of the prepared modules, by their keys
 */
export function installMirror(modules: Readonly<Record<string, string>>, { tsx, tsconfig }: ProgramSource): void {
  const fixed = new WeakSet<ImportMeta>();
  const sources = new Map(Object.entries(modules).map(([key, url]) => [nameIn(url), key.replace(requiredPrefix, "")]));
  const urlOf = (name: string) => sources.get(name) as string;
  let isLate = false;
  /** Registers the hooks of tsx, and before them one that finds the prepared modules. */
  const loadLate = () => {
    if (isLate) return;
    isLate = true;
    register(`${tsx}dist/esm/index.mjs`, { data: { tsconfig } });
    register("./mirror-hooks.js", { parentURL: import.meta.url, data: { modules } satisfies HooksData });
  };
  const importFrom: (url: string, given: unknown, options?: unknown) => Promise<unknown> = (url, given, options) => {
    // Node.js converts the specifier, too, and rejects if that fails.
    const convert = async () => String(given);
    return convert().then((specifier) => {
      const prepared = locateRelative(modules, specifier, url);
      if (prepared !== undefined) return import(prepared);
      loadLate();
      return import(fromScheme(specifier, url), options as ImportCallOptions);
    });
  };
  const mirror: Mirror = {
    meta(meta, name) {
      if (fixed.has(meta)) return meta;
      fixed.add(meta);
      const url = urlOf(name);
      const { resolve } = meta;
      const file = fileURLToPath(url);
      if ("filename" in meta) Object.assign(meta, { filename: file, dirname: dirname(file) });
      return Object.assign(meta, {
        url,
        resolve(specifier: string) {
          loadLate();
          const found = resolve(fromScheme(specifier, url));
          return Object.keys(modules).find((source) => modules[source] === found) ?? found;
        },
      });
    },
    commonJsMeta(name) {
      const url = urlOf(name);
      const filename = fileURLToPath(url);
      return { url, filename, dirname: dirname(filename) };
    },
    import: (name, specifier, options) => importFrom(urlOf(name), specifier, options),
    interop(namespace) {
      const { default: exports } = namespace as { readonly default?: unknown };
      return typeof exports === "object" && exports !== null && "__esModule" in exports ? exports : namespace;
    },
    require(name, own, files) {
      const original = createRequire(urlOf(name));
      const { resolve, cache, extensions, main } = original;
      const load = (id: string) => (Object.hasOwn(files, id) ? own(files[id]!) : original(id));
      return Object.assign(load, { resolve, cache, extensions, main });
    },
    locate: (url) => modules[url] ?? url,
    importForRuntime: (url) => importFrom(importer, url),
  };
  (globalThis as { [key: symbol]: unknown })[mirrorKey] = mirror;
}

/** Returns the name of the file of a prepared module. */
function nameIn(url: string): string {
  return fileURLToPath(url).replace(/^.*[\\/]/, "");
}

/** Returns the prepared module of a specifier that is a path or a URL. */
function locateRelative(modules: Readonly<Record<string, string>>, specifier: string, url: string): string | undefined {
  return /^(?:\.\.?\/|file:|\/)/.test(specifier) ? modules[new URL(specifier, url).href] : undefined;
}
