/** Lets one test file at a time do what others may want to do meanwhile. Test files run in parallel processes. */
import { existsSync, mkdirSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How often a process tries to get the lock, every 20 ms, before it takes the lock away from another one. */
const patience = 12_000;

/**
 * Calls a function while no other test file of the run does the same.
 * @param name the name of the lock, for all test files
 */
export async function exclusively<T>(name: string, call: () => T): Promise<T> {
  const lock = join(tmpdir(), `lock-${name}`);
  for (let tries = 0; ; tries++) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if (!existsSync(lock)) throw error;
      // The process that has created the lock may have been killed.
      if (tries === patience) rmdirSync(lock);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  try {
    return call();
  } finally {
    rmdirSync(lock);
  }
}
