/** Resolves imports of packages as TypeScript does: by `node_modules`, and by `exports` of package.json. */
import type { ts as TypeScript } from "ts-morph";
import { loadCompiler } from "./load-compiler.js";

/**
 * Returns the file to which an import resolves, or undefined. Links are resolved, so that a package of a workspace is
 * found in its own folder. A declaration file stands for the JavaScript file beside it.
 *
 * @param importer the absolute path of the importing file
 */
export type ResolveModule = (importer: string, specifier: string) => string | undefined;

/** Opens a resolver. It caches results, so each compilation opens its own. */
export function openModuleResolver(): ResolveModule {
  const ts = loadCompiler();
  const options: TypeScript.CompilerOptions = {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    // Programs run on Node.js. JavaScript is a result, because a package can be without declarations.
    customConditions: ["node"],
    allowJs: true,
    types: [],
  };
  const cache = ts.createModuleResolutionCache(ts.sys.getCurrentDirectory(), (name) => name, options);
  return (importer, specifier) =>
    ts.resolveModuleName(specifier, importer, options, ts.sys, cache).resolvedModule?.resolvedFileName;
}
