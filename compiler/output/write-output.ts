/**
 * Executes a plan. Each file is written beside its place and then renamed, so that no reader sees an incomplete file.
 */
import { mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { withPath } from "./file-error.js";
import type { OutputPlan } from "./output-plan.js";

/** @param root the absolute path of the folder of the config */
export function writeOutput(root: string, plan: OutputPlan): void {
  for (const { path: name, content } of plan.write) writeAtomically(path.join(root, name), content);
  for (const name of plan.remove) {
    rmSync(path.join(root, name), { force: true });
    removeEmptyFolders(root, path.dirname(name));
  }
}

/**
 * Writes a file atomically.
 * @throws errors for which `fileErrorText` has a text
 */
export function writeAtomically(file: string, content: string | Uint8Array): void {
  const beside = `${file}.${process.pid}.tmp`;
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(beside, content);
    renameSync(beside, file);
  } catch (error) {
    rmSync(beside, { force: true });
    throw withPath(error, file);
  }
}

function removeEmptyFolders(root: string, folder: string): void {
  if (folder === "." || folder === "") return;
  try {
    rmdirSync(path.join(root, folder));
  } catch {
    return;
  }
  removeEmptyFolders(root, path.dirname(folder));
}
