/** How a process ended, in words: the cause that a failure of its ranks carries. */
import { causeOf, type FailureCause } from "../supervise/cause.js";
import type { ProcessEnd } from "./launch.js";

/** @returns `process 4711 was killed by SIGKILL`, with the last lines of its standard error as what caused it */
export function describeEnd(pid: number | undefined, end: ProcessEnd): FailureCause {
  if (end.error !== undefined) {
    return { name: "ProcessEnd", message: "the process could not be started", cause: causeOf(end.error) };
  }
  const { lines } = end.stderr;
  const message = `process ${pid} ${howItEnded(end)}`;
  if (lines.length === 0) return { name: "ProcessEnd", message };
  return { name: "ProcessEnd", message, cause: { name: "its standard error", message: `\n${lines.join("\n")}` } };
}

function howItEnded({ code, signal, stderr }: ProcessEnd): string {
  const status = signal === undefined ? `exited with code ${code}` : `was killed by ${signal}`;
  return stderr.fatal === undefined ? status : `ended of "${stderr.fatal}" and ${status}`;
}

/** How a worker thread ended: its exit code, and the error that nobody caught in it. */
export function describeThreadEnd(thread: number, code: number, error: unknown): FailureCause {
  const message = `thread ${thread} exited with code ${code}`;
  return error === undefined ? { name: "ThreadEnd", message } : { name: "ThreadEnd", message, cause: causeOf(error) };
}
