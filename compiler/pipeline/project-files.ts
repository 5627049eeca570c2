/** Reads the files of a project: the package name, the schema files and the lock. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { type Config, ConfigError } from "../config/index.js";
import { type Diagnostic, diagnostic } from "../diagnostics/index.js";
import { type Lock, parseLock } from "../lock/index.js";
import { generatedFiles, matchingFiles } from "../output/index.js";
import type { SourceText } from "../source/type-source.js";
import { lockDiagnostic } from "./lock-diagnostics.js";

/**
 * Returns the name of the package that contains the project: the name in the nearest package.json with a name, in the
 * folder of the config or above it.
 * @throws ConfigError if there is none, or it cannot be read; every id contains the name
 */
export function packageName(config: Pick<Config, "root" | "file">): string {
  for (let folder = config.root; ; folder = path.dirname(folder)) {
    const name = nameIn(path.join(folder, "package.json"));
    if (name !== undefined) return name;
    if (folder === path.dirname(folder)) break;
  }
  throw new ConfigError(
    `cannot use the project: expected a package.json with a "name", which is part of every id, beside ${config.file} ` +
      "or above it, got none. Run `npm init`",
  );
}

function nameIn(file: string): string | undefined {
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  try {
    const { name } = JSON.parse(text) as { name?: unknown };
    return typeof name === "string" && name !== "" ? name : undefined;
  } catch (error) {
    throw new ConfigError(`cannot read ${file}: ${(error as Error).message}`);
  }
}

export interface SchemaTexts {
  readonly texts: readonly SourceText[];
  readonly diagnostics: readonly Diagnostic[];
}

export function readSchemaTexts(config: Config): SchemaTexts {
  const texts: SourceText[] = [];
  const diagnostics: Diagnostic[] = [];
  const files = matchingFiles(config, config.schemas);
  for (const file of files) {
    try {
      texts.push({ path: file, text: decode(readFileSync(path.join(config.root, file))) });
    } catch (error) {
      const why = error instanceof TypeError ? "it is not UTF-8" : (error as Error).message;
      diagnostics.push(diagnostic("VC1010", { file, line: 1, column: 1 }, { file, why }));
    }
  }
  if (files.length === 0 && config.schemas.length > 0) {
    const patterns = config.schemas.join(", ");
    diagnostics.push(diagnostic("VC1007", { file: config.file, line: 1, column: 1 }, { patterns }));
  }
  return { texts, diagnostics };
}

/** @throws TypeError for bytes that are not UTF-8, which would be replaced silently otherwise */
function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

export interface LockOnDisk {
  /** The lock, or undefined if there is none yet. */
  readonly lock: Lock | undefined;
  /** The text on disk. */
  readonly text: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** @param before the previous result, which is returned if the text is the same */
export function readLock(config: Config, before?: LockOnDisk): LockOnDisk {
  const text = readIfThere(path.join(config.root, config.lock));
  if (text !== undefined && text === before?.text) return before;
  if (text !== undefined) {
    const { lock, problems } = parseLock(config.lock, text);
    return { lock, text, diagnostics: problems.map(lockDiagnostic) };
  }
  if (config.schemas.length === 0) return { lock: undefined, text, diagnostics: [] };
  // Generated code without a lock is an error: a new lock would assign other ids to members that are in use.
  if (generatedFiles(config.root, config.out).length === 0) return { lock: undefined, text, diagnostics: [] };
  const at = { file: config.lock, line: 1, column: 1 };
  return { lock: undefined, text, diagnostics: [diagnostic("VC2006", at, { lock: config.lock, out: config.out })] };
}

export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
