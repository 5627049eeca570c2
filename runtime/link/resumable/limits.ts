/** The limits of connections between hosts that survive a broken socket. */
export interface ResumableLimits {
  /**
   * The number of sent bytes that are kept until the peer has confirmed them. When it is reached, the sender waits.
   * Default: 16 MiB.
   */
  readonly resendBytes: number;
  /** The time after which a connection without a socket is given up, in milliseconds. Default: 30,000. */
  readonly giveUpMs: number;
  /**
   * The time after which received bytes are confirmed, in milliseconds, unless they reach 1/64 of `resendBytes` before.
   * Default: 50.
   */
  readonly ackMs: number;
  /**
   * The time after which unconfirmed bytes let the dialler open a second socket, in milliseconds; it doubles for each
   * further attempt. Default: 5,000.
   */
  readonly overdueMs: number;
  /**
   * The pause before the second attempt to connect, in milliseconds; it doubles for each further attempt, less a random
   * part. Default: 50.
   */
  readonly redialMs: number;
  /** The longest pause between two attempts, in milliseconds. Default: 2,000. */
  readonly redialMaxMs: number;
}

export const defaultResumableLimits: ResumableLimits = {
  resendBytes: 16 * 1024 * 1024,
  giveUpMs: 30_000,
  ackMs: 50,
  overdueMs: 5000,
  redialMs: 50,
  redialMaxMs: 2000,
};

/** @throws RangeError that names the limit and the value */
export function resumableLimits(options: Partial<ResumableLimits> = {}): ResumableLimits {
  const limits = { ...defaultResumableLimits, ...options };
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value >= 1) continue;
    throw new RangeError(`cannot limit a link: ${name} must be a whole number of at least 1, got ${value}`);
  }
  return limits;
}
