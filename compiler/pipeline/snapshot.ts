/**
 * Reads a project from a commit or from another folder into memory, as far as its schemas need it. This module writes
 * no files.
 */
import { existsSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import {
  type Config,
  ConfigError,
  configNames,
  evaluateConfig,
  findConfig,
  loadConfig,
  type Transpile,
} from "../config/index.js";
import { contractFile } from "../contracts/index.js";
import type { Diagnostic } from "../diagnostics/index.js";
import { GitError, type GitFile, GitRepository } from "../git/index.js";
import { matcher } from "../output/glob.js";
import type { SourceText } from "../source/index.js";
import { packageName, readIfThere, readSchemaTexts } from "./project-files.js";

export interface Snapshot {
  /** The name for messages: `HEAD~1`, `../older`. */
  readonly name: string;
  readonly config: Config;
  readonly package: string;
  readonly schemas: readonly SourceText[];
  readonly lock: string;
  /** Returns whether the snapshot has a file. */
  exists(file: string): boolean;
  /** The files of other packages at that time. Absent: as they are on the disk. */
  readonly foreign?: ForeignFiles;
  readonly diagnostics: readonly Diagnostic[];
}

/** The files of other packages in a commit. Paths are absolute. */
export interface ForeignFiles {
  /** Returns whether the commit has the contract of the package that contains the file. */
  has(file: string): boolean;
  /** Reads a file of the commit, or of the disk if the commit does not have the contract of its package. */
  read(file: string): string | undefined;
}

/**
 * @param against a folder with a project, or a git ref; a folder takes precedence
 * @param current the project with which the snapshot is compared
 * @throws ConfigError if there is no such folder or ref, or it has no project or no lock
 */
export function takeSnapshot(against: string, current: Config, transpile: Transpile): Snapshot {
  const folder = path.resolve(against);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return snapshotOfFolder(against, folder, transpile);
  try {
    return snapshotOfCommit(against, current, transpile);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new ConfigError(
      `cannot compare with "${against}": it is not a folder, and ${error.message}. Use a git ref, such as origin/main or HEAD~1, or a folder with a project`,
      { cause: error },
    );
  }
}

function snapshotOfFolder(name: string, folder: string, transpile: Transpile): Snapshot {
  const config = loadConfig(findConfig(folder), transpile);
  const { texts, diagnostics } = readSchemaTexts(config);
  const lock = readIfThere(path.join(folder, config.lock));
  if (lock === undefined) throw noLock(name, config.lock);
  const exists = (file: string) => existsSync(path.join(folder, file));
  return { name, config, package: packageName(config), schemas: texts, lock, exists, diagnostics };
}

function snapshotOfCommit(ref: string, current: Config, transpile: Transpile): Snapshot {
  const repository = GitRepository.open(current.root);
  const commit = repository.commit(ref);
  const files = new Set(repository.files(commit));
  const file = configNames.find((name) => files.has(name));
  if (file === undefined) {
    throw new ConfigError(
      `cannot compare with "${ref}": it has no config in ${current.root}, expected ${configNames[0]}. Use a later ref`,
    );
  }
  const text = (name: string) => repository.read(commit, name) ?? "";
  const config = evaluateConfig(path.join(current.root, file), text(file), transpile);
  if (!files.has(config.lock)) throw noLock(ref, config.lock);
  const isSchema = matcher(config.schemas);
  const isGenerated = (name: string) => name.startsWith(`${config.out}/`);
  const schemas = repository.readAll(commit, (name) => isSchema(name) && !isGenerated(name));
  return {
    name: ref,
    config,
    package: packageThen(files, text) ?? packageName(current),
    schemas: schemas.map(({ path: name, text: content }: GitFile) => ({ path: name, text: content })),
    lock: text(config.lock),
    exists: (name) => files.has(name),
    foreign: foreignFiles(repository, commit),
    diagnostics: [],
  };
}

function foreignFiles(repository: GitRepository, commit: string): ForeignFiles {
  // Found on first use, because most projects use no other packages.
  let found: { readonly whole: GitRepository; readonly packages: readonly string[] } | undefined;
  const nameOf = (file: string): string | undefined => {
    if (found === undefined) {
      const whole = GitRepository.open(realpathSync(repository.top));
      found = { whole, packages: packagesWithContract(whole.files(commit)) };
    }
    const name = path.relative(found.whole.folder, file).split(path.sep).join("/");
    return found.packages.some((folder) => name.startsWith(folder)) ? name : undefined;
  };
  return {
    has: (file) => nameOf(file) !== undefined,
    read(file) {
      const name = nameOf(file);
      return name === undefined ? readIfFile(file) : found?.whole.read(commit, name);
    },
  };
}

/** Returns the folders of the packages that have a contract, each with a slash at its end. */
function packagesWithContract(files: readonly string[]): readonly string[] {
  const manifests = new Set(files.filter((file) => path.posix.basename(file) === "package.json"));
  return files.flatMap((file) => {
    if (path.posix.basename(file) !== contractFile) return [];
    let folder = path.posix.dirname(file);
    while (folder !== "." && !manifests.has(`${folder}/package.json`)) folder = path.posix.dirname(folder);
    return folder === "." ? [] : [`${folder}/`];
  });
}

function readIfFile(file: string): string | undefined {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? readIfThere(file) : undefined;
}

function noLock(name: string, lock: string): ConfigError {
  return new ConfigError(
    `cannot compare with "${name}": it has no ${lock}, which contains the ids to compare. Use a version that contains it`,
  );
}

function packageThen(files: ReadonlySet<string>, text: (name: string) => string): string | undefined {
  if (!files.has("package.json")) return undefined;
  try {
    const { name } = JSON.parse(text("package.json")) as { readonly name?: unknown };
    return typeof name === "string" && name !== "" ? name : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the text of a file of the snapshot, for messages. */
export function snapshotText({ schemas, config, lock }: Snapshot, file: string): string | undefined {
  return file === config.lock ? lock : schemas.find((schema) => schema.path === file)?.text;
}
