/** The clock of transfers, which tests replace by a simulated one. */

export interface TransferClock {
  /** Returns the time of a monotonic clock in milliseconds. */
  now(): number;
  /** Runs a task once after some milliseconds, unless it is cancelled. */
  after(ms: number, task: () => void): { cancel(): void };
}
