/** How a process ended, in words: the cause that a failure of its ranks carries. */
import { causeOf } from "../supervise/cause.js";
import type { BodyEnd } from "./body.js";
import type { ProcessEnd } from "./launch.js";

/** @returns `process 4711 was killed by SIGKILL`, with the last lines of its standard error as what caused it */
export function describeEnd(pid: number | undefined, end: ProcessEnd): BodyEnd {
  if (end.error !== undefined) {
    const message = `the process could not be started: ${end.error.message}`;
    return { kind: "spawn", cause: { name: "ProcessEnd", message, cause: causeOf(end.error) } };
  }
  const { lines } = end.stderr;
  const cause = { name: "ProcessEnd", message: `process ${pid} ${howItEnded(end)}` };
  const clean = end.code === 0;
  if (lines.length === 0) return { kind: "process", cause, clean };
  const output = { name: "its standard error", message: `\n${lines.join("\n")}` };
  return { kind: "process", cause: { ...cause, cause: output }, clean };
}

function howItEnded({ code, signal, stderr }: ProcessEnd): string {
  const status = signal === undefined ? exited(code) : `was killed by ${signal}`;
  return endedOf(stderr.fatal, status);
}

/**
 * How a worker thread ended: its exit code, and the error that nobody caught in it.
 * @param fatal what it has said that it ends of
 */
export function describeThreadEnd(thread: number, code: number, error: unknown, fatal: string | undefined): BodyEnd {
  const cause = { name: "ThreadEnd", message: `thread ${thread} ${endedOf(fatal, exited(code))}` };
  if (error === undefined) return { kind: "process", cause, clean: code === 0 };
  return { kind: "process", cause: { ...cause, cause: causeOf(error) } };
}

function exited(code: number | undefined): string {
  return `exited with code ${code}`;
}

function endedOf(fatal: string | undefined, status: string): string {
  return fatal === undefined ? status : `ended of "${fatal}" and ${status}`;
}
