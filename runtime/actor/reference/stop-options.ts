/** The options with which the runtime stops an actor. The options of users are in mesh-record.ts. */
export interface StopOptions {
  readonly reason: string;
  /** The time in which queued messages are still handled, in milliseconds. 0: none is handled. */
  readonly drain: number;
  /** The error that caused the stop, which is passed to `cleanup(error)`. */
  readonly error?: Error;
}
