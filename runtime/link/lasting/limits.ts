/** What a link that outlives its connections may cost, and how long it may be without one. */
export interface LastingLimits {
  /** Bytes that were sent and are kept until the peer has confirmed them; when full, nothing more is taken. */
  readonly resendBytes: number;
  /** How long a link may be without a connection before it is given up, in ms. */
  readonly giveUpMs: number;
  /** Bytes received are confirmed after so many ms, or when they are a 64th of `resendBytes`. */
  readonly ackMs: number;
  /**
   * Bytes that are not confirmed after so many ms make the dialler try another connection beside the one that may have
   * gone dumb, and again after twice as many; a peer that is only busy does not answer that either, and loses nothing.
   */
  readonly overdueMs: number;
  /** The second attempt to connect again comes after so many ms, each further one after twice as many, less some at random. */
  readonly redialMs: number;
  /** The longest pause between two attempts, in ms. */
  readonly redialMaxMs: number;
}

export const defaultLastingLimits: LastingLimits = {
  resendBytes: 16 * 1024 * 1024,
  giveUpMs: 30_000,
  ackMs: 50,
  overdueMs: 5000,
  redialMs: 50,
  redialMaxMs: 2000,
};

/** @throws RangeError that names the limit and the value */
export function lastingLimits(options: Partial<LastingLimits> = {}): LastingLimits {
  const limits = { ...defaultLastingLimits, ...options };
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value >= 1) continue;
    throw new RangeError(`cannot limit a link: ${name} must be a whole number of at least 1, got ${value}`);
  }
  return limits;
}
