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

/**
 * Opens a resolver. It caches results, so each compilation opens its own.
 *
 * @param onMissing called with each file and folder that an import without a result could have been
 */
export function openModuleResolver(onMissing: (path: string) => void = () => {}): ResolveModule {
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
  let missing: string[] = [];
  const noting = (exists: (path: string) => boolean) => (path: string) => {
    const found = exists(path);
    if (!found) missing.push(path);
    return found;
  };
  const host = {
    ...ts.sys,
    fileExists: noting(ts.sys.fileExists),
    directoryExists: noting(ts.sys.directoryExists),
  };
  return (importer, specifier) => {
    missing = [];
    const { resolvedModule } = ts.resolveModuleName(specifier, importer, options, host, cache);
    if (resolvedModule === undefined) missing.forEach(onMissing);
    return resolvedModule?.resolvedFileName;
  };
}
