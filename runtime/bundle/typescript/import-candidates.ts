/**
 * The files that an import may name in TypeScript as tsx understands it. tsx decides which one it is. A prepared program
 * remembers the ones that do not exist, because a new one may come before the module that was found.
 */
import { statSync } from "node:fs";
import { dirname, extname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isFile, manifestsOf } from "./module-format.js";
import { pathsOfAlias, type TypeScriptConfig } from "./tsconfig.js";

const extensions = [".ts", ".tsx", ".js", ".jsx", ".json"];
/** The extensions that an import with a given extension may mean. */
const substitutes: Readonly<Record<string, readonly string[]>> = {
  ".js": [".ts", ".tsx", ".js", ".jsx"],
  ".jsx": [".tsx", ".ts", ".jsx", ".js"],
  ".cjs": [".cts", ".cjs"],
  ".mjs": [".mts", ".mjs"],
};
const exact = new Set([".ts", ".tsx", ".mts", ".cts", ".json", ".node"]);

/** Returns the paths that decide what an import finds. */
export function importCandidates(specifier: string, parent: string, config: TypeScriptConfig): string[] {
  if (specifier.startsWith("file:")) return fileCandidates(fileURLToPath(specifier));
  if (isAbsolute(specifier)) return fileCandidates(specifier);
  if (/^\.\.?(?:\/|$)/.test(specifier)) return fileCandidates(join(dirname(parent), specifier));
  if (/^[a-z][\w+.-]*:/i.test(specifier)) return [];
  const own = manifestsOf(parent);
  if (specifier.startsWith("#")) return own;
  return [...own, ...pathsOfAlias(config, specifier).flatMap(fileCandidates), ...packageCandidates(specifier, parent)];
}

function fileCandidates(path: string): string[] {
  const extension = extname(path);
  if (exact.has(extension)) return [path];
  const replaced = substitutes[extension];
  if (replaced !== undefined) return replaced.map((other) => path.slice(0, -extension.length) + other);
  const added = extensions.map((other) => path + other);
  if (!isFolder(path)) return [path, ...added];
  return [...added, join(path, "package.json"), ...extensions.map((other) => join(path, `index${other}`))];
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Returns the manifests of a package from the folder of the importing module upwards, up to the first one that exists. */
function packageCandidates(specifier: string, parent: string): string[] {
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  const manifests: string[] = [];
  for (let folder = dirname(parent); ; folder = dirname(folder)) {
    const manifest = join(folder, "node_modules", name, "package.json");
    manifests.push(manifest);
    if (isFile(manifest) || dirname(folder) === folder) return manifests;
  }
}
