/** The output of a command: the streams of the process, or those of a test. */
export interface Io {
  out(line: string): void;
  err(line: string): void;
  /**
   * The root of the checkout, if findings are to be printed as annotations: in a workflow of GitHub Actions or of a
   * compatible system.
   */
  readonly annotationRoot?: string;
}

export const processIo: Io = {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
  ...(process.env["GITHUB_ACTIONS"] === "true" && { annotationRoot: process.env["GITHUB_WORKSPACE"] ?? process.cwd() }),
};

/** The exit codes of the command line. */
export const exitCode = {
  ok: 0,
  /** The generated code or the lock is not up to date. */
  drift: 1,
  /** The schemas have errors. */
  schema: 2,
  /** The arguments are invalid, the config is invalid, or a file cannot be read or written. */
  usage: 3,
} as const;

/** The output of `viceroy compile` for an unchanged tree. */
export const nothingToDo = "Nothing to do: generated code is up to date.";
