/**
 * Detects exits of a process or thread that look like a success but are none: `process.exit(0)`, or an event loop
 * without work, while calls are open. The callers get the reason why there is no answer.
 */
import { writeSync } from "node:fs";
import { lazyModules } from "../../lazy-modules.js";
import { trimRuntimeFrames } from "../../user-stack.js";
import { formatFatalLine } from "../launch/fatal-line.js";

/** The message that a thread sends to its parent before an unexpected exit. */
export interface ThreadFatalMessage {
  readonly viceroyFatal: string;
}

/** Maximum number of calls that a message names. It only counts the others. */
const maxNamedCalls = 3;

/** @param calls returns the calls that have not been answered */
export function watchUnexpectedExit(calls: () => readonly string[]): void {
  process.on("exit", (code) => {
    const open = code === 0 ? calls() : [];
    if (open.length === 0) return;
    process.exitCode = 1;
    const { isMainThread, parentPort } = lazyModules.workerThreads;
    const { how, stack } = describeExitTrigger();
    const why = `${how} with ${describeOpenCalls(open)}`;
    if (isMainThread) printSync(formatFatalLine(why) + stack);
    else parentPort?.postMessage({ viceroyFatal: why } satisfies ThreadFatalMessage);
  });
}

function describeOpenCalls(calls: readonly string[]): string {
  const more = calls.length - maxNamedCalls;
  const names = `${calls.slice(0, maxNamedCalls).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return calls.length === 1 ? `a call to ${names} not answered` : `calls to ${names} not answered`;
}

/**
 * Describes what triggered the exit. Must be called by an `exit` listener: the caller of `process.exit` is below it on
 * the stack.
 */
function describeExitTrigger(): { readonly how: string; readonly stack: string } {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  const lines = (new Error("exit").stack ?? "").split("\n");
  Error.stackTraceLimit = stackTraceLimit;
  const exit = lines.findIndex((line) => /^\s+at (?:process|Process)\.(?:reallyE|e)xit /.test(line));
  if (exit < 0) return { how: "the event loop had nothing left to do", stack: "" };
  return { how: "process.exit(0) was called", stack: `${trimRuntimeFrames(lines.slice(exit + 1).join("\n"))}\n` };
}

/** Writes synchronously, because asynchronous writes would not complete before the exit. */
function printSync(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // The reader of the output is gone.
  }
}
