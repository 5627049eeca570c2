/**
 * Removes frames of the runtime from stack traces. The frames below the code of a user belong to the runtime, and are the
 * same in every trace.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isInlined } from "./inlined.js";

/** The file of this module: a script of the runtime, or one of its source files. */
const ownFile = fileURLToPath(import.meta.url);
/** Texts in the runtime's frames. In a program of one file, they cannot be told from the user's. */
const runtimePaths = isInlined
  ? []
  : ownFile.endsWith(".cjs")
    ? ["runtime.cjs:", "runtime-rest.cjs:"].map((script) => join(dirname(ownFile), script))
    : [ownFile.slice(0, -"user-stack.ts".length)];

/** Returns `stack` without the frames of the runtime and of Node.js at its end, or unchanged if it has no other frames. */
export function trimRuntimeFrames(stack: string): string {
  const lines = stack.split("\n");
  let end = lines.length;
  while (end > 0 && isRuntimeFrame(lines[end - 1]!)) end--;
  return end > 0 && /^\s+at /.test(lines[end - 1]!) ? lines.slice(0, end).join("\n") : stack;
}

/** Returns whether a line of a stack is a frame of the runtime or of Node.js. */
export function isRuntimeFrame(line: string): boolean {
  return /^\s+at /.test(line) && (runtimePaths.some((text) => line.includes(text)) || /\(?node:[\w/]+:\d+/.test(line));
}
