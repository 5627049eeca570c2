/** Folders with files, for tests of code on hosts. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** Makes a temporary folder with files, which the run of tests removes at its end. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "sync-")));
  addFiles(folder, files);
  return folder;
}

export function addFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

/** Runs git in a folder. */
export function git(folder: string, ...args: string[]): void {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"];
  const { status, stderr } = spawnSync("git", [...identity, ...args], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
}

/** Makes a repository of git whose files are committed. */
export function repositoryWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = folderWith(files);
  git(folder, "init", "-q");
  git(folder, "add", ".");
  git(folder, "commit", "-q", "-m", "first");
  return folder;
}

/** Returns the error with which a promise is rejected. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error("expected the promise to be rejected");
}
