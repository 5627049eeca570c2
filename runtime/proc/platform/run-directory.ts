/**
 * The run directory: where the processes of one driver keep their sockets, private to the user. Made when first
 * needed; the driver's watcher removes it when the driver has ended, however that came about.
 */
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hex64 } from "../../link/address.js";

/** The address of a Unix socket has at most 104 bytes on macOS, 108 on Linux; a socket's name takes 30 of them. */
const longestRunDir = 104 - 30;

/** Where the run directory of a tree of processes is, or would be. */
export function runDirOf(universe: bigint, base: string = tmpdir()): string {
  const name = `viceroy-${hex64(universe)}`;
  const directory = join(base, name);
  return directory.length > longestRunDir ? join("/tmp", name) : directory;
}

/** Makes the directory, which only this user can enter. @throws if there is one of that name already */
export function makeRunDir(directory: string): void {
  mkdirSync(directory, { mode: 0o700 });
}
