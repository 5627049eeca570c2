/** Carries out a plan. Each file appears whole or not at all: it is written beside its place and renamed into it. */
import { mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { withPath } from "./file-error.js";
import type { OutputPlan } from "./output-plan.js";

/** @param root of the config, absolute */
export function writeOutput(root: string, plan: OutputPlan): void {
  for (const { path: name, content } of plan.write) writeAtomically(path.join(root, name), content);
  for (const name of plan.remove) {
    rmSync(path.join(root, name), { force: true });
    removeEmptyFolders(root, path.dirname(name));
  }
}

/** Writes a file so that nobody ever reads half of it. @throws what `fileErrorText` has words for */
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
