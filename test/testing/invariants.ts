/** The invariants of simulated clusters, with patterns of the errors that report a violation. */
export const invariants = {
  /** No message is handled twice, and no message is handled that was not sent. */
  once: / came twice| came and was never sent/,
  /** The messages of a sender are handled in the order in which they were sent. */
  order: / came after \d/,
  /** No message is lost silently while sender and receiver live. */
  "no gaps": / came and \d+ has not| has never come|came to nobody, and/,
  /** An actor handles one message at a time, and none after its end. */
  serial: / was handled (?:during|after) /,
  /** Every call, stream and receiver ends. */
  "calls end": /never ended|has not ended within|calls of the program have never ended|no task is left/,
  /** Calls end in time after their timeout or cancellation. */
  "in time": / took [\d.]+ ms in place of /,
  /** Answers, items and port values belong to their request. */
  values:
    /: a (?:sum|concat|port|stream|answer)[^;]* in place of | is [^;]* in place of |stream(?:s| \d+)? (?:yielded|ended)|came back as/,
  /** A process that no fault has affected answers. */
  answers: / ended with /,
  /** Unreachable actors were reported, and living actors can be called. */
  reach: /cannot be called, and nobody was told|, which lives: /,
  /** The owner is told of each failure. */
  told: /nobody was told (?:of|that)/,
  /** The owner is told once. */
  "told once": /: told \d+ times/,
  /** The owner is told only of failures that have happened. */
  "told truly": /told of [^;]* to which nothing had happened|told of a failure, and there was none/,
  /** No process outlives its owner. */
  "no orphans": / has outlived |these processes have not ended|has not come to its end/,
  /** A handler whose caller has cancelled the call is told. */
  released: /and nobody waits for them any more/,
  /** No sender exceeds its credit. */
  credit: /credit allows|in a link of .* at most/,
  /** The program itself continues. */
  "the program lives": /the program has ended before the scenario/,
} as const satisfies Record<string, RegExp>;

export type Invariant = keyof typeof invariants;
