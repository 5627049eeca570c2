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
import type { ProgramSource } from "./program.js";

/** The functions that prepared modules call. `rewrite-module.ts` writes the calls. */
export interface Mirror extends PreparedModules {
  /** Gives `import.meta` of a prepared module the properties of its source, and returns it. */
  meta(meta: ImportMeta, url: string): ImportMeta;
  /** Imports a module relative to a source. */
  import(url: string, specifier: unknown, options?: unknown): Promise<unknown>;
  /** Returns what a CommonJS module in TypeScript gets for a namespace that it imports: the exports of another such module. */
  interop(namespace: object): unknown;
  /**
   * Returns the `require` of a prepared CommonJS module.
   * @param own the function that Node.js gives to the prepared module
   * @param files the files next to the prepared module that it requires, by the specifiers of the source
   */
  require(url: string, own: NodeJS.Require, files: Readonly<Record<string, string>>): NodeJS.Require;
}

/** The file of the runtime that errors name as the importer, as in programs that are not prepared. */
const importer = new URL("../boot.cjs", import.meta.url).href;

/**
 * Installs the mirror of this thread.
 * @param modules the URLs of the prepared modules, by the URLs of their sources
 */
export function installMirror(modules: Readonly<Record<string, string>>, { tsx, tsconfig }: ProgramSource): void {
  const fixed = new WeakSet<ImportMeta>();
  let isLate = false;
  /** Registers the hooks of tsx, and before them one that finds the prepared modules. */
  const loadLate = () => {
    if (isLate) return;
    isLate = true;
    register(`${tsx}dist/esm/index.mjs`, { data: { tsconfig } });
    register("./mirror-hooks.js", { parentURL: import.meta.url, data: { modules } satisfies HooksData });
  };
  const mirror: Mirror = {
    meta(meta, url) {
      if (fixed.has(meta)) return meta;
      fixed.add(meta);
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
    import(url, given, options) {
      // Node.js converts the specifier, too, and rejects if that fails.
      const convert = async () => String(given);
      return convert().then((specifier) => {
        const prepared = locateRelative(modules, specifier, url);
        if (prepared !== undefined) return import(prepared);
        loadLate();
        return import(fromScheme(specifier, url), options as ImportCallOptions);
      });
    },
    interop(namespace) {
      const { default: exports } = namespace as { readonly default?: unknown };
      return typeof exports === "object" && exports !== null && "__esModule" in exports ? exports : namespace;
    },
    require(url, own, files) {
      const original = createRequire(url);
      const { resolve, cache, extensions, main } = original;
      const load = (id: string) => (Object.hasOwn(files, id) ? own(files[id]!) : original(id));
      return Object.assign(load, { resolve, cache, extensions, main });
    },
    locate: (url) => modules[url] ?? url,
    importForRuntime: (url) => mirror.import(importer, url),
  };
  (globalThis as { [key: symbol]: unknown })[mirrorKey] = mirror;
}

/** Returns the prepared module of a specifier that is a path or a URL. */
function locateRelative(modules: Readonly<Record<string, string>>, specifier: string, url: string): string | undefined {
  return /^(?:\.\.?\/|file:|\/)/.test(specifier) ? modules[new URL(specifier, url).href] : undefined;
}
