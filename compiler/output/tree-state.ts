/**
 * Stores hashes of the files that the last run read and wrote, in `.viceroy/state.json`, which is not committed. If no
 * file has changed, `compile` has nothing to do and does not load the compiler. If the state is missing, damaged or of
 * another version, everything is compiled again.
 */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../config/index.js";
import { glob } from "./glob.js";
import { writeAtomically } from "./write-output.js";

export const stateFile = ".viceroy/state.json";

/**
 * The time stamp of this build. It differs for another build of the same version, which developers of Viceroy install.
 */
const build = statSync(fileURLToPath(import.meta.url)).mtimeMs;

interface TreeState {
  readonly version: string;
  readonly build: number;
  /** The config, which is valid while its file is unchanged. */
  readonly config: Omit<Config, "root">;
  /** One hash of the names and contents of all files that were read and written. */
  readonly tree: string;
  readonly outputs: readonly string[];
  /** The absolute paths of the files beside the project on which the output depends: contracts of other packages and settings. */
  readonly externals: readonly string[];
}

/**
 * Returns the config of an unchanged tree, or undefined if a file has changed.
 * @param version the version of Viceroy
 */
export function configOfUnchangedTree(configFile: string, version: string): Config | undefined {
  const root = path.dirname(configFile);
  try {
    const state = JSON.parse(readFileSync(path.join(root, stateFile), "utf8")) as TreeState;
    if (state.version !== version || state.build !== build) return undefined;
    if (state.config.file !== path.basename(configFile)) return undefined;
    const config = { ...state.config, root };
    return hashTree(config, state.outputs, state.externals) === state.tree ? config : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Stores the state after a run without diagnostics. `outputs` are relative to the folder of the config, and `externals`
 * are absolute.
 */
export function rememberTree(
  config: Config,
  version: string,
  outputs: readonly string[],
  externals: readonly string[] = [],
): void {
  const file = path.join(config.root, config.file);
  if (!isSelfContainedConfig(readFileSync(file, "utf8"))) return;
  const { root, ...rest } = config;
  const tree = hashTree(config, outputs, externals);
  const state: TreeState = { version, build, config: rest, tree, outputs, externals };
  writeAtomically(path.join(root, stateFile), JSON.stringify(state));
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

function hashTree(config: Config, outputs: readonly string[], externals: readonly string[]): string {
  const inputs = [...matchingFiles(config, config.schemas), ...matchingFiles(config, config.actors)];
  const all = createHash("sha256");
  for (const file of [config.file, config.lock, "package.json", ...inputs, ...outputs, ...externals]) {
    all.update(
      `${file}\n${createHash("sha256")
        .update(readOrEmpty(path.resolve(config.root, file)))
        .digest("hex")}\n`,
    );
  }
  return all.digest("hex");
}

function readOrEmpty(file: string): Uint8Array | string {
  try {
    return readFileSync(file);
  } catch {
    return "(none)";
  }
}
