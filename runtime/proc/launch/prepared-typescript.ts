/**
 * Decides whether child processes of a program that runs with tsx load prepared modules instead of loading tsx and its
 * compiler (`runtime/bundle/typescript`). In all cases that are not known here, they load tsx.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const typescriptFile = /\.[cm]?tsx?$/;
const preloadOption = /^(?:--import|--loader|--experimental-loader|--require|-r)(?:=|$)/;
const tsxModule =
  /^(?:tsx(?:\/(?:esm|cjs))?|.*[\\/]tsx[\\/]dist[\\/](?:loader|preflight|esm[\\/]index|cjs[\\/]index)\.[cm]js)$/;

/** The options of a child process without those that load tsx. */
export interface InheritedTsx {
  readonly execArgv: readonly string[];
  /** `NODE_OPTIONS`; undefined if it does not load tsx. */
  readonly nodeOptions: string | undefined;
  /** The options that load tsx. */
  readonly removed: readonly string[];
  /** `NODE_OPTIONS` of this process, if it loads tsx. */
  readonly originalNodeOptions: string | undefined;
}

/**
 * Removes the options that load tsx.
 * @returns undefined if no option does so, or another option loads a module that may need tsx
 */
export function inheritedTsx(execArgv: readonly string[], nodeOptions = ""): InheritedTsx | undefined {
  const own = removeTsx(execArgv);
  const words = nodeOptions.split(/\s+/).filter((word) => word !== "");
  const inherited = removeTsx(words);
  if (own === undefined || inherited === undefined) return undefined;
  const changed = inherited.removed.length > 0;
  if (!changed && own.removed.length === 0) return undefined;
  return {
    execArgv: own.kept,
    nodeOptions: changed ? inherited.kept.join(" ") : undefined,
    removed: own.removed,
    originalNodeOptions: changed ? nodeOptions : undefined,
  };
}

function removeTsx(options: readonly string[]): { kept: string[]; removed: string[] } | undefined {
  const kept: string[] = [];
  const removed: string[] = [];
  for (let i = 0; i < options.length; i++) {
    const option = options[i]!;
    if (!preloadOption.test(option)) {
      kept.push(option);
      continue;
    }
    const equals = option.indexOf("=");
    const module = equals === -1 ? (options[i + 1] ?? "") : option.slice(equals + 1);
    if (!tsxModule.test(module)) return undefined;
    removed.push(option);
    if (equals === -1) removed.push(options[++i] ?? "");
  }
  return { kept, removed };
}

/**
 * Returns the URL of the module whose `register()` makes a process load prepared modules.
 * @param loader the URL of that module, without parameters
 * @param roots the URLs of the modules that processes load first: generated registries and the bootstrap module
 * @param tsx the options that were taken from the process
 * @returns undefined if no registry is in TypeScript, or the program has no tsx of a known form
 */
export function preparedLoaderUrl(
  loader: URL,
  roots: readonly string[],
  tsx: InheritedTsx | undefined,
): string | undefined {
  const source = roots.find((url) => typescriptFile.test(url));
  if (source === undefined) return undefined;
  const found = findTsx(source);
  if (found === undefined || !existsSync(loader)) return undefined;
  const url = new URL(loader);
  url.searchParams.set("tsx", found.folder);
  url.searchParams.set("versions", found.versions);
  for (const root of new Set(roots)) if (typescriptFile.test(root)) url.searchParams.append("root", root);
  if (tsx !== undefined && tsx.removed.length > 0) url.searchParams.set("execArgv", JSON.stringify(tsx.removed));
  if (tsx?.originalNodeOptions !== undefined) url.searchParams.set("nodeOptions", tsx.originalNodeOptions);
  return url.href;
}

interface FoundTsx {
  /** The URL of the package, with a slash at its end. */
  readonly folder: string;
  /** The versions of tsx and its compiler. */
  readonly versions: string;
}

const known = new Map<string, FoundTsx | undefined>();

function findTsx(registry: string): FoundTsx | undefined {
  if (!known.has(registry)) known.set(registry, locateTsx(registry));
  return known.get(registry);
}

function locateTsx(registry: string): FoundTsx | undefined {
  try {
    const manifest = createRequire(registry).resolve("tsx/package.json");
    const folder = dirname(manifest);
    const files = ["dist/esm/index.mjs", "dist/esm/api/index.cjs", "dist/cjs/index.cjs"];
    if (!files.every((file) => existsSync(join(folder, file)))) return undefined;
    const compiler = createRequire(manifest).resolve("esbuild/package.json");
    const versions = [manifest, compiler].map(versionIn).join(" ");
    return { folder: pathToFileURL(`${folder}/`).href, versions };
  } catch {
    return undefined;
  }
}

function versionIn(manifest: string): string {
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
