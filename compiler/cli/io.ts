/** Where a command writes: the process's own streams, or a test's. */
export interface Io {
  out(line: string): void;
  err(line: string): void;
  /** The top of the checkout whose lines are annotated: in a workflow of GitHub Actions, or of those that do as it does. */
  readonly annotationRoot?: string;
}

export const processIo: Io = {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
  ...(process.env["GITHUB_ACTIONS"] === "true" && { annotationRoot: process.env["GITHUB_WORKSPACE"] ?? process.cwd() }),
};

/** Exit codes of the command line. */
export const exitCode = {
  ok: 0,
  /** Generated code, or the lock, is not what the schemas make of it. */
  drift: 1,
  /** The schemas have errors. */
  schema: 2,
  /** Bad usage, a config that cannot be used, or a file that cannot be read or written. */
  usage: 3,
} as const;
