/** Waits for conditions, without asserting how long they take. */
import { readFileSync } from "node:fs";

/** @param limit in ms; it is shorter than the time limit of the test, so that the error names the condition */
export async function until(test: () => boolean | Promise<boolean>, limit = 100_000): Promise<void> {
  const end = Date.now() + limit;
  while (!(await test())) {
    if (Date.now() > end) throw new Error(`never came true: ${test}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Returns whether a process is stopped by SIGSTOP. */
export function stopped(pid: number): boolean {
  return /^State:\s*T/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
}

/** Returns whether a process has ended. A zombie has ended. */
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
