/** Waiting for what must come true some time: never a measure of how long it took. */

import { readFileSync } from "node:fs";
export async function until(test: () => boolean | Promise<boolean>, limit = 20_000): Promise<void> {
  const end = Date.now() + limit;
  while (!(await test())) {
    if (Date.now() > end) throw new Error(`never came true: ${test}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Whether a process has ended; one that nobody has reaped yet has. */
export function gone(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return true;
  }
  try {
    return /^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
  } catch {
    return false;
  }
}
