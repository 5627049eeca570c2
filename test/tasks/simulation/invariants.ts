/** The invariants of simulated contexts, with patterns of the errors that report a violation. */
export const invariants = {
  /** Every result settles once, and stays as it is. */
  settles:
    / never settled| settled twice| has changed its outcome| has not settled when | has never settled|has not ended within/,
  /** The function of a task that is not idempotent begins at most once, and none begins after its task has ended. */
  "begins once": / began twice| began after /,
  /** A result is what a run has returned that has finished. */
  "true results": / has the result | got the argument | has the answer /,
  /** Tasks fail only by themselves, by `cancel`, and by faults. */
  errors: / failed with /,
  /** No more of a resource is in use than a host has. */
  resources: / slots in use of /,
  /** Hosts have everything again when no task is left. */
  "no leaks": / free of | requests wait, and no task is left/,
  /** A task that needs much is not overtaken for ever. */
  fair: / was overtaken /,
  /** `wait` returns each reference once, in order, and as many as were wanted. */
  waits: /wait returned /,
  /** Two living actors do not have the same name, and an actor handles a call once. */
  actors: / at the same time as | was handled twice/,
  /** A value is there as long as a process holds a reference to it. */
  "kept while held": / was freed while it was held | a read of v\d+ failed /,
  /** A value is freed when no process holds a reference to it any more. */
  "freed at last": / was never freed | is still held /,
  /** No process of a context outlives it. */
  "no orphans": / has outlived |these processes have not ended/,
  /** The program itself goes on. */
  "the program lives": /the program has ended before the scenario/,
} as const satisfies Record<string, RegExp>;

export type Invariant = keyof typeof invariants;
