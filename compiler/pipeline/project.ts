/** A project as it stands on disk: the package's name, the texts of its schema files, its lock. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { type Config, ConfigError } from "../config/index.js";
import { type Diagnostic, diagnostic } from "../diagnostics/index.js";
import { type Lock, parseLock } from "../lock/index.js";
import { filesOf, generatedFiles } from "../output/index.js";
import type { SourceText } from "../source/type-source.js";
import { lockDiagnostic } from "./lock-diagnostics.js";

/** @throws ConfigError without a package.json that has a name: it is part of every id */
export function packageName(config: Config): string {
  const file = path.join(config.root, "package.json");
  const text = readIfThere(file);
  let name: unknown;
  try {
    name = text === undefined ? undefined : (JSON.parse(text) as { name?: unknown }).name;
  } catch (error) {
    throw new ConfigError(`cannot read package.json: ${(error as Error).message}`);
  }
  if (typeof name === "string" && name !== "") return name;
  throw new ConfigError(
    `cannot use the project: package.json beside ${config.file} must have a "name", which is part of every id. Run \`npm init\``,
  );
}

export interface SchemaTexts {
  readonly texts: readonly SourceText[];
  readonly diagnostics: readonly Diagnostic[];
}

export function readSchemaTexts(config: Config): SchemaTexts {
  const texts: SourceText[] = [];
  const diagnostics: Diagnostic[] = [];
  const files = filesOf(config, config.schemas);
  for (const file of files) {
    try {
      texts.push({ path: file, text: readFileSync(path.join(config.root, file), "utf8") });
    } catch (error) {
      const why = (error as NodeJS.ErrnoException).code ?? String(error);
      diagnostics.push(diagnostic("VC1010", { file, line: 1, column: 1 }, { file, why }));
    }
  }
  if (files.length === 0) {
    const patterns = config.schemas.join(", ");
    diagnostics.push(diagnostic("VC1007", { file: config.file, line: 1, column: 1 }, { patterns }));
  }
  return { texts, diagnostics };
}

export interface ReadLock {
  /** Undefined: there is none yet. */
  readonly lock: Lock | undefined;
  /** As it stands on disk. */
  readonly text: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

export function readLock(config: Config): ReadLock {
  const text = readIfThere(path.join(config.root, config.lock));
  if (text !== undefined) {
    const { lock, problems } = parseLock(config.lock, text);
    return { lock, text, diagnostics: problems.map(lockDiagnostic) };
  }
  // A fresh start beside generated code would give other ids to what is in use.
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
