/**
 * The part of a TypeScript configuration that decides how modules are transformed and found. It is read like tsx reads
 * it: `TSX_TSCONFIG_PATH`, or the nearest `tsconfig.json` above the working directory, with everything that it extends.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, isAbsolute, join, resolve } from "node:path";

/** A configuration with the files that it consists of. */
export interface TypeScriptConfig {
  /** The paths of all files. */
  readonly files: readonly string[];
  /** Paths at which a file would be used instead. */
  readonly absent: readonly string[];
  /** Why the configuration is not known here; tsx itself must then load the program. */
  readonly failure?: string;
  /** The folder against which names of modules are resolved. */
  readonly baseUrl: string | undefined;
  /** The aliases, with targets as absolute paths. */
  readonly paths: readonly PathAlias[];
  /** All compiler options. */
  readonly compilerOptions: Readonly<Record<string, unknown>>;
  /** Whether imports of JavaScript files also find TypeScript files. */
  readonly allowJs: boolean;
}

interface PathAlias {
  readonly prefix: string;
  /** The text after the star; undefined for an alias without a star. */
  readonly suffix: string | undefined;
  readonly targets: readonly string[];
}

interface RawConfig {
  readonly extends?: string | readonly string[];
  readonly compilerOptions?: {
    readonly baseUrl?: string;
    readonly paths?: Readonly<Record<string, readonly string[]>>;
    readonly allowJs?: boolean;
  };
}

/** Maximum number of files of a configuration. */
const maxFiles = 64;

/**
 * Reads the configuration.
 * @param file the file that `TSX_TSCONFIG_PATH` names
 */
export function readTypeScriptConfig(file: string | undefined, folder: string): TypeScriptConfig {
  const candidates = candidatesOf(file, folder);
  const index = candidates.findIndex((candidate) => existsSync(candidate));
  const absent = index === -1 ? candidates : candidates.slice(0, index);
  const files: string[] = [];
  try {
    return index === -1 ? { ...none, absent } : { ...readChain(candidates[index]!, files), files, absent };
  } catch (error) {
    return { ...none, files, absent, failure: `${candidates[index]}: ${(error as Error).message}` };
  }
}

/** Returns the file of the configuration, without what it extends; undefined if there is none. */
export function findTypeScriptConfig(file: string | undefined, folder: string): string | undefined {
  return candidatesOf(file, folder).find((candidate) => existsSync(candidate));
}

function candidatesOf(file: string | undefined, folder: string): string[] {
  return file === undefined ? upwards("tsconfig.json", folder) : [resolve(folder, file)];
}

const none: TypeScriptConfig = {
  files: [],
  absent: [],
  baseUrl: undefined,
  paths: [],
  compilerOptions: {},
  allowJs: false,
};

/** Returns the paths of a file of this name in a folder and all folders above it. */
function upwards(name: string, folder: string): string[] {
  const above = dirname(folder);
  return [join(folder, name), ...(above === folder ? [] : upwards(name, above))];
}

/**
 * @param files receives the paths of the files
 * @throws Error if a file is missing, malformed, or uses a feature that is not known here
 */
function readChain(file: string, files: string[]): TypeScriptConfig {
  if (files.length > maxFiles) throw new Error("the configurations extend each other");
  const text = readFileSync(file, "utf8");
  files.push(file);
  if (/\$\{configDir\}/.test(text)) throw new Error("templates are not known here");
  const { extends: bases = [], compilerOptions = {} } = JSON.parse(withoutComments(text)) as RawConfig;
  const { baseUrl, paths, allowJs } = compilerOptions;
  const folder = dirname(file);
  let config = none;
  for (const base of [bases].flat()) {
    const next = readChain(locateBase(base, file), files);
    config = {
      ...none,
      baseUrl: next.baseUrl ?? config.baseUrl,
      paths: next.paths.length > 0 ? next.paths : config.paths,
      compilerOptions: { ...config.compilerOptions, ...next.compilerOptions },
      allowJs: next.allowJs || config.allowJs,
    };
  }
  const ownBase = baseUrl === undefined ? config.baseUrl : resolve(folder, baseUrl);
  return {
    ...none,
    baseUrl: ownBase,
    paths: paths === undefined ? config.paths : Object.entries(paths).map(parseAlias(ownBase ?? folder)),
    compilerOptions: { ...config.compilerOptions, ...compilerOptions },
    allowJs: allowJs ?? config.allowJs,
  };
}

function locateBase(base: string, from: string): string {
  const isPath = base.startsWith(".") || isAbsolute(base);
  const candidates = isPath
    ? [base, `${base}.json`, join(base, "tsconfig.json")].map((path) => resolve(dirname(from), path))
    : [base, `${base}.json`, `${base}/tsconfig.json`];
  const { resolve: resolveFrom } = createRequire(from);
  for (const candidate of candidates) {
    if (!candidate.endsWith(".json")) continue;
    if (!isPath) {
      try {
        return resolveFrom(candidate);
      } catch {
        // The package has no such file; the next candidate is tried.
      }
    } else if (existsSync(candidate)) return candidate;
  }
  throw new Error(`cannot find ${base}`);
}

function parseAlias(base: string): (entry: [string, readonly string[]]) => PathAlias {
  return ([pattern, targets]) => {
    const [prefix = "", suffix] = pattern.split("*");
    return { prefix, suffix, targets: targets.map((target) => resolve(base, target)) };
  };
}

/**
 * Returns the files that an alias names, as absolute paths, in the order in which they are tried. The longest prefix
 * wins, as in TypeScript.
 */
export function pathsOfAlias({ paths, baseUrl }: TypeScriptConfig, specifier: string): readonly string[] {
  const exact = paths.find(({ prefix, suffix }) => suffix === undefined && prefix === specifier);
  if (exact !== undefined) return exact.targets;
  let best: PathAlias | undefined;
  for (const alias of paths) {
    const { prefix, suffix } = alias;
    if (suffix === undefined || specifier.length < prefix.length + suffix.length) continue;
    if (!specifier.startsWith(prefix) || !specifier.endsWith(suffix)) continue;
    if (best === undefined || prefix.length > best.prefix.length) best = alias;
  }
  if (best === undefined) return baseUrl === undefined ? [] : [join(baseUrl, specifier)];
  const star = specifier.slice(best.prefix.length, specifier.length - (best.suffix as string).length);
  return best.targets.map((target) => target.replace("*", () => star));
}

/** Removes comments and trailing commas, which JSON does not have. */
function withoutComments(text: string): string {
  const strings = /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
  const bare = text.replace(/^\uFEFF/, "").replace(strings, (part) => (part.startsWith('"') ? part : " "));
  return bare.replace(/"(?:\\.|[^"\\])*"|,(?=\s*[}\]])/g, (part) => (part === "," ? "" : part));
}
