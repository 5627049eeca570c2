/**
 * The life of an actor: its constructor, `restore` and `init`, its failures, its stop and its `cleanup`. The other parts of the actor
 * are opened and closed here.
 */
import { DeliveryError } from "../../link/errors.js";
import { errorChainOf, errorFromChain, isError, type PlainError } from "../../thrown.js";
import type { Actor, SupervisedFailure } from "../actor.js";
import { NoMessageTurn, runInTurn } from "../context.js";
import type { ActorFailure } from "../reference/actor-failure.js";
import type { ActorProc } from "../reference/actor-proc.js";
import type { LocalActor } from "../reference/local-actor.js";
import { reasonSuffix } from "../reference/mesh-record.js";
import type { ProcHooks } from "../reference/proc-hooks.js";
import type { SavedState, StateCopier } from "../reference/saved-state.js";
import type { StopOptions } from "../reference/stop-options.js";
import type { ActorPorts } from "./actor-ports.js";
import { restoreState, SAVE_MS, saveState } from "./actor-state.js";
import type { ActorInbound } from "./inbound.js";
import { promiseFrom } from "./invoke.js";
import type { MailboxOwner } from "./mailbox.js";
import type { ActorOutbound } from "./outbound.js";
import type { Turn } from "./turn.js";
import { waitAtMost } from "./wait-at-most.js";
import type { WatchedActor } from "./watchdog.js";

/** `starting`: the constructor or `init` is running. `stopping`: queued messages are still handled. */
export type ActorState = "starting" | "running" | "stopping" | "failed" | "stopped";

/** The proc that an actor starts and ends in. */
export interface LifecycleProc extends ActorProc {
  readonly hooks: ProcHooks;
  /** Removes an actor that has ended. */
  removeCell(actor: LocalActor): void;
}

/** An actor with the parts that open and close in the course of its life. */
export interface LivingActor extends LocalActor {
  readonly proc: LifecycleProc;
  instance: Actor | undefined;
  readonly inbound: ActorInbound;
  readonly outbound: ActorOutbound;
  readonly ports: ActorPorts;
}

/** The time limit of `cleanup`, in milliseconds. */
const CLEANUP_MS = 3000;

/** The time in which the last state of an actor that is being stopped is saved and stored, in milliseconds. */
const LAST_STATE_MS = 4000;

export class ActorLifecycle implements MailboxOwner, WatchedActor {
  readonly #actor: LivingActor;
  #state: ActorState = "starting";
  /** Settles when everything that the actor owns has stopped and `cleanup` has ended. */
  #windingDown: Promise<void> | undefined;
  /** Called when the actor has started or has failed. */
  #onStarted: (() => void) | undefined;
  #stopping: Promise<void> | undefined;

  constructor(actor: LivingActor) {
    this.#actor = actor;
  }

  get state(): ActorState {
    return this.#state;
  }

  get name(): string {
    return this.#actor.name;
  }

  /**
   * Constructs the actor, restores its state if there is one, and runs its `init`. Never throws.
   *
   * @param saved the state from a checkpoint
   */
  start(args: readonly unknown[], saved?: SavedState): void {
    const actor = this.#actor;
    const { clock } = actor.proc;
    const turn = new NoMessageTurn(actor, actor.token);
    const construct = actor.spec.actorClass as unknown as new (...args: readonly unknown[]) => Actor;
    try {
      runInTurn(turn, () => {
        actor.instance = new construct(...args);
      });
    } catch (error) {
      this.fail({ kind: "constructor", error, at: clock.epochMs() });
      return;
    }
    const failed = (error: unknown): void => this.fail({ kind: "init", error, at: clock.epochMs() });
    try {
      const restored = saved === undefined ? undefined : restoreState(actor, turn, saved);
      const initialised = restored === undefined ? this.#init(turn) : restored.then(() => this.#init(turn));
      if (initialised !== undefined) {
        initialised.then(() => this.#started(), failed);
        return;
      }
    } catch (error) {
      failed(error);
      return;
    }
    this.#started();
  }

  #init(turn: NoMessageTurn): Promise<unknown> | undefined {
    return promiseFrom(
      turn,
      runInTurn(turn, () => this.#actor.instance?.init?.()),
    );
  }

  /**
   * Saves the state of the actor between two messages.
   *
   * @param copy copies the encoded state; by default into memory of this process
   * @throws {DeliveryError} as a rejection, when the actor has ended
   * @throws {Error} as a rejection, when its state cannot be saved
   */
  save(copy?: StateCopier): Promise<SavedState> {
    const actor = this.#actor;
    const { inbound, proc } = actor;
    return new Promise((resolve, reject) => {
      // An actor that has ended refuses messages, so there is a reason.
      const drop = () => reject(inbound.ended);
      if (this.#state === "failed" || this.#state === "stopped") {
        drop();
        return;
      }
      inbound.runBetween(() => saveState(actor, proc.clock, SAVE_MS, copy).then(resolve, reject), drop);
    });
  }

  /** Marks the root of a proc as running. A root has no constructor and no `init`. */
  startRoot(): void {
    this.#state = "running";
  }

  /**
   * Runs the actor's `supervise` in a turn of its own. The result may be a promise.
   *
   * @throws what `supervise` throws
   */
  supervise(failure: SupervisedFailure): unknown {
    const actor = this.#actor;
    return runInTurn(new NoMessageTurn(actor), () => actor.instance?.supervise?.(failure));
  }

  /** Fails the actor: its callers are answered, then its owner is told. Idempotent. */
  fail(failure: ActorFailure): void {
    if (this.#state === "failed" || this.#state === "stopped") return;
    const actor = this.#actor;
    const { error } = failure;
    this.#state = "failed";
    const ended = failureError(actor.name, error);
    actor.inbound.close(ended);
    actor.ports.close(actor.outbound.sessions);
    this.#onStarted?.();
    actor.proc.hooks.actorFailed(actor, failure);
    const cause = isError(error) ? error : errorFromChain(errorChainOf(error));
    // An actor can fail while it is being stopped. It is wound down only once.
    this.#windingDown ??= this.#windDown({ reason: ended.message, drain: 0, error: cause });
  }

  /** Records that the actor could not be created. Its callers learn the reason. */
  failCreation({ error }: ActorFailure): void {
    const { name, inbound } = this.#actor;
    this.#state = "failed";
    inbound.close(failureError(name, error));
  }

  messageFailed({ endpoint }: Turn, error: unknown): void {
    this.fail({ kind: "message", error, endpoint, at: this.#epochMs() });
  }

  /** @param endpoint the endpoint whose handler started the code that threw, undefined if it was no handler */
  failUncaught(error: unknown, endpoint: string | undefined): void {
    this.fail({ kind: "message", error, ...(endpoint === undefined ? {} : { endpoint }), at: this.#epochMs() });
  }

  callsSpent(): void {
    const actor = this.#actor;
    if (this.#state === "running") actor.proc.hooks.callsSpent(actor);
  }

  handlerSlow(message: string): void {
    const actor = this.#actor;
    actor.proc.hooks.handlerSlow(actor, message);
  }

  handlerStuck({ endpoint }: Turn, message: string): void {
    this.fail({ kind: "stuck", error: new Error(message), endpoint, at: this.#epochMs() });
  }

  /** Resolves when a failed actor has ended completely and another one can replace it. Never rejects. */
  async whenVacated(): Promise<void> {
    await this.#windingDown;
    await this.#actor.outbound.whenSchemasAgreed();
  }

  /**
   * Stops the actor. It takes no new messages, handles queued messages for `drain` milliseconds at most, stops what it
   * owns, and runs `cleanup`. Idempotent, never rejects.
   */
  stop(options: StopOptions): Promise<void> {
    this.#stopping ??= this.#stop(options);
    return this.#stopping;
  }

  #started(): void {
    if (this.#state !== "starting") return;
    const actor = this.#actor;
    this.#state = "running";
    actor.proc.hooks.actorStarted(actor);
    actor.inbound.open();
    this.#onStarted?.();
  }

  async #stop(options: StopOptions): Promise<void> {
    const actor = this.#actor;
    const { inbound, outbound, ports } = actor;
    const { clock } = actor.proc;
    const end = clock.now() + options.drain;
    const whileDraining = (done: Promise<unknown>) => waitAtMost(clock, Math.max(0, end - clock.now()), done);
    if (options.drain > 0 && this.#state === "starting" && inbound.waitingCount > 0) {
      await whileDraining(new Promise<void>((started) => (this.#onStarted = started)));
    }
    const isRunning = this.#state === "running";
    const drains = options.drain > 0 && isRunning;
    const { pausedLanes } = inbound;
    if (drains && pausedLanes.length > 0) await whileDraining(Promise.all(pausedLanes));
    if (!this.#hasFailed()) {
      this.#state = "stopping";
      inbound.refuse(
        new DeliveryError("stopped", `the actor ${actor.name} was stopped${reasonSuffix(options.reason)}`),
      );
      if (drains) await whileDraining(inbound.whenDrained());
      // The state of an actor that has not started, or stops in the middle of a message, must not replace a whole one.
      if (actor.spec.savesAtStop === true && isRunning && inbound.isIdle) await this.#saveLastState();
      if (!this.#hasFailed()) {
        inbound.close(inbound.ended!);
        ports.close(outbound.sessions);
        this.#windingDown ??= this.#windDown(options);
      }
    }
    await this.whenVacated();
    this.#state = "stopped";
    inbound.announceGone();
    outbound.close(inbound.ended!);
    actor.proc.removeCell(actor);
  }

  async #saveLastState(): Promise<void> {
    const actor = this.#actor;
    const { hooks, clock } = actor.proc;
    const stored = saveState(actor, clock, LAST_STATE_MS).then((saved) => hooks.storeLastState(actor, saved));
    try {
      let isOver = false;
      await waitAtMost(
        clock,
        LAST_STATE_MS,
        stored.finally(() => (isOver = true)),
      );
      if (!isOver) throw new Error(`it was not stored within ${LAST_STATE_MS} ms`);
    } catch (error) {
      hooks.lastStateLost(actor, error);
    }
  }

  #hasFailed(): boolean {
    return this.#state === "failed";
  }

  /** Stops what the actor owns, then runs `cleanup`. */
  async #windDown(options: StopOptions): Promise<void> {
    const actor = this.#actor;
    const { hooks, clock } = actor.proc;
    await hooks.stopOwned(actor, options);
    const { instance } = actor;
    const turn = new NoMessageTurn(actor);
    try {
      const cleaned = promiseFrom(
        turn,
        runInTurn(turn, () => instance?.cleanup?.(options.error)),
      );
      if (cleaned !== undefined) await waitAtMost(clock, CLEANUP_MS, cleaned);
    } catch (error) {
      hooks.cleanupFailed(actor, error);
    }
    actor.instance = undefined;
  }

  #epochMs(): number {
    return this.#actor.proc.clock.epochMs();
  }
}

function failureError(actor: string, error: unknown): DeliveryError {
  const [first, ...others] = errorChainOf(error) as [PlainError, ...PlainError[]];
  const what = isError(error) ? `${first.name}: ${first.message}` : first.message;
  // Callers read plain errors, because reading the error that the actor threw can throw.
  const cause = isError(error) ? { cause: errorFromChain([first, ...others]) } : undefined;
  return new DeliveryError("failed", `the actor ${actor} has failed: ${what}`, cause);
}
