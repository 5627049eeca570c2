/** The formats of modules, by the names of their files and their packages. */
import { readFileSync, statSync } from "node:fs";
import { dirname, extname, join, sep } from "node:path";

export const typeScriptFile = /\.(?:[cm]?ts|tsx|jsx)$/;

export type Format = "module" | "commonjs" | "json";

/** Returns the format of a file; undefined if its extension is not that of a module. */
export function formatOf(path: string): Format | undefined {
  const extension = extname(path);
  if (extension === ".mts" || extension === ".mjs") return "module";
  if (extension === ".cts" || extension === ".cjs") return "commonjs";
  if (extension === ".json") return "json";
  if (![".ts", ".tsx", ".jsx", ".js"].includes(extension)) return undefined;
  return packageType(dirname(path));
}

/** Returns the manifests that decide the format of a file, from its folder upwards, whether they exist or not. */
export function manifestsOf(path: string): string[] {
  const manifests: string[] = [];
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    manifests.push(manifest);
    const isLast = dirname(folder) === folder || folder.endsWith(`${sep}node_modules`);
    if (isLast || isFile(manifest)) return manifests;
  }
}

export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

const packageTypes = new Map<string, "module" | "commonjs">();

function packageType(folder: string): "module" | "commonjs" {
  let type = packageTypes.get(folder);
  if (type === undefined) {
    type = readPackageType(manifestsOf(join(folder, "file")).at(-1)!);
    packageTypes.set(folder, type);
  }
  return type;
}

function readPackageType(manifest: string): "module" | "commonjs" {
  try {
    return (JSON.parse(readFileSync(manifest, "utf8")) as { type?: unknown }).type === "module" ? "module" : "commonjs";
  } catch {
    return "commonjs";
  }
}
