/**
 * The line by which a process says why it ends: in the form in which V8 says that it has run out of memory, so that its
 * maker finds either in the same way (`StderrTail` in stdio.ts).
 */
const prefix = "FATAL ERROR: ";

export function formatFatalLine(why: string): string {
  return `${prefix}${why}\n`;
}

/** Returns the cause of the process's end that `line` states; undefined for any other line. */
export function parseFatalLine(line: string): string | undefined {
  return line.startsWith(prefix) ? line.slice(prefix.length).trim() : undefined;
}
