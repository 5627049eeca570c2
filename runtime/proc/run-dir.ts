/**
 * The run directory: where the processes of one driver keep their sockets, private to the user. Made when first
 * needed; the driver's watcher removes it when the driver has ended, however that came about.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The address of a Unix socket has at most 104 bytes on macOS, 108 on Linux; a socket's name takes 30 of them. */
const longestRunDir = 104 - 30;

/** Makes an empty directory that only this user can enter. */
export function makeRunDir(base: string = tmpdir()): string {
  const directory = base.length + 16 > longestRunDir ? "/tmp" : base;
  return mkdtempSync(join(directory, "viceroy-"));
}

export function removeRunDir(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}
