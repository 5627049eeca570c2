/**
 * A mesh of actors, as the one who spawned it sees it: the orders given for it, which ranks have failed, whether it is
 * ready, how it is stopped. Handles of it (mesh.ts in actor/) know it as their control. Many may exist: what is rarely
 * needed is made when it is.
 */

import type { RankStatus, SpawnOutcome } from "../../../generated/proc-agent.js";
import type { ActorNotice } from "../../../generated/supervision.js";
import type { Settled } from "../../actor/call/gather-call.js";
import type { ActorCell } from "../../actor/cell/actor-cell.js";
import type { WatchLimits } from "../../actor/cell/watchdog.js";
import { ActorError } from "../../actor/errors.js";
import type { Proc } from "../../actor/proc/proc.js";
import { isProgramEnding } from "../../actor/program-end.js";
import {
  type MeshControl,
  type MeshRecord,
  type MeshStopOptions,
  noReason,
  reasonSuffix,
} from "../../actor/reference/mesh-record.js";
import type { ActorClass, StopOptions } from "../../actor/reference/proc-hooks.js";
import type { Timer } from "../../link/clock.js";
import type { Region } from "../../shape/index.js";
import { errorFromCause, type FailureCause, failureCauseOf } from "../../supervise/failure-cause.js";
import { type FailureKind, MeshFailure, type PastFailure } from "../../supervise/mesh-failure.js";
import type { OwnedMesh } from "../../supervise/ownership.js";
import { type RestartPlan, RestartTracker } from "../../supervise/restart-policy.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import { Deferred } from "../deferred.js";
import { countdown, settlesWithin } from "../time-limit.js";

/** What is to be spawned, checked and encoded. */
export interface SpawnPlan {
  readonly actorClass: ActorClass;
  readonly descriptor: ActorDescriptor;
  /** The arguments of the constructor, a message of `descriptor.args`. */
  readonly args: Uint8Array;
  /** Whether they are in the protobuf layout: they say more than the schema does. */
  readonly protobuf: boolean;
  /** Undefined: as the processes say that it lives on. */
  readonly restart?: RestartPlan | undefined;
  /** Undefined: its handlers may take as long as they do. */
  readonly watch?: WatchLimits | undefined;
}

/** What a spawned mesh needs of the processes it lives on. */
export interface MeshOperations {
  /** The proc that gives the orders. */
  readonly proc: Proc;
  /** Tells an owner of a failure. */
  reportFailure(owner: ActorCell, failure: MeshFailure): void;
  /** The mesh has been stopped: nobody needs to know of it any more. */
  forget(mesh: SpawnedActors): void;
  /** Makes an actor again, in the process where it lived. Never rejects. */
  restartActor(mesh: SpawnedActors, rank: number): Promise<void>;
  /** Stops the actors of the mesh. Never rejects. */
  stopActors(mesh: SpawnedActors, options: StopOptions): Promise<unknown>;
}

const defaultDrain = 5000;

type ReadyState = "spawning" | "ready" | "failed";

export class SpawnedActors implements MeshControl, OwnedMesh {
  readonly record: MeshRecord;
  readonly owner: ActorCell;
  /** The procs, by their ranks in their own mesh. */
  readonly region: Region;
  /** What each of its actors was made of, and will be again where one is replaced. */
  readonly plan: SpawnPlan;
  readonly #operations: MeshOperations;
  #readyState: ReadyState = "spawning";
  /** Orders of which nothing has been heard. */
  #outstandingOrders: number;
  /** Ranks whose first order has made no actor, whatever the reason. */
  #neverCreated: Set<number> | undefined;
  #pendingOrders: Promise<void> | undefined;
  #failed: Map<number, FailureCause> | undefined;
  #incarnations: Map<number, number> | undefined;
  /** Which life each actor is in, where that is not the first. */
  #liveIncarnations: Map<number, number> | undefined;
  readonly #restarts: RestartTracker | undefined;
  /** Failed ranks that will be made again: their owner has not been told. */
  #pendingRestarts: Map<number, Timer | undefined> | undefined;
  #ready: Deferred<void> | undefined;
  #stopping: Promise<void> | undefined;
  /** The orders to stop its actors are on their way. */
  #stopOrdered = false;
  /** It is known what became of the first orders for all ranks. */
  #allOutcomes: Deferred<void> | undefined;

  constructor(record: MeshRecord, owner: ActorCell, region: Region, plan: SpawnPlan, host: MeshOperations) {
    this.record = record;
    this.owner = owner;
    this.region = region;
    this.plan = plan;
    this.#operations = host;
    this.#outstandingOrders = record.size;
    if (plan.restart !== undefined) this.#restarts = new RestartTracker(plan.restart);
    if (record.size === 0) this.#readyState = "ready";
  }

  get name(): string {
    return this.record.name;
  }

  /**
   * Whether a process that knows no actor of the mesh will have one, or has to wait to know that it will not. Resolves when the
   * orders to create them are on their way; once those to stop them are, too, not before all have been carried out: a process
   * that is still making its actor keeps what was sent to that before.
   */
  async isOrdered(): Promise<boolean> {
    await this.#pendingOrders;
    if (!this.#stopOrdered) return true;
    if (this.#outstandingOrders > 0) {
      this.#allOutcomes ??= new Deferred();
      await this.#allOutcomes.promise;
    }
    return false;
  }

  /** It is being stopped, or has been. */
  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** Its name is free again: it has been stopped, or every rank has failed. */
  get isOver(): boolean {
    if (this.#stopping !== undefined) return true;
    return this.#failed?.size === this.record.size && (this.#pendingRestarts?.size ?? 0) === 0;
  }

  get ready(): Promise<void> {
    if (this.#ready === undefined) {
      this.#ready = new Deferred();
      this.#settleReady();
    }
    return this.#ready.promise;
  }

  /** The orders could not be given at once. @param ordered never rejects */
  orderLater(ordered: Promise<void>): void {
    this.#pendingOrders = ordered;
    void ordered.then(() => {
      this.#pendingOrders = undefined;
    });
  }

  /** What became of the first order for one rank. */
  recordOutcome(rank: number, outcome: Settled<SpawnOutcome>): void {
    this.#outstandingOrders--;
    if (this.#outstandingOrders <= 0) this.#allOutcomes?.resolve();
    const made = this.#applyOutcome(rank, outcome);
    // The process of the rank may have been replaced meanwhile, and its actor be there.
    if (!made && this.#liveIncarnations?.has(rank) !== true) {
      this.#neverCreated ??= new Set();
      this.#neverCreated.add(rank);
    }
    this.#updateReady();
  }

  /** What became of the order to make one rank again. @returns whether there is an actor now */
  recordRestart(rank: number, outcome: Settled<SpawnOutcome>): boolean {
    if (this.#stopping !== undefined || this.#pendingRestarts?.has(rank) !== true) return false;
    return this.#applyOutcome(rank, outcome);
  }

  /** An actor has failed. */
  recordFailure({ rank, incarnation, kind, cause, at }: ActorNotice): void {
    // A process that has been replaced may still have had one.
    if (incarnation >= (this.#liveIncarnations?.get(rank) ?? 0)) this.failRanks([rank], kind, cause, at);
  }

  /** Ranks have failed: they are made again, or the owner is told, once for each. */
  failRanks(ranks: readonly number[], kind: FailureKind, cause: FailureCause, at = this.#wall()): void {
    const lost = ranks.filter((rank) => this.#markFailed(rank, cause));
    if (this.#stopping !== undefined) {
      this.#releaseWaiters(lost);
      return;
    }
    const final = lost.filter((rank) => !this.#scheduleRestart(rank, { kind, cause, at }));
    this.#releaseWaiters(final);
    if (final.length > 0) this.#reportFailure(final, { kind, cause, at });
  }

  /** None of the ranks can ever be made. */
  refuseAll(cause: FailureCause): void {
    const ranks = [...Array(this.record.size).keys()].filter((rank) => this.#markFailed(rank, cause));
    this.#releaseWaiters(ranks);
    if (ranks.length > 0 && this.#stopping === undefined)
      this.#reportFailure(ranks, { kind: "spawn", cause, at: this.#wall() });
  }

  /**
   * The process of a rank has ended.
   * @returns in how many milliseconds the mesh would have it back; undefined: it would not
   */
  restartDelay(rank: number, failure: PastFailure, clean: boolean): number | undefined {
    return this.#restarts?.nextDelay(rank, failure, this.#now, clean);
  }

  /** Whether a rank has failed and is not made again. */
  isLost(rank: number): boolean {
    return this.#failed?.has(rank) === true && this.#pendingRestarts?.has(rank) !== true;
  }

  /** What has become of the actor at a rank, for those who cannot reach it. */
  statusOf(rank: number): RankStatus {
    if (rank >= this.record.size || this.isStopping || this.isLost(rank)) return { state: "lost" };
    if (this.#failed?.has(rank) === true) return { state: "restarting" };
    const { proc, location, generation } = this.record.target(rank);
    return { state: "living", place: { mesh: this.record.id, rank, proc, location, generation } };
  }

  /** Whether it was said of the mesh itself that nothing is made again. */
  get neverRestarts(): boolean {
    return this.plan.restart?.policy === "never";
  }

  /** A rank was on a process that has ended, and will be on the one that takes its place. */
  awaitReplacement(rank: number, cause: FailureCause): void {
    this.#markFailed(rank, cause);
    this.#awaitRestart(rank, undefined);
  }

  /** Whether a rank waits for another process. */
  isAwaitingReplacement(rank: number): boolean {
    return this.#pendingRestarts?.has(rank) === true && this.#pendingRestarts.get(rank) === undefined;
  }

  /** A process has ended for good. @returns whether the rank that was on it is lost, and the owner does not know yet */
  markLost(rank: number, cause: FailureCause): boolean {
    if (!this.#markFailed(rank, cause)) return false;
    this.#releaseWaiters([rank]);
    this.#ranksLost();
    return this.#stopping === undefined;
  }

  /** Tells the owner of a rank that is lost. */
  reportLost(rank: number, failure: PastFailure): void {
    this.#reportFailure([rank], failure);
  }

  /** The number of the next life of the actor at a rank. */
  nextIncarnation(rank: number): number {
    this.#incarnations ??= new Map();
    const next = (this.#incarnations.get(rank) ?? 0) + 1;
    this.#incarnations.set(rank, next);
    return next;
  }

  /** How many times the actor at a rank has been replaced. */
  incarnationOf(rank: number): number {
    return this.#incarnations?.get(rank) ?? 0;
  }

  /** The actor at a rank has been replaced: it lives. */
  markRevived(rank: number): void {
    this.#liveIncarnations ??= new Map();
    this.#liveIncarnations.set(rank, this.incarnationOf(rank));
    this.#failed?.delete(rank);
    this.#neverCreated?.delete(rank);
    this.#pendingRestarts?.get(rank)?.cancel();
    this.#pendingRestarts?.delete(rank);
    this.record.target(rank).markBack();
    this.#updateReady();
  }

  stop({ reason = noReason, drain = defaultDrain, error }: MeshStopOptions & Partial<StopOptions> = {}): Promise<void> {
    this.#stopping ??= this.#stop({ reason, drain, ...(error === undefined ? {} : { error }) });
    this.#cancelRestarts();
    return this.#stopping;
  }

  /** The processes it lived on have been stopped. */
  procsStopped(reason: string): void {
    this.record.stopReason ??= reason;
    this.#stopping ??= Promise.resolve();
    this.#cancelRestarts();
    this.#forget();
  }

  async #stop(options: StopOptions): Promise<void> {
    this.record.stopReason ??= options.reason;
    await this.#pendingOrders;
    // Orders to stop take other ways than casts, which may be longer, and wait for nothing that messages wait for: neither for
    // credit, nor for what was sent to a process that has been replaced.
    const { clock, casts } = this.#operations.proc;
    const rest = countdown(clock, options.drain);
    if (options.drain > 0)
      await settlesWithin(clock, options.drain, Promise.all([casts.taken(this.record.id), this.record.whenSent()]));
    const stopped = this.#operations.stopActors(this, { ...options, drain: rest() });
    this.#stopOrdered = true;
    await stopped;
    this.#forget();
  }

  #forget(): void {
    this.#operations.forget(this);
    this.#operations.proc.casts.meshStopped(this.record.id);
    this.#settleReady();
  }

  #wall(): Date {
    return new Date(this.owner.proc.clock.wall());
  }

  get #now(): number {
    return this.owner.proc.clock.now();
  }

  /** @returns whether there is an actor */
  #applyOutcome(rank: number, outcome: Settled<SpawnOutcome>): boolean {
    if (outcome.status === "rejected") {
      // An agent that has ended with its process is told of as that.
      if (outcome.reason instanceof ActorError) this.failRanks([rank], "spawn", failureCauseOf(outcome.reason));
      return false;
    }
    const { failure } = outcome.value;
    if (failure !== undefined) this.recordFailure(failure);
    return failure === undefined;
  }

  /** @returns whether this is news to the owner */
  #markFailed(rank: number, cause: FailureCause): boolean {
    const known = this.#failed?.has(rank) === true && !this.#pendingRestarts?.has(rank);
    if (known) return false;
    this.#pendingRestarts?.get(rank)?.cancel();
    this.#pendingRestarts?.delete(rank);
    this.#failed ??= new Map();
    this.#failed.set(rank, cause);
    this.record.target(rank).markDown();
    return true;
  }

  /** Calls that wait for these ranks wait in vain. */
  #releaseWaiters(ranks: Iterable<number>): void {
    for (const rank of ranks) this.record.target(rank).downtime?.markLost();
  }

  /** @returns whether a rank will be made again where it was */
  #scheduleRestart(rank: number, failure: PastFailure): boolean {
    const delay = this.#restarts?.nextDelay(rank, failure, this.#now, false);
    if (delay === undefined) return false;
    const make = () => void this.#operations.restartActor(this, rank);
    this.#awaitRestart(rank, this.owner.proc.clock.after(delay, make));
    return true;
  }

  #awaitRestart(rank: number, timer: Timer | undefined): void {
    this.#pendingRestarts ??= new Map();
    this.#pendingRestarts.set(rank, timer);
  }

  #cancelRestarts(): void {
    for (const timer of this.#pendingRestarts?.values() ?? []) timer?.cancel();
    this.#releaseWaiters(this.#pendingRestarts?.keys() ?? []);
    this.#pendingRestarts = undefined;
  }

  /** One by one where they have pasts of their own. */
  #reportFailure(ranks: readonly number[], { kind, cause, at }: PastFailure): void {
    this.#ranksLost();
    const told = this.#restarts === undefined ? [ranks] : ranks.map((rank) => [rank]);
    for (const lost of told) {
      const history = this.#restarts?.history(lost[0]!) ?? [];
      const record = { mesh: this.name, ranks: lost, kind, cause, at, affected: [], history };
      this.#operations.reportFailure(this.owner, new MeshFailure(record));
    }
  }

  /** Some of the ranks will not come back. */
  #ranksLost(): void {
    if (this.#readyState === "spawning") this.#readyState = "failed";
    this.#settleReady();
  }

  /** Something has come about, or has failed. */
  #updateReady(): void {
    if (
      this.#readyState !== "ready" &&
      this.#outstandingOrders <= 0 &&
      !this.#failed?.size &&
      !this.#neverCreated?.size
    ) {
      // Whoever asks from now on is told of what is there now.
      if (this.#readyState === "failed") this.#ready = undefined;
      this.#readyState = "ready";
    }
    this.#settleReady();
  }

  #settleReady(): void {
    const ready = this.#ready;
    if (ready === undefined) return;
    if (this.#readyState === "ready") ready.resolve();
    else if (this.#readyState === "failed") ready.reject(this.#notReadyError());
    else if (this.#stopping !== undefined && !isProgramEnding()) {
      ready.reject(
        new Error(
          `mesh "${this.name}" was stopped before it was ready${reasonSuffix(this.record.stopReason ?? noReason)}`,
        ),
      );
    }
  }

  #notReadyError(): Error {
    const [rank, cause] = [...this.#failed!].sort(([a], [b]) => a - b)[0]!;
    const text = `mesh "${this.name}" is not ready: rank ${rank} failed: ${cause.message}`;
    return new Error(text, { cause: errorFromCause(cause) });
  }
}
