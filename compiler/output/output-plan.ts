/**
 * Plans the changes of the generated files on disk: files to write, and generated files that are no longer needed. A
 * file with the same bytes is not written, so that other tools do not rebuild.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { canBeGenerated, isGenerated } from "./generated-mark.js";

export interface OutputFile {
  /** The path relative to the folder of the config, with forward slashes. */
  readonly path: string;
  /** The content: a text or bytes. */
  readonly content: string | Uint8Array;
  /** Whether the file is a default. A file of that name that is not generated replaces it. */
  readonly isDefault?: boolean;
}

export interface OutputPlan {
  /** New files and files whose bytes differ. */
  readonly write: readonly (OutputFile & { readonly isNew: boolean })[];
  /** Generated files below the output folder that no declaration generates any more. Other files are never removed. */
  readonly remove: readonly string[];
  /** Files that are not generated and have the path of a generated file. They must not be overwritten. */
  readonly foreign: readonly string[];
}

/**
 * @param root the absolute path of the folder of the config
 * @param out the output folder, relative to `root`
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

/** Returns the generated files below `out` except `besides`, relative to `root`, sorted. */
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
