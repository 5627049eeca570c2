/**
 * Stack traces as they travel: without the frames below the code that a user has written, which are of this runtime, and
 * the same in every trace.
 */
import { fileURLToPath } from "node:url";

/** The file of this module: the bundle of the runtime, or one of its source files. */
const ownFile = fileURLToPath(import.meta.url);
/** What the paths of the runtime's frames begin with. */
const runtimePath = ownFile.endsWith(".cjs") ? `${ownFile}:` : ownFile.slice(0, -"user-stack.ts".length);

/** `stack` without the frames at its end that nobody but this runtime and Node.js has; all of it if there are no others. */
export function trimRuntimeFrames(stack: string): string {
  const lines = stack.split("\n");
  let end = lines.length;
  while (end > 0 && isRuntimeFrame(lines[end - 1]!)) end--;
  return end > 0 && /^\s+at /.test(lines[end - 1]!) ? lines.slice(0, end).join("\n") : stack;
}

/** Whether a line of a stack is a frame of this runtime or of Node.js. */
export function isRuntimeFrame(line: string): boolean {
  return /^\s+at /.test(line) && (line.includes(runtimePath) || /\(?node:[\w/]+:\d+/.test(line));
}
