/**
 * Stores the states of the files that the last run read and wrote, in `.viceroy/state.json`, which is not committed. If
 * no file has changed, `compile` has nothing to do and does not load the compiler. If the state is missing, damaged or
 * of another version, everything is compiled again.
 */
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import type { Config } from "../config/index.js";
import { packageRoot } from "../installation.js";
import { confirmFileStates, type FileState, haveStamps, readFileStates } from "./file-state.js";
import { glob } from "./glob.js";
import { writeAtomically } from "./write-output.js";

export const stateFile = ".viceroy/state.json";

interface TreeState {
  readonly version: string;
  /** The time stamp of the build. It differs for another build of the same version, which developers of Viceroy install. */
  readonly build: number;
  /** The config, which is valid while its file is unchanged. */
  readonly config: Omit<Config, "root">;
  /** All files that were read and written, in the order of `namesOf`. */
  readonly files: readonly FileState[];
  readonly outputs: readonly string[];
  /** The absolute paths of the files beside the project on which the output depends: contracts of other packages and settings. */
  readonly externals: readonly string[];
}

/**
 * Returns whether no file has changed, as far as can be seen without reading the files. False does not mean that one
 * has changed: `configOfUnchangedTree` looks closer.
 * @param version the version of Viceroy
 */
export function isUntouchedTree(configFile: string, version: string): boolean {
  const root = path.dirname(configFile);
  const state = readState(configFile, version);
  return state !== undefined && haveStamps(root, state.files);
}

/**
 * Returns the config of an unchanged tree, or undefined if a file has changed.
 * @param version the version of Viceroy
 * @param refresh whether the stored state may be replaced by one with which the next call is faster
 */
export async function configOfUnchangedTree(
  configFile: string,
  version: string,
  { refresh = false }: { readonly refresh?: boolean } = {},
): Promise<Config | undefined> {
  const root = path.dirname(configFile);
  const state = readState(configFile, version);
  if (state === undefined) return undefined;
  const files = await confirmFileStates(root, state.files, stateFile);
  if (files === undefined) return undefined;
  if (refresh && files !== state.files) storeIfPossible(root, { ...state, files });
  return { ...state.config, root };
}

/** Returns the stored state if it belongs to this build, and if the tree has the same files. Their contents can differ. */
function readState(configFile: string, version: string): TreeState | undefined {
  const root = path.dirname(configFile);
  try {
    const state = JSON.parse(readFileSync(path.join(root, stateFile), "utf8")) as TreeState;
    if (state.version !== version || state.build !== buildTime()) return undefined;
    if (state.config.file !== path.basename(configFile)) return undefined;
    const names = namesOf({ ...state.config, root }, state.outputs, state.externals);
    const isSame =
      names.length === state.files.length && names.every((name, index) => name === state.files[index]?.name);
    return isSame ? state : undefined;
  } catch {
    return undefined;
  }
}

/** The build writes the package.json of the compiler. */
function buildTime(): number {
  return statSync(path.join(packageRoot(), "package.json")).mtimeMs;
}

/**
 * Stores the state after a run without diagnostics. `outputs` are relative to the folder of the config, and `externals`
 * are absolute.
 */
export async function rememberTree(
  config: Config,
  version: string,
  outputs: readonly string[],
  externals: readonly string[] = [],
): Promise<void> {
  const { root, ...rest } = config;
  if (!isSelfContainedConfig(readFileSync(path.join(root, config.file), "utf8"))) return;
  const files = await readFileStates(root, namesOf(config, outputs, externals), stateFile);
  storeState(root, { version, build: buildTime(), config: rest, files, outputs, externals });
}

function storeState(root: string, state: TreeState): void {
  writeAtomically(path.join(root, stateFile), JSON.stringify(state));
}

/** The tree can be one that this user may not write. */
function storeIfPossible(root: string, state: TreeState): void {
  try {
    storeState(root, state);
  } catch {
    // The next call compares the contents again.
  }
}

/** Returns whether a config imports no files of the project. Such files could change without a change of the config. */
function isSelfContainedConfig(text: string): boolean {
  const specifiers = [...text.matchAll(/(?:from|import|require\s*\()\s*["']([^"']+)["']/g)].map(([, from]) => from);
  return specifiers.every((from) => from === "viceroy/compiler") && !/\b(process|import\s*\()/.test(text);
}

/**
 * Returns the files that match `patterns`, relative to the folder of the config, sorted, without generated files and
 * dependencies.
 */
export function matchingFiles(config: Config, patterns: readonly string[]): readonly string[] {
  return glob(config.root, patterns, [config.out, ".viceroy"]);
}

/** Returns all files on which a run depends. The lock is last: it is written last, and only older files have a stamp. */
function namesOf(config: Config, outputs: readonly string[], externals: readonly string[]): readonly string[] {
  const inputs = [...matchingFiles(config, config.schemas), ...matchingFiles(config, config.actors)];
  return [config.file, "package.json", ...inputs, ...outputs, ...externals, config.lock];
}
