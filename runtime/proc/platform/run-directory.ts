/**
 * The run directory, in which the processes of one driver keep their sockets. Only the user can enter it. It is created
 * on first use, and the driver's orphan reaper removes it after the driver has ended in any way.
 */
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatId } from "../../link/address.js";

/**
 * The address of a Unix socket has at most 104 bytes on macOS and 108 on Linux. The file name of a socket takes 30 of
 * them.
 */
const longestRunDir = 104 - 30;

/** Returns the path of the run directory of a tree of processes. The directory need not exist. */
export function runDirOf(universe: bigint, base: string = tmpdir()): string {
  const name = `viceroy-${formatId(universe)}`;
  const directory = join(base, name);
  return directory.length > longestRunDir ? join("/tmp", name) : directory;
}

/** Makes the directory with access for this user only. @throws Error if the path exists already */
export function makeRunDir(directory: string): void {
  mkdirSync(directory, { mode: 0o700 });
}
