/**
 * Texts of file system errors, such as a full disk or a folder without write permission. They are not errors of the
 * compiler.
 */

/** @returns the text for the user, or undefined if the error does not come from the file system */
export function fileErrorText(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall, path, message } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return undefined;
  const verb = verbs[syscall] ?? syscall;
  return `cannot ${verb} ${path ?? "a file"}: ${message.replace(/, \w+( '.*')?$/, "")}`;
}

/** Adds the path to an error. Node.js names the file of a failed open, but not of a failed write. */
export function withPath(error: unknown, file: string): unknown {
  if (error instanceof Error && "syscall" in error) {
    Object.assign(error, { path: file, syscall: "write" });
  }
  return error;
}

const verbs: Readonly<Record<string, string>> = { open: "read", read: "read", scandir: "list" };
