/** What all calls have in common: who is called, what may end them early, and how their failures are told. */
import type { PendingCall } from "../link/calls.js";
import type { Clock } from "../link/clock.js";
import { DeliveryError } from "../link/errors.js";
import type { Session } from "../link/session.js";
import { RemoteError } from "./error-wire.js";
import { ActorError, SupervisionError } from "./errors.js";
import { Future } from "./future.js";
import { Guard } from "./guard.js";

/** What a call knows of its endpoint. */
export interface Called {
  /** `counters.value`. */
  readonly label: string;
}

export abstract class CallFuture<T> extends Future<T> {
  readonly #clock: Clock;
  #guard: Guard | undefined;
  /** What was called. */
  protected readonly label: string;

  constructor(label: string, clock: Clock) {
    super();
    this.label = label;
    this.#clock = clock;
  }

  protected override get clock(): Clock {
    return this.#clock;
  }

  /** Ends the call early. @param timeout in milliseconds, 0: none */
  guard(timeout: number, signal: AbortSignal | undefined): void {
    this.#guard = new Guard(this, this.label, this.#clock, timeout, signal);
  }

  protected override fulfil(value: T): void {
    this.#guard?.dispose();
    super.fulfil(value);
  }

  protected override fail(error: unknown, quietly: boolean): void {
    this.#guard?.dispose();
    super.fail(error, quietly);
  }

  /** Nothing was sent: the call fails with `error`. */
  refuse(error: Error): this {
    this.fail(error, error instanceof SupervisionError);
    return this;
  }
}

/** The error that callers see. */
export function callError(label: string, rank: number, error: Error): Error {
  if (error instanceof RemoteError) return actorError(label, rank, error);
  if (error instanceof DeliveryError) return supervisionError(label, rank, error);
  return error;
}

function actorError(endpoint: string, rank: number, { actor, remote }: RemoteError): ActorError {
  const { name, message, stack, cause } = remote;
  return new ActorError({
    remoteName: name,
    message,
    remoteStack: stack,
    cause: cause instanceof Error ? cause : undefined,
    actor,
    rank,
    endpoint,
  });
}

export function supervisionError(label: string, rank: number, error: DeliveryError): SupervisionError {
  return new SupervisionError(label, [rank], error.message, error.cause === undefined ? {} : { cause: error.cause });
}

/** A call whose end has not been seen: one message to one actor. */
export interface Outstanding {
  readonly session: Session;
  readonly call: PendingCall;
  readonly id: number;
}
