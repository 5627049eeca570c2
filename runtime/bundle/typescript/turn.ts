/** Lets one of several processes do a piece of work, while the others wait for its result. */
import { closeSync, openSync, statSync, utimesSync } from "node:fs";
import { removeFile } from "../../cache/private-files.js";

/** Time in ms between two signs of life of the process that has its turn. */
const beatMs = 500;
/** Time in ms without a sign of life after which a process counts as ended. */
const staleMs = 5000;
const pollMs = 5;

/**
 * Runs `work` in one process at a time. A process that finds another one at work waits until that one has ended.
 * @param file the lock file, in a directory that exists
 * @returns whether this process has done the work
 */
export async function takeTurn(file: string, work: () => Promise<void>): Promise<boolean> {
  if (!acquire(file)) {
    while (isHeld(file)) await new Promise((resolve) => setTimeout(resolve, pollMs));
    return false;
  }
  const beat = setInterval(() => touch(file), beatMs);
  try {
    await work();
  } finally {
    clearInterval(beat);
    removeFile(file);
  }
  return true;
}

function acquire(file: string): boolean {
  if (!isHeld(file)) removeFile(file);
  try {
    closeSync(openSync(file, "wx", 0o600));
    return true;
  } catch (error) {
    // In a directory that cannot be written, no other process works either.
    return (error as NodeJS.ErrnoException).code !== "EEXIST";
  }
}

function isHeld(file: string): boolean {
  const status = statSync(file, { throwIfNoEntry: false });
  return status !== undefined && Date.now() - status.mtimeMs < staleMs;
}

function touch(file: string): void {
  try {
    const now = new Date();
    utimesSync(file, now, now);
  } catch {
    // Another process has removed the file, because this one was slow. Both do the work.
  }
}
