/** What the file system refuses: a disk that is full, a folder that may not be written. No mistake of the compiler. */

/** @returns what to tell the user; undefined if the error is none of the file system's */
export function fileErrorText(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall, path, message } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return undefined;
  const verb = verbs[syscall] ?? syscall;
  return `cannot ${verb} ${path ?? "a file"}: ${message.replace(/, \w+( '.*')?$/, "")}`;
}

/** Node.js names the file where it could not be opened, not where it could not be filled. */
export function withPath(error: unknown, file: string): unknown {
  if (error instanceof Error && "syscall" in error) {
    Object.assign(error, { path: file, syscall: "write" });
  }
  return error;
}

const verbs: Readonly<Record<string, string>> = { open: "read", read: "read", scandir: "list" };
