/**
 * Ends of a process or thread that look like success and are none: `process.exit(0)`, or an event loop that has run dry, in
 * the middle of calls. Whoever waits for those is told why there is no answer.
 */
import { writeSync } from "node:fs";
import { lazyModules } from "../../lazy-modules.js";
import { trimRuntimeFrames } from "../../user-stack.js";
import { formatFatalLine } from "../launch/fatal-line.js";

/** The message that a thread sends to its maker before it ends in such a way. */
export interface ThreadFatalMessage {
  readonly viceroyFatal: string;
}

/** Calls that are named; of others it is told how many there are. */
const maxNamedCalls = 3;

/** @param calls those that have not been answered */
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

/** To be called while the listeners of `exit` run: below them on the stack is whoever has called `process.exit`. */
function describeExitTrigger(): { readonly how: string; readonly stack: string } {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  const lines = (new Error("exit").stack ?? "").split("\n");
  Error.stackTraceLimit = stackTraceLimit;
  const exit = lines.findIndex((line) => /^\s+at (?:process|Process)\.(?:reallyE|e)xit /.test(line));
  if (exit < 0) return { how: "the event loop had nothing left to do", stack: "" };
  return { how: "process.exit(0) was called", stack: `${trimRuntimeFrames(lines.slice(exit + 1).join("\n"))}\n` };
}

/** At once: what is written in other ways would not leave before the end. */
function printSync(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // Nobody reads it.
  }
}
