/**
 * Removes frames of the runtime from stack traces. The frames below the code of a user belong to the runtime, and are the
 * same in every trace.
 */
import { fileURLToPath } from "node:url";
import { isInlined } from "./inlined.js";

/** The file of this module: the bundle of the runtime, or one of its source files. */
const ownFile = fileURLToPath(import.meta.url);
/** The beginning of the paths in the runtime's frames. In a program of one file, they cannot be told from the user's. */
const runtimePath = isInlined
  ? undefined
  : ownFile.endsWith(".cjs")
    ? `${ownFile}:`
    : ownFile.slice(0, -"user-stack.ts".length);

/** Returns `stack` without the frames of the runtime and of Node.js at its end, or unchanged if it has no other frames. */
export function trimRuntimeFrames(stack: string): string {
  const lines = stack.split("\n");
  let end = lines.length;
  while (end > 0 && isRuntimeFrame(lines[end - 1]!)) end--;
  return end > 0 && /^\s+at /.test(lines[end - 1]!) ? lines.slice(0, end).join("\n") : stack;
}

/** Returns whether a line of a stack is a frame of the runtime or of Node.js. */
export function isRuntimeFrame(line: string): boolean {
  return (
    /^\s+at /.test(line) &&
    ((runtimePath !== undefined && line.includes(runtimePath)) || /\(?node:[\w/]+:\d+/.test(line))
  );
}
