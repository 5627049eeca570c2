/** The files that a step copies: what is read of them, and the digest of their content. */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { optionError } from "../../check-option.js";
import { readDockerignore } from "./dockerignore.js";

/** A file of a step. */
export interface CopiedFile {
  /** The path in what is copied, with forward slashes; empty if a single file is copied. */
  readonly path: string;
  /** `link` for a symbolic link, whose content is its target. */
  readonly type: "file" | "link" | "folder";
  readonly isExecutable: boolean;
  readonly content: Buffer;
}

/** The files that a step copies. */
export interface CopySource {
  readonly from: string;
  readonly context?: string;
}

/** Maximum number of bytes that the steps of an image copy: the files are in ConfigMaps. */
export const maxCopied = 4 * 2 ** 20;

/** Folders that are never copied: npm and git make them. */
const leftOut = new Set(["node_modules", ".git"]);

/**
 * Reads a file, or all files of a folder, in the order of their paths.
 * @param source the file or folder, and the folder whose `.dockerignore` counts
 * @throws Error if a file cannot be read
 * @throws RangeError if the files have more bytes than steps can copy
 */
export function readCopied({ from, context }: CopySource): readonly CopiedFile[] {
  if (typeof from !== "string" || from === "" || from.includes("\0")) {
    throw optionError("copy of an image with the path of a file or folder", from);
  }
  try {
    return readTree(from, context);
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) throw error;
    throw new Error(`cannot copy ${from} into an image: ${errorMessage(error)}`, { cause: error });
  }
}

function readTree(from: string, context: string | undefined): CopiedFile[] {
  const ignore = context === undefined ? undefined : readDockerignore(context);
  const isIgnored = (path: string) => ignore?.isIgnored(relative(context!, join(from, path)).split(sep).join("/"));
  const files: CopiedFile[] = [];
  let total = 0;
  const add = (path: string) => {
    const isLeftOut = path !== "" && isIgnored(path) === true;
    if (isLeftOut && ignore?.hasExceptions !== true) return;
    const file = readFile(from, path, isLeftOut);
    total += file.content.length;
    if (total > maxCopied) throw sizeError(from);
    if (!isLeftOut) files.push(file);
    if (file.type !== "folder") return;
    const names = readdirSync(join(from, path)).filter((name) => !leftOut.has(name));
    for (const name of names.sort()) add(path === "" ? name : `${path}/${name}`);
  };
  add("");
  return files;
}

/** Returns the digest of files: of their paths, types and contents. */
export function contentDigest(files: readonly CopiedFile[]): string {
  const hash = createHash("sha256");
  for (const { path, type, isExecutable, content } of files) {
    hash.update(`${JSON.stringify([path, type, isExecutable, content.length])}\n`).update(content);
  }
  return hash.digest("hex");
}

/** @param isLeftOut whether only the type matters, because the file is not copied */
function readFile(from: string, path: string, isLeftOut: boolean): CopiedFile {
  // A symbolic link that the user names is followed.
  const file = path === "" ? realpathSync(from) : join(from, path);
  const stats = lstatSync(file);
  const isExecutable = (stats.mode & 0o100) !== 0 && stats.isFile();
  const nothing = Buffer.alloc(0);
  if (stats.isDirectory()) return { path, type: "folder", isExecutable, content: nothing };
  if (isLeftOut) return { path, type: "file", isExecutable, content: nothing };
  if (stats.isSymbolicLink()) return { path, type: "link", isExecutable, content: linkTarget(from, path) };
  if (!stats.isFile())
    throw new TypeError(`cannot copy ${file} into an image: it is ${kindOf(stats)}; copy files only`);
  if (stats.size > maxCopied) throw sizeError(from);
  return { path, type: "file", isExecutable, content: readFileSync(file) };
}

/** Returns the target of a symbolic link. @throws TypeError if it leads out of what is copied */
function linkTarget(from: string, path: string): Buffer {
  const file = join(from, path);
  const target = readlinkSync(file);
  const inside = relative(from, join(file, "..", target));
  if (isAbsolute(target) || inside === ".." || inside.startsWith(`..${sep}`)) {
    throw new TypeError(
      `cannot copy ${file} into an image: it is a symbolic link to ${target}, outside of ${from}; copy what it leads to instead`,
    );
  }
  return Buffer.from(target);
}

function kindOf(stats: Stats): string {
  if (stats.isSocket()) return "a socket";
  return stats.isFIFO() ? "a named pipe" : "a device";
}

function sizeError(from: string): RangeError {
  return new RangeError(
    `cannot copy ${from} into an image: its files have more than ${maxCopied / 2 ** 20} MiB, the limit for all files of an image; ` +
      'bring larger files with sync: { roots: ["…"] } of the job, or put them on a volume',
  );
}
