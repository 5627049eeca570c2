/**
 * What the last run read and wrote, as hashes, in `.viceroy/state.json`, which is not committed. When everything is as it
 * was, `compile` has nothing to do and loads no compiler. A state that is missing, damaged or of another version means
 * nothing but that work is done again.
 */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../config/index.js";
import { glob } from "./glob.js";
import { writeAtomically } from "./write-output.js";

export const stateFile = ".viceroy/state.json";

/** Changes when another build of the same version is installed, as happens to those who develop Viceroy. */
const build = statSync(fileURLToPath(import.meta.url)).mtimeMs;

interface TreeState {
  readonly version: string;
  readonly build: number;
  /** What the config said; valid while its file is as it was. */
  readonly config: Omit<Config, "root">;
  /** One hash over the names and contents of all files read and written. */
  readonly tree: string;
  readonly outputs: readonly string[];
}

/**
 * The config of an unchanged tree; undefined when anything differs.
 * @param version of Viceroy
 */
export function configOfUnchangedTree(configFile: string, version: string): Config | undefined {
  const root = path.dirname(configFile);
  try {
    const state = JSON.parse(readFileSync(path.join(root, stateFile), "utf8")) as TreeState;
    if (state.version !== version || state.build !== build) return undefined;
    if (state.config.file !== path.basename(configFile)) return undefined;
    const config = { ...state.config, root };
    return hashTree(config, state.outputs) === state.tree ? config : undefined;
  } catch {
    return undefined;
  }
}

/** To be called after a run without any diagnostic. `outputs`: relative to the root. */
export function rememberTree(config: Config, version: string, outputs: readonly string[]): void {
  const file = path.join(config.root, config.file);
  if (!isSelfContainedConfig(readFileSync(file, "utf8"))) return;
  const { root, ...rest } = config;
  const state: TreeState = { version, build, config: rest, tree: hashTree(config, outputs), outputs };
  writeAtomically(path.join(root, stateFile), JSON.stringify(state));
}

/** A config that imports files of its own can change without changing. */
function isSelfContainedConfig(text: string): boolean {
  const specifiers = [...text.matchAll(/(?:from|import|require\s*\()\s*["']([^"']+)["']/g)].map(([, from]) => from);
  return specifiers.every((from) => from === "viceroy/compiler") && !/\b(process|import\s*\()/.test(text);
}

/** Files that `patterns` mean, relative to `root`, sorted; without what the compiler itself writes, and dependencies. */
export function matchingFiles(config: Config, patterns: readonly string[]): readonly string[] {
  return glob(config.root, patterns, [config.out, ".viceroy"]);
}

function hashTree(config: Config, outputs: readonly string[]): string {
  const inputs = [...matchingFiles(config, config.schemas), ...matchingFiles(config, config.actors)];
  const all = createHash("sha256");
  for (const file of [config.file, config.lock, "package.json", ...inputs, ...outputs]) {
    all.update(
      `${file}\n${createHash("sha256")
        .update(readOrEmpty(path.join(config.root, file)))
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
