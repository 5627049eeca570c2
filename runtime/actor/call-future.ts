/** What all calls have in common: who is called, what may end them early, and how their failures are told. */
import type { Clock } from "../link/clock.js";
import { DeliveryError } from "../link/errors.js";
import type { Codec } from "../wire/codec.js";
import { lacksCallers } from "./callers.js";
import { programIsEnding } from "./ending.js";
import { RemoteError } from "./error-wire.js";
import { ActorError, SupervisionError } from "./errors.js";
import { Future } from "./future.js";
import { Guard } from "./guard.js";
import type { UnderWay } from "./turn.js";
import type { MeshView } from "./view.js";
import { describeWait } from "./wait.js";

/** What a call knows of its endpoint. */
export interface Called {
  /** `counters.value`. */
  readonly label: string;
  /** Of the answers; undefined: void. */
  readonly result: Codec<unknown> | undefined;
  readonly clock: Clock;
  readonly view: MeshView;
  /** Whether the runtime itself calls, to start, watch or stop something. */
  readonly internal: boolean;
}

export abstract class CallFuture<T> extends Future<T> implements UnderWay {
  turn: UnderWay["turn"];
  protected readonly called: Called;
  #guard: Guard | undefined;
  /** Nothing was sent: the stack of its error is that of the caller. */
  #refused = false;

  constructor(called: Called) {
    super();
    this.called = called;
  }

  get label(): string {
    return this.called.label;
  }

  protected override get clock(): Clock {
    return this.called.clock;
  }

  /** Ends the call early. @param timeout in milliseconds, 0: none */
  guard(timeout: number, signal: AbortSignal | undefined): void {
    const { label, clock } = this.called;
    this.#guard = new Guard(this, label, clock, timeout, signal, () => this.waited);
  }

  get waited(): string {
    const { turn, called } = this;
    return turn === undefined ? "" : describeWait(turn, called.label, called.view);
  }

  protected override fulfil(value: T): void {
    this.#guard?.dispose();
    this.turn?.unbind(this);
    super.fulfil(value);
  }

  protected override fail(error: unknown, quietly: boolean): void {
    this.#guard?.dispose();
    const { turn } = this;
    // Checked for every error, so the rarest condition stands first.
    if (programIsEnding() && turn === undefined && !this.called.internal) return;
    turn?.unbind(this);
    // What an actor throws when its time is over may come before a busy caller has noticed that itself.
    const told = (error instanceof ActorError ? this.#guard?.over : undefined) ?? error;
    // Where nobody handles it, it is told by the context that it is rejected in whose call it was: on Node.js 24 and later.
    if (turn === undefined || quietly) this.#reject(told, quietly);
    else turn.run(() => this.#reject(told, quietly));
  }

  #reject(error: unknown, quietly: boolean): void {
    if (this.#refused || !lacksCallers(error)) super.fail(error, quietly);
    else this.failFrom(error, quietly);
  }

  /** Nothing was sent: the call fails with `error`. */
  refuse(error: Error): this {
    this.#refused = true;
    this.fail(error, error instanceof SupervisionError);
    return this;
  }
}

/** The error that callers see. */
export function callError(called: Pick<Called, "label" | "view">, rank: number, error: Error): Error {
  if (error instanceof RemoteError) return actorError(called.label, rank, error);
  if (error instanceof DeliveryError) return supervisionError(called, rank, error);
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
  { label, view }: Pick<Called, "label" | "view">,
  rank: number,
  { message, cause }: DeliveryError,
): SupervisionError {
  const options = cause === undefined ? {} : { cause };
  return new SupervisionError(label, [rank], message, { ...options, actors: view.actors([rank]) });
}
