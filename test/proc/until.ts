/** Waits for conditions, without asserting how long they take. */
import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";

/** @param limit in ms; it is shorter than the time limit of the test, so that the error names the condition */
export async function until(test: () => boolean | Promise<boolean>, limit = 100_000): Promise<void> {
  const end = Date.now() + limit;
  while (!(await test())) {
    if (Date.now() > end) throw new Error(`never came true: ${test}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/**
 * Returns a time limit in ms for a test in which the limit passes for one process while others must keep it. It is longer on a
 * busy machine, where each process waits for its turn.
 * @param ms the limit on a machine with little else to do
 * @param most the longest limit that still comes before what the test waits for
 */
export function limitUnderLoad(ms: number, most = 30_000): number {
  const waiting = programsThatRun() / availableParallelism();
  return Math.round(Math.min(most, ms * Math.max(1, waiting / 2)));
}

/** Returns how many programs run or wait for a processor: on average in the last minute, or now if that is more. */
function programsThatRun(): number {
  const mean = loadavg()[0]!;
  try {
    const now = / (\d+)\/\d+ /.exec(readFileSync("/proc/loadavg", "latin1"))!;
    return Math.max(mean, Number(now[1]));
  } catch {
    return mean;
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
