/** Waiting for what must come true some time: never a measure of how long it took. */
import { readFileSync } from "node:fs";

/** @param limit in ms: only to say what has never come true before the test's own limit says nothing of it */
export async function until(test: () => boolean | Promise<boolean>, limit = 100_000): Promise<void> {
  const end = Date.now() + limit;
  while (!(await test())) {
    if (Date.now() > end) throw new Error(`never came true: ${test}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Whether a process stands still, by SIGSTOP. */
export function stopped(pid: number): boolean {
  return /^State:\s*T/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
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
