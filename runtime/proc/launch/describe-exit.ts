/** Describes the exit of a process or thread as the failure cause of its ranks. */
import { failureCauseOf } from "../../supervise/failure-cause.js";
import type { ExitStatus } from "./launch-process.js";
import type { ProcExit } from "./proc-backend.js";

/**
 * @param why the reason for the exit, if another one knows it
 * @returns a cause such as `process 4711 was killed by SIGKILL`, with the last lines of standard error as its own cause
 */
export function describeProcessExit(pid: number | undefined, end: ExitStatus, why?: string): ProcExit {
  if (end.error !== undefined) {
    const message = `the process could not be started: ${end.error.message}`;
    return { kind: "spawn", cause: { name: "ProcessEnd", message, cause: failureCauseOf(end.error) } };
  }
  const { lines } = end.stderr;
  const cause = {
    name: "ProcessEnd",
    message: `process ${pid} ${describeExitStatus(end)}${why === undefined ? "" : `: ${why}`}`,
  };
  const clean = end.code === 0;
  if (lines.length === 0) return { kind: "process", cause, clean };
  const output = { name: "its standard error", message: `\n${lines.join("\n")}` };
  return { kind: "process", cause: { ...cause, cause: output }, clean };
}

function describeExitStatus({ code, signal, stderr }: ExitStatus): string {
  const status = signal === undefined ? exitedWithCode(code) : `was killed by ${signal}`;
  const option = code === badOptionCode ? unknownOption(stderr.lines) : undefined;
  if (option === undefined) return withFatalReason(stderr.fatal, status);
  return `${status}: Node.js ${process.versions.node} does not know the option ${option} (execArgv)`;
}

/** The exit code of Node.js when it does not know one of its options. It has said which one. */
export const badOptionCode = 9;

function unknownOption(lines: readonly string[]): string | undefined {
  return lines.map((line) => /: bad option: (\S+)$/.exec(line)?.[1]).find((option) => option !== undefined);
}

/**
 * Describes the exit of a worker thread by its exit code and the uncaught error in it.
 * @param fatal the reason for the exit that the thread has sent
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
  return fatal === undefined ? status : `ended because of "${fatal}" and ${status}`;
}
