/** How a process ended, in words: the cause that a failure of its ranks carries. */
import { failureCauseOf } from "../../supervise/failure-cause.js";
import type { ExitStatus } from "./launch-process.js";
import type { ProcExit } from "./proc-backend.js";

/** @returns `process 4711 was killed by SIGKILL`, with the last lines of its standard error as what caused it */
export function describeProcessExit(pid: number | undefined, end: ExitStatus): ProcExit {
  if (end.error !== undefined) {
    const message = `the process could not be started: ${end.error.message}`;
    return { kind: "spawn", cause: { name: "ProcessEnd", message, cause: failureCauseOf(end.error) } };
  }
  const { lines } = end.stderr;
  const cause = { name: "ProcessEnd", message: `process ${pid} ${describeExitStatus(end)}` };
  const clean = end.code === 0;
  if (lines.length === 0) return { kind: "process", cause, clean };
  const output = { name: "its standard error", message: `\n${lines.join("\n")}` };
  return { kind: "process", cause: { ...cause, cause: output }, clean };
}

function describeExitStatus({ code, signal, stderr }: ExitStatus): string {
  const status = signal === undefined ? exitedWithCode(code) : `was killed by ${signal}`;
  return withFatalReason(stderr.fatal, status);
}

/**
 * How a worker thread ended: its exit code, and the error that nobody caught in it.
 * @param fatal what it has said that it ends of
 */
export function describeThreadExit(thread: number, code: number, error: unknown, fatal: string | undefined): ProcExit {
  const cause = { name: "ThreadEnd", message: `thread ${thread} ${withFatalReason(fatal, exitedWithCode(code))}` };
  if (error === undefined) return { kind: "process", cause, clean: code === 0 };
  return { kind: "process", cause: { ...cause, cause: failureCauseOf(error) } };
}

function exitedWithCode(code: number | undefined): string {
  return `exited with code ${code}`;
}

function withFatalReason(fatal: string | undefined, status: string): string {
  return fatal === undefined ? status : `ended of "${fatal}" and ${status}`;
}
