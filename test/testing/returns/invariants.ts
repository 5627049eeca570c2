/** The invariants of simulated hosts that come back, with patterns of the errors that report a violation. */
export const invariants = {
  /** A rank has one living incarnation, and each is newer than the one before. */
  "one life": / lives twice: | has begun incarnation /,
  /** No message comes to an incarnation that was replaced. */
  "new life only": /, which \d+ has replaced| answered as incarnation /,
  /** No message is handled twice. */
  once: / came twice/,
  /** A rank whose host returns lives on: the loss uses up no restart. */
  "no restart": /, and its host returns: | ended with /,
  /** The owner is told of each rank whose host does not return. */
  told: / and nobody was told/,
  /** The owner is told once. */
  "told once": /: told \d+ times/,
  /** Ranks wait for their host no longer than `hostTimeout`. */
  "in time": /, and hostTimeout is /,
  /** Every call ends. */
  "calls end": / calls have never ended|has not ended within|no task is left/,
} as const satisfies Record<string, RegExp>;

export type Invariant = keyof typeof invariants;
