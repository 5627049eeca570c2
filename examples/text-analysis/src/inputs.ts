/** Turns command-line arguments into a list of files. A path that cannot be read is reported and does not stop the others. */
import { readdir, stat } from "node:fs/promises";
import path from "node:path";

export interface InputFile {
  readonly file: string;
  readonly size: number;
}

export interface Inputs {
  readonly files: readonly InputFile[];
  /** Paths that cannot be read, with the reason. The program then exits with code 1. */
  readonly errors: readonly string[];
  /** Files that were skipped, with the reason. */
  readonly notes: readonly string[];
}

/** Lists files, and the files in folders except hidden entries and `node_modules`. Each file appears once. */
export async function findFiles(paths: readonly string[]): Promise<Inputs> {
  const found = { files: [] as InputFile[], errors: [] as string[], notes: [] as string[] };
  const seen = new Set<string>();
  for (const given of paths) await visit(path.normalize(given), found, seen);
  return found;
}

interface Found {
  readonly files: InputFile[];
  readonly errors: string[];
  readonly notes: string[];
}

async function visit(file: string, found: Found, seen: Set<string>): Promise<void> {
  const absolute = path.resolve(file);
  if (seen.has(absolute)) return;
  seen.add(absolute);
  try {
    const { size, ...stats } = await kindOf(file);
    if (stats.isFolder) await visitFolder(file, found, seen);
    else if (!stats.isFile) found.notes.push(`${file}: neither a file nor a folder`);
    else if (size === 0) found.notes.push(`${file}: empty`);
    else found.files.push({ file: absolute, size });
  } catch (error) {
    found.errors.push(`cannot read ${file}: ${reasonOf(error)}`);
  }
}

async function kindOf(file: string) {
  const stats = await stat(file);
  return { isFolder: stats.isDirectory(), isFile: stats.isFile(), size: stats.size };
}

async function visitFolder(folder: string, found: Found, seen: Set<string>): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const { name } of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!name.startsWith(".") && name !== "node_modules") await visit(path.join(folder, name), found, seen);
  }
}

const reasons: Record<string, string> = {
  ENOENT: "there is no such file or folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ELOOP: "its symbolic links form a circle",
  ENOTDIR: "a part of its path is not a folder",
};

/** Returns the reason of a file system error as text for users. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return reasons[code ?? ""] ?? message;
}
