/**
 * Ends of a process or thread that look like success and are none: `process.exit(0)`, or an event loop that has run dry, in
 * the middle of calls. Whoever waits for those is told why there is no answer.
 */
import { writeSync } from "node:fs";
import { builtins } from "../builtins.js";
import { userStack } from "../user-stack.js";
import { fatal } from "./fatal.js";

/** The message that a thread sends to its maker before it ends in such a way. */
export interface ThreadFatal {
  readonly viceroyFatal: string;
}

/** Calls that are named; of others it is told how many there are. */
const named = 3;

/** @param calls those that have not been answered */
export function watchExit(calls: () => readonly string[]): void {
  process.on("exit", (code) => {
    const open = code === 0 ? calls() : [];
    if (open.length === 0) return;
    process.exitCode = 1;
    const { isMainThread, parentPort } = builtins.workerThreads;
    const { how, stack } = whatEnded();
    const why = `${how} with ${waiting(open)}`;
    if (isMainThread) print(fatal(why) + stack);
    else parentPort?.postMessage({ viceroyFatal: why } satisfies ThreadFatal);
  });
}

function waiting(calls: readonly string[]): string {
  const more = calls.length - named;
  const names = `${calls.slice(0, named).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return calls.length === 1 ? `a call to ${names} not answered` : `calls to ${names} not answered`;
}

/** To be called while the listeners of `exit` run: below them on the stack is whoever has called `process.exit`. */
function whatEnded(): { readonly how: string; readonly stack: string } {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  const lines = (new Error("exit").stack ?? "").split("\n");
  Error.stackTraceLimit = stackTraceLimit;
  const exit = lines.findIndex((line) => /^\s+at (?:process|Process)\.(?:reallyE|e)xit /.test(line));
  if (exit < 0) return { how: "the event loop had nothing left to do", stack: "" };
  return { how: "process.exit(0) was called", stack: `${userStack(lines.slice(exit + 1).join("\n"))}\n` };
}

/** At once: what is written in other ways would not leave before the end. */
function print(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // Nobody reads it.
  }
}
