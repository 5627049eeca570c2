/**
 * A lock between processes, for a file that they read and write together. The program `flock` of util-linux takes the lock for a
 * descriptor of this process, which holds it from then on. The kernel releases it when the last process has closed the descriptor,
 * so no lock outlives a killed driver.
 */
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { lazyModules } from "../lazy-modules.js";

/** A held lock. */
export interface HeldLock {
  /** The descriptor that holds the lock. A child process that inherits it holds the lock, too, until it ends. */
  readonly descriptor: number;
  /** Releases the lock. Idempotent. */
  release(): void;
}

/**
 * Takes the lock of a file, and waits while another process has it.
 * @param file the file that is locked; it is created if it does not exist
 * @throws Error if the lock cannot be taken
 */
export async function lockFile(file: string, signal?: AbortSignal): Promise<HeldLock> {
  const descriptor = openFile(file);
  try {
    await takeLock(file, descriptor, signal);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  let isHeld = true;
  const release = () => {
    if (isHeld) closeSync(descriptor);
    isHeld = false;
  };
  return { descriptor, release };
}

function openFile(file: string): number {
  try {
    return openSync(file, "a", 0o600);
  } catch (cause) {
    throw new Error(`cannot lock ${file}: ${(cause as Error).message}`, { cause });
  }
}

/** Has `flock` lock the open file behind a descriptor, which the child shares with this process. */
async function takeLock(file: string, descriptor: number, signal: AbortSignal | undefined): Promise<void> {
  const child = lazyModules.childProcess.spawn("flock", ["-x", "3"], {
    stdio: ["ignore", "ignore", "pipe", descriptor],
    ...(signal === undefined ? {} : { signal }),
  });
  let complaint = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const [code] = (await once(child, "close").catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === "ENOENT" ? "the program flock of util-linux is not installed" : cause.message;
    throw new Error(`cannot lock ${file}: ${why}`, { cause });
  })) as [number | null];
  if (code !== 0) throw new Error(`cannot lock ${file}: ${complaint.trim() || "flock has ended"}`);
}
