/** What all calls have in common: who is called, what may end them early, and how their failures are told. */
import type { Clock } from "../../link/clock.js";
import { DeliveryError } from "../../link/errors.js";
import type { Codec } from "../../wire/codec.js";
import { RemoteError } from "../delivery/error-codec.js";
import { ActorError, SupervisionError } from "../errors.js";
import { isProgramEnding } from "../program-end.js";
import type { MeshView } from "../reference/mesh-view.js";
import type { OutstandingCall } from "../reference/outstanding-call.js";
import { CallGuard } from "./call-guard.js";
import { lacksCallerStack } from "./caller-stack.js";
import { describeWait } from "./describe-wait.js";
import { Future } from "./future.js";

/** What a call knows of its endpoint. */
export interface CalledEndpoint {
  /** `counters.value`. */
  readonly label: string;
  /** Of the answers; undefined: void. */
  readonly result: Codec<unknown> | undefined;
  readonly clock: Clock;
  readonly view: MeshView;
  /** Whether the runtime itself calls, to start, watch or stop something. */
  readonly isInternal: boolean;
}

export abstract class CallFuture<T> extends Future<T> implements OutstandingCall {
  turn: OutstandingCall["turn"];
  protected readonly called: CalledEndpoint;
  #guard: CallGuard | undefined;
  /** Nothing was sent: the stack of its error is that of the caller. */
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

  /** Ends the call early. @param timeout in milliseconds, 0: none */
  guard(timeout: number, signal: AbortSignal | undefined): void {
    const { label, clock } = this.called;
    this.#guard = new CallGuard(this, label, clock, timeout, signal, () => this.waitText);
  }

  get waitText(): string {
    const { turn, called } = this;
    return turn === undefined ? "" : describeWait(turn, called.label, called.view);
  }

  protected override fulfil(value: T): void {
    this.#guard?.dispose();
    this.turn?.removeOutstanding(this);
    super.fulfil(value);
  }

  protected override rejectWith(error: unknown, quietly: boolean): void {
    this.#guard?.dispose();
    const { turn } = this;
    // Checked for every error, so the rarest condition stands first.
    if (isProgramEnding() && turn === undefined && !this.called.isInternal) return;
    turn?.removeOutstanding(this);
    // What an actor throws when its time is over may come before a busy caller has noticed that itself.
    const told = (error instanceof ActorError ? this.#guard?.expiredError : undefined) ?? error;
    // Where nobody handles it, it is told by the context that it is rejected in whose call it was: on Node.js 24 and later.
    if (turn === undefined || quietly) this.#rejectWithCallers(told, quietly);
    else turn.runAsHandler(() => this.#rejectWithCallers(told, quietly));
  }

  #rejectWithCallers(error: unknown, quietly: boolean): void {
    if (this.#isRefused || !lacksCallerStack(error)) super.rejectWith(error, quietly);
    else this.rejectWithCallers(error, quietly);
  }

  /** Nothing was sent: the call fails with `error`. */
  refuse(error: Error): this {
    this.#isRefused = true;
    this.rejectWith(error, error instanceof SupervisionError);
    return this;
  }
}

/** The error that callers see. */
export function errorForCaller(called: Pick<CalledEndpoint, "label" | "view">, rank: number, error: Error): Error {
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
  { label, view }: Pick<CalledEndpoint, "label" | "view">,
  rank: number,
  { message, cause }: DeliveryError,
): SupervisionError {
  const options = cause === undefined ? {} : { cause };
  return new SupervisionError(label, [rank], message, { ...options, actors: view.actorNames([rank]) });
}
