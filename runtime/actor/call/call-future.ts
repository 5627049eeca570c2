/** The base class of all calls: the called endpoint, the limits that end a call early, and the errors that callers see. */
import type { Clock } from "../../link/clock.js";
import { DeliveryError } from "../../link/errors.js";
import type { Codec } from "../../wire/codec.js";
import { RemoteError } from "../delivery/error-codec.js";
import { ActorError, DeadlockError, SupervisionError } from "../errors.js";
import { isProgramEnding } from "../program-end.js";
import type { MeshView } from "../reference/mesh-view.js";
import type { OutstandingCall } from "../reference/outstanding-call.js";
import { CallGuard } from "./call-guard.js";
import { lacksCallerStack } from "./caller-stack.js";
import { describeWait } from "./describe-wait.js";
import { Future } from "./future.js";

/** The endpoint of a call. */
export interface CalledEndpoint {
  /** The mesh and the endpoint: `counters.value`. */
  readonly label: string;
  /** The codec of the answers. Undefined if the endpoint returns void. */
  readonly result: Codec<unknown> | undefined;
  readonly clock: Clock;
  readonly view: MeshView;
  /** Whether the runtime makes the call to start, watch or stop something. */
  readonly isInternal: boolean;
}

export abstract class CallFuture<T> extends Future<T> implements OutstandingCall {
  turn: OutstandingCall["turn"];
  protected readonly called: CalledEndpoint;
  #guard: CallGuard | undefined;
  /** Whether nothing was sent. The error then has the stack of the caller. */
  #isRefused = false;

  constructor(called: CalledEndpoint) {
    super();
    this.called = called;
  }

  get label(): string {
    return this.called.label;
  }

  protected override get clock(): Clock {
    return this.called.clock;
  }

  /**
   * Limits the call by a timeout and an abort signal.
   *
   * @param timeout in milliseconds, 0 for no limit
   */
  guard(timeout: number, signal: AbortSignal | undefined): void {
    const { label, clock } = this.called;
    this.#guard = new CallGuard(this, label, clock, timeout, signal, () => this.waitText);
  }

  get waitText(): string {
    const { turn, called } = this;
    return turn === undefined ? "" : describeWait(turn, called.label, called.view);
  }

  protected override fulfil(value: T): void {
    if (this.#guard !== undefined || this.turn !== undefined) this.#leave();
    super.fulfil(value);
  }

  /** Ends the limits of the call, and tells the handler that has made it. */
  #leave(): void {
    this.#guard?.dispose();
    this.turn?.removeOutstanding(this);
  }

  protected override rejectWith(error: unknown, quietly: boolean): void {
    this.#guard?.dispose();
    const { turn } = this;
    // This runs for every error, so the rarest condition is checked first.
    if (isProgramEnding() && turn === undefined && !this.called.isInternal) return;
    turn?.removeOutstanding(this);
    // At a timeout, the error of the actor can arrive before the timer of a busy caller runs.
    const told = (error instanceof ActorError ? this.#guard?.expiredError : undefined) ?? error;
    // Node.js 24 and later attributes an unhandled rejection to the asynchronous context in which it happens.
    if (turn === undefined || quietly) this.#rejectWithCallers(told, quietly);
    else turn.runAsHandler(() => this.#rejectWithCallers(told, quietly));
  }

  #rejectWithCallers(error: unknown, quietly: boolean): void {
    if (this.#isRefused || !lacksCallerStack(error)) super.rejectWith(error, quietly);
    else this.rejectWithCallers(error, quietly);
  }

  /** Rejects the call with `error`, because nothing was sent. */
  refuse(error: Error): this {
    this.#isRefused = true;
    this.rejectWith(error, error instanceof SupervisionError);
    return this;
  }
}

/** Returns the error that the caller sees for the error of one rank. */
export function errorForCaller(called: Pick<CalledEndpoint, "label" | "view">, rank: number, error: Error): Error {
  if (error instanceof RemoteError) return actorError(called.label, rank, error);
  if (error instanceof DeliveryError) {
    return error.reason === "deadlock"
      ? new DeadlockError(`cannot call ${called.label} on rank ${rank}: ${error.message}`)
      : supervisionError(called, rank, error);
  }
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

export function supervisionError(
  { label, view }: Pick<CalledEndpoint, "label" | "view">,
  rank: number,
  { message, cause }: DeliveryError,
): SupervisionError {
  const options = cause === undefined ? {} : { cause };
  return new SupervisionError(label, [rank], message, { ...options, actors: view.actorNames([rank]) });
}
