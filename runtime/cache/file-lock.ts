/**
 * A lock between processes, for a file that they read and write together. The program `flock` of util-linux holds the
 * lock: the kernel releases it when that process ends, which it does when its input ends, so no lock outlives a killed
 * driver.
 */
import { once } from "node:events";
import { lazyModules } from "../lazy-modules.js";

/** A held lock. */
export interface HeldLock {
  /** Releases the lock. Resolves when other processes can take it. */
  release(): Promise<void>;
}

/**
 * Takes the lock of a file, and waits while another process has it.
 * @param file the file that is locked; it is created if it does not exist
 * @throws Error if the lock cannot be taken
 */
export async function lockFile(file: string, signal?: AbortSignal): Promise<HeldLock> {
  const child = lazyModules.childProcess.spawn("flock", ["-x", file, "sh", "-c", "echo locked; exec cat"], {
    stdio: ["pipe", "pipe", "pipe"],
    ...(signal === undefined ? {} : { signal }),
  });
  child.stdin.on("error", () => {});
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const ended = once(child, "close");
  const locked = once(child.stdout, "data");
  locked.catch(() => {});
  const outcome = await Promise.race([locked.then(() => "locked" as const), ended.then(() => "ended" as const)]).catch(
    (cause: NodeJS.ErrnoException) => {
      const why = cause.code === "ENOENT" ? "the program flock of util-linux is not installed" : cause.message;
      throw new Error(`cannot lock ${file}: ${why}`, { cause });
    },
  );
  if (outcome === "ended") throw new Error(`cannot lock ${file}: ${complaint.trim() || "flock has ended"}`);
  return {
    release: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
