/** The failure of an actor, as its process reports it. */
export interface ActorFailure {
  /**
   * The kind of the failure:
   * `constructor` and `init`: the actor never started.
   * `message`: a handler threw and no caller waits for the answer, or code that the actor had left running threw.
   * `supervise`: the actor did not handle the failure of a mesh that it owns.
   * `stuck`: a handler exceeded its time limit.
   * `killed`: another actor ordered the failure.
   */
  readonly kind: "constructor" | "init" | "message" | "supervise" | "stuck" | "killed";
  readonly error: unknown;
  /** The endpoint whose handler threw. */
  readonly endpoint?: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}
