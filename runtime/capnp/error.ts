/** Errors of reading and writing Cap'n Proto messages. */

/**
 * Thrown when a value cannot be written, or a message cannot be read: `cannot write Tree.leaves[3].size: invalid
 * uint32: expected …, got …`, `cannot read the message: the list at word 7 of segment 0 ends past its segment`.
 */
export class CapnpError extends Error {
  override readonly name: string = "CapnpError";
  /** Whether reading or writing failed. */
  readonly verb: "read" | "write";
  /** The path of the value, from the name of the struct; `the message` if the bytes are invalid. */
  readonly path: string;
  /** The fault at that path. */
  readonly reason: string;

  /**
   * Makes an error.
   *
   * @param verb whether reading or writing failed
   * @param path the path of the value
   * @param reason what is wrong there
   */
  constructor(verb: "read" | "write", path: string, reason: string) {
    super(`cannot ${verb} ${path}: ${reason}`);
    this.verb = verb;
    this.path = path;
    this.reason = reason;
  }
}

/** An error inside a value. Each enclosing level adds its step to the front of the path. */
export class PathError extends Error {
  readonly verb: "read" | "write";
  readonly reason: string;
  readonly path: string;

  constructor(verb: "read" | "write", reason: string, path = "") {
    super(reason);
    this.verb = verb;
    this.reason = reason;
    this.path = path;
  }
}

/** Throws `error` with `step` added to the front of its path. */
export function rethrowAt(step: string, error: unknown): never {
  if (error instanceof PathError) throw new PathError(error.verb, error.reason, step + error.path);
  throw error;
}

/** Returns the step to a member: `.name`, or `["na me"]`. */
export function memberStep(name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}
