/**
 * What writing the generated files would change on disk: which files, and which of our own that no longer belong. A file
 * whose bytes are the same is left alone, so that nothing downstream rebuilds.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { canBeGenerated, isGenerated } from "./generated-mark.js";

export interface OutputFile {
  /** Relative to the config's root, with forward slashes. */
  readonly path: string;
  /** Of a text its text, else its bytes. */
  readonly content: string | Uint8Array;
  /** A default: a file of that name that somebody else has written stays, and takes its place. */
  readonly isDefault?: boolean;
}

export interface OutputPlan {
  /** New files, and those whose bytes differ. */
  readonly write: readonly (OutputFile & { readonly isNew: boolean })[];
  /** Generated files below the output folder that nothing generates any more. Others are never touched. */
  readonly remove: readonly string[];
  /** Files that stand where generated ones belong, and that nothing generated: they must not be overwritten. */
  readonly foreign: readonly string[];
}

/**
 * @param root of the config, absolute
 * @param out the output folder, relative to it
 */
export function planOutput(root: string, out: string, files: readonly OutputFile[]): OutputPlan {
  const foreign: string[] = [];
  const write = files.flatMap((file) => {
    const now = readIfThere(path.join(root, file.path));
    if (now !== undefined && !isGenerated(file.path, now)) {
      if (file.isDefault) return [];
      foreign.push(file.path);
    }
    return now?.equals(Buffer.from(file.content)) ? [] : [{ ...file, isNew: now === undefined }];
  });
  const wanted = new Set(files.map((file) => file.path));
  const remove = generatedFiles(root, out, wanted);
  return { write, remove, foreign };
}

/** Files below `out` that carry our mark, other than those `besides`; relative to `root`, sorted. */
export function generatedFiles(root: string, out: string, besides?: ReadonlySet<string>): readonly string[] {
  const folder = path.join(root, out);
  let names: readonly string[];
  try {
    names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    return [];
  }
  return names
    .filter(canBeGenerated)
    .map((name) => `${out}/${name.split(path.sep).join("/")}`)
    .filter((file) => {
      const bytes = besides?.has(file) ? undefined : readIfThere(path.join(root, file));
      return bytes !== undefined && isGenerated(file, bytes);
    })
    .sort();
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EISDIR") return undefined;
    throw error;
  }
}
