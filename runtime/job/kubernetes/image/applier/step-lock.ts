/**
 * Locks between pods of a node, which see the same folder, and none of each other's processes. The holder of a lock changes its file every
 * second. A lock whose file does not change has lost its holder. Two pods may rarely hold one lock then: both make the same result.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const beatMs = 1000;
const lostMs = 6000;
const pollMs = 200;

/** Calls a function while this process holds a lock. @param path the path of the lock, which exists while it is held */
export async function withLock<T>(path: string, use: () => Promise<T>): Promise<T> {
  const stop = await acquire(path);
  try {
    return await use();
  } finally {
    stop();
  }
}

/** Returns the function that releases the lock. */
async function acquire(path: string): Promise<() => void> {
  let seen: string | undefined;
  let seenAt = 0;
  for (;;) {
    const release = tryAcquire(path);
    if (release !== undefined) return release;
    const beat = readBeat(path);
    if (beat !== seen) {
      seen = beat;
      seenAt = performance.now();
    } else if (performance.now() - seenAt > lostMs) removeLock(path);
    await pause(pollMs);
  }
}

function tryAcquire(path: string): (() => void) | undefined {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  }
  const holder = randomBytes(8).toString("hex");
  let count = 0;
  const beat = () => {
    try {
      writeFileSync(join(path, "beat"), `${holder} ${count++}`);
    } catch {
      // Another pod has taken this one for lost.
    }
  };
  beat();
  const timer = setInterval(beat, beatMs);
  return () => {
    clearInterval(timer);
    if (readBeat(path)?.startsWith(holder)) removeLock(path);
  };
}

function readBeat(path: string): string | undefined {
  try {
    return readFileSync(join(path, "beat"), "utf8");
  } catch {
    return undefined;
  }
}

/** A folder that is renamed first is never found half removed. */
function removeLock(path: string): void {
  const removed = `${path}-${randomBytes(8).toString("hex")}`;
  try {
    renameSync(path, removed);
    rmSync(removed, { recursive: true, force: true });
  } catch {
    // Another pod has removed it.
  }
}
