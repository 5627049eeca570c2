/**
 * A prepared program: the modules of a program that runs with tsx, as JavaScript files in the cache of this user, which
 * Node.js loads without hooks. `prepare.ts` writes them. A prepared program is used only while none of the files has
 * changed from which it was made, and no file has appeared that one of its imports would find first.
 */
import { lstatSync, readFileSync, type Stats, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { fnv1aText } from "../../../shared/hash/fnv1a.js";
import { cacheDirectory, isPrivate, readPrivateFile, writePrivateFile } from "../../cache/private-files.js";
import type { TreeLayout } from "./tree-layout.js";

/** The beginning of the key of an ES module that a CommonJS module requires, before its URL. */
export const requiredPrefix = "require:";

/** Everything that decides what the prepared modules contain, except the files of the program. */
export interface ProgramSource {
  /** The URLs of the modules that processes load first: registries and the bootstrap module. */
  readonly roots: readonly string[];
  /** The URL of the package tsx, with a slash at its end. */
  readonly tsx: string;
  /** The versions and options that decide how tsx finds and transforms modules. */
  readonly identity: string;
  /** The path of `prepare.js`, which differs between builds of Viceroy. */
  readonly script: string;
  /** The file that `TSX_TSCONFIG_PATH` names. */
  readonly tsconfig: string | undefined;
  /** The working directory, from which tsx looks for `tsconfig.json`. */
  readonly folder: string;
  /** The tree of files of which the prepared modules will be a part; undefined if they are for this machine. */
  readonly tree?: TreeLayout;
}

/** A file from which a program was prepared: its path, its stamp, and the hash of its content. */
export type Input = readonly [path: string, stamp: string, hash: string];

/** The description of a prepared program, stored as JSON. */
export interface Manifest {
  readonly inputs: readonly Input[];
  /** Paths that do not exist. An import would find a file there first. */
  readonly absent: readonly string[];
  /** The name of the folder of the prepared modules. */
  readonly folder: string;
  /** The file names in the folder, by the keys of the modules: their URLs, with {@link requiredPrefix} before some. */
  readonly modules: Readonly<Record<string, string>>;
  /** Why the program cannot be prepared; tsx itself loads it. */
  readonly failure?: string;
}

/** Number of files and folders in the directory, of all programs, that are kept regardless of their age. */
const filesKept = 10_000;
/** Time in ms after which the last use of a program is recorded again. */
const useRecordedMs = 24 * 3600 * 1000;
/**
 * Time in ms for which the stamp of a changed file says nothing: file systems record times with this resolution at
 * worst, so a second change could leave the stamp as it is.
 */
const resolutionMs = 1000;

/** Returns the directory of prepared programs. It is not a folder inside of another one, whose owner could exchange it. */
export function programDirectory(): string {
  return `${cacheDirectory()}-typescript`;
}

/** Returns the path of the manifest of a program. */
export function manifestFile({ roots, tsx, identity, script, tsconfig = "", folder, tree }: ProgramSource): string {
  const { size, mtimeMs } = statSync(script);
  const layout = tree === undefined ? "" : JSON.stringify(tree);
  const key = [...roots, tsx, identity, script, size, mtimeMs, tsconfig, folder, layout];
  return join(programDirectory(), `${fnv1aText(key.join("\0"))}.json`);
}

/**
 * Reads a prepared program.
 * @returns undefined if there is none, or if it is out of date
 */
export function readProgram(file: string): Manifest | undefined {
  const text = readPrivateFile(file);
  if (text === undefined) return undefined;
  let manifest: Manifest;
  try {
    manifest = JSON.parse(text.toString()) as Manifest;
  } catch {
    return undefined;
  }
  if (!manifest.absent.every((path) => statSync(path, { throwIfNoEntry: false }) === undefined)) return undefined;
  const inputs = manifest.inputs.map(check);
  if (inputs.includes(undefined) || !isIntact(manifest)) return undefined;
  if (inputs.some((input, i) => input !== manifest.inputs[i])) {
    writeManifest(file, { ...manifest, inputs: inputs as Input[] });
  } else recordUse(file, manifest);
  return manifest;
}

export function writeManifest(file: string, manifest: Manifest): void {
  writePrivateFile(file, Buffer.from(JSON.stringify(manifest)), filesKept);
}

/** Describes a file with this content. The content was read after the status. */
export function describeInput(path: string, status: Stats, content: Buffer): Input {
  return [path, stampOf(status), fnv1aText(content.toString("latin1"))];
}

/** Returns the input with its present stamp, or undefined if its content has changed. */
function check(input: Input): Input | undefined {
  const [path, stamp, hash] = input;
  const status = statSync(path, { throwIfNoEntry: false });
  if (status === undefined) return undefined;
  if (stamp !== "" && stamp === stampOf(status)) return input;
  try {
    const [, present, presentHash] = describeInput(path, status, readFileSync(path));
    if (presentHash !== hash) return undefined;
    return present === stamp ? input : [path, present, hash];
  } catch {
    return undefined;
  }
}

function stampOf({ size, mtimeMs, ctimeMs, ino }: Stats): string {
  return Date.now() - ctimeMs < resolutionMs ? "" : `${size} ${mtimeMs} ${ctimeMs} ${ino}`;
}

/** Returns whether all modules exist, and no other user could have written one. */
function isIntact({ folder, modules, failure }: Manifest): boolean {
  if (failure !== undefined) return true;
  const directory = join(programDirectory(), folder);
  return arePrivate(directory, Object.values(modules));
}

/** Returns whether all files exist in a directory, and no other user could have written one. */
export function arePrivate(directory: string, names: readonly string[]): boolean {
  try {
    return isPrivate(lstatSync(directory)) && names.every((name) => isPrivateFile(join(directory, name)));
  } catch {
    return false;
  }
}

function isPrivateFile(file: string): boolean {
  const status = lstatSync(file);
  return status.isFile() && isPrivate(status);
}

/** Records that a program is in use, so that it is not removed. */
function recordUse(file: string, { folder, failure }: Manifest): void {
  try {
    const now = new Date();
    if (now.getTime() - statSync(file).mtimeMs < useRecordedMs) return;
    utimesSync(file, now, now);
    if (failure === undefined) utimesSync(join(programDirectory(), folder), now, now);
  } catch {
    // The program is used nevertheless.
  }
}
