/**
 * Finds modules as tsx does, for the imports that programs usually have: relative paths whose extension may be that of
 * the compiled file, and the aliases of a TypeScript configuration. It says when it does not know an import.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, extname, isAbsolute, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { pathsOfAlias, type TypeScriptConfig } from "./tsconfig.js";

export const typeScriptFile = /\.(?:[cm]?ts|tsx|jsx)$/;

/** The extensions that an import with a given extension may mean, in the order in which they are tried. */
const substitutes: Readonly<Record<string, readonly string[]>> = {
  ".js": [".ts", ".tsx", ".js", ".jsx"],
  ".jsx": [".tsx", ".ts", ".jsx", ".js"],
  ".cjs": [".cts", ".cjs"],
  ".mjs": [".mts", ".mjs"],
};
const written = new Set([".ts", ".tsx", ".mts", ".cts", ".json", ".node"]);
const omitted = [".ts", ".tsx", ".jsx", ".js", ".json"];

export type Format = "module" | "commonjs" | "json";

/** A module that was found. */
export interface FoundModule {
  readonly url: string;
  readonly format: Format;
}

/**
 * Finds the module that an import of a TypeScript module names.
 * @returns `"default"` if Node.js finds it in the same way, `"unknown"` if only tsx knows how to find it
 */
export function resolveModule(
  specifier: string,
  parentUrl: string | undefined,
  config: TypeScriptConfig,
): FoundModule | "default" | "unknown" {
  if (/[?#]/.test(specifier)) return specifier.startsWith("#") ? "default" : "unknown";
  const parent = parentUrl?.startsWith("file:") ? fileURLToPath(parentUrl) : undefined;
  if (isPath(specifier)) {
    if (parent === undefined) return specifier.startsWith("file:") ? findFile(fileURLToPath(specifier)) : "default";
    if (!typeScriptFile.test(parent)) return config.allowJs && !isDependency(parent) ? "unknown" : "default";
    return findFile(fileURLToPath(new URL(specifier, parentUrl)));
  }
  if (/^[a-z][\w+.-]*:/i.test(specifier)) return "default";
  if (parent === undefined || isDependency(parent)) return "default";
  for (const path of pathsOfAlias(config, specifier)) {
    const found = findFile(path);
    if (typeof found === "object" || existsSync(path)) return found;
  }
  return "default";
}

function isPath(specifier: string): boolean {
  return /^\.\.?(?:\/|$)/.test(specifier) || specifier.startsWith("file:") || isAbsolute(specifier);
}

function isDependency(path: string): boolean {
  return path.includes(`${sep}node_modules${sep}`);
}

function findFile(path: string): FoundModule | "unknown" {
  if (path.endsWith(sep)) return "unknown";
  const extension = extname(path);
  const replaced = substitutes[extension];
  const candidates = written.has(extension)
    ? [path]
    : replaced !== undefined
      ? replaced.map((other) => path.slice(0, -extension.length) + other)
      : omitted.map((added) => path + added);
  const found = candidates.find(isFile);
  if (found === undefined) return "unknown";
  const real = realpathSync(found);
  const format = formatOf(real);
  return format === undefined ? "unknown" : { url: pathToFileURL(real).href, format };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Returns the format of a file by its name and its package. */
export function formatOf(path: string): Format | undefined {
  const extension = extname(path);
  if (extension === ".mts" || extension === ".mjs") return "module";
  if (extension === ".cts" || extension === ".cjs") return "commonjs";
  if (extension === ".json") return "json";
  if (![".ts", ".tsx", ".jsx", ".js"].includes(extension)) return undefined;
  return packageType(dirname(path));
}

const packageTypes = new Map<string, "module" | "commonjs">();

function packageType(folder: string): "module" | "commonjs" {
  const known = packageTypes.get(folder);
  if (known !== undefined) return known;
  const type = readPackageType(folder);
  packageTypes.set(folder, type);
  return type;
}

function readPackageType(folder: string): "module" | "commonjs" {
  const manifest = join(folder, "package.json");
  if (isFile(manifest)) {
    try {
      return (JSON.parse(readFileSync(manifest, "utf8")) as { type?: unknown }).type === "module"
        ? "module"
        : "commonjs";
    } catch {
      return "commonjs";
    }
  }
  const above = dirname(folder);
  return above === folder || folder.endsWith(`${sep}node_modules`) ? "commonjs" : packageType(above);
}
