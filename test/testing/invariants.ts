/** What simulated clusters are checked for, by what is said of a run that breaks it: a planted bug must be noticed for what it does. */
export const invariants = {
  /** No message is handled twice, and none that was not sent. */
  once: / came twice| came and was never sent/,
  /** Messages of one sender come in the order in which they were sent. */
  order: / came after \d/,
  /** Nothing is lost in silence, where the sender and the receiver live. */
  "no gaps": / came and \d+ has not| has never come|came to nobody, and/,
  /** An actor handles one message at a time, and none when it has ended. */
  serial: / was handled (?:during|after) /,
  /** Every call, stream and receiver comes to an end. */
  "calls end": /never ended|has not ended within|calls of the program have never ended|nothing .*happen/,
  /** Calls end in time when their time is over or they are cancelled. */
  "in time": / took [\d.]+ ms in place of /,
  /** Answers, items and values of ports are those of the question. */
  values:
    /: a (?:sum|concat|port|stream|answer)[^;]* in place of | is [^;]* in place of |stream(?:s| \d+)? (?:yielded|ended)|came back as/,
  /** Whoever has not been harmed answers. */
  answers: / ended of /,
  /** Whoever cannot be called has been told of, and whoever lives can be called. */
  reach: /cannot be called, and nobody was told|, which lives: /,
  /** The owner is told of what has failed, */
  told: /nobody was told (?:of|that)/,
  /** once, */
  "told once": /: told \d+ times/,
  /** and of nothing else. */
  "told truly": /told of [^;]* to which nothing had happened|told of a failure, and there was none/,
  /** Nothing outlives its owner. */
  "no orphans": / has outlived |these processes have not ended|has not come to its end/,
  /** Whoever is not waited for any more hears of it. */
  released: /and nobody waits for them any more/,
  /** Nobody sends more than it has credit for. */
  credit: /credit allows|in a link of .* at most/,
  /** The program itself goes on. */
  "the program lives": /the program has ended before the scenario/,
} as const satisfies Record<string, RegExp>;

export type Invariant = keyof typeof invariants;

/** Those that a run has broken, by the message of its error. */
export function brokenBy(message: string): Invariant[] {
  return (Object.keys(invariants) as Invariant[]).filter((name) => invariants[name].test(message));
}
