/**
 * The line in which a process prints why it ends. It has the form of V8's out-of-memory message, so that the parent
 * finds both in the same way (`StderrTail` in `stdio.ts`).
 */
const prefix = "FATAL ERROR: ";

/** Returns the line, with its line break, that states `why` as the cause of the process's end. */
export function formatFatalLine(why: string): string {
  return `${prefix}${why}\n`;
}

/** Returns the cause of the process's end that `line` states; undefined for any other line. */
export function parseFatalLine(line: string): string | undefined {
  return line.startsWith(prefix) ? line.slice(prefix.length).trim() : undefined;
}
