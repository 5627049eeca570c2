/**
 * A mesh of actors as the process that spawned it sees it: its orders, the ranks that have failed, whether it is ready,
 * and how it is stopped. Handles of the mesh (`actor/mesh/actor-mesh.ts`) reach it as `MeshControl`. A program may have
 * many meshes, so rarely used parts are allocated on demand.
 */

import type { Checkpoint } from "../../../generated/checkpoint.js";
import type { RankStatus, SpawnOutcome } from "../../../generated/proc-agent.js";
import type { ActorNotice } from "../../../generated/supervision.js";
import type { Settled } from "../../actor/call/gather-call.js";
import { SupervisionError } from "../../actor/errors.js";
import type { Proc } from "../../actor/proc/proc.js";
import { isProgramEnding } from "../../actor/program-end.js";
import type { ActorClass, WatchLimits } from "../../actor/reference/actor-request.js";
import type { LocalActor } from "../../actor/reference/local-actor.js";
import {
  type MeshControl,
  type MeshRecord,
  type MeshStopOptions,
  noReason,
  reasonSuffix,
} from "../../actor/reference/mesh-record.js";
import type { StopOptions } from "../../actor/reference/stop-options.js";
import type { Timer } from "../../link/clock.js";
import { baseRanks, type Extent, Point, type Region, rankOfBaseRank, regionSize } from "../../shape/index.js";
import { errorFromCause, type FailureCause, failureCauseOf } from "../../supervise/failure-cause.js";
import { type FailureKind, MeshFailure, type PastFailure } from "../../supervise/mesh-failure.js";
import type { OwnedMesh } from "../../supervise/ownership.js";
import { type RestartPlan, RestartTracker } from "../../supervise/restart-policy.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import { Deferred } from "../deferred.js";
import { countdown, settlesWithin } from "../time-limit.js";
import { Membership, type Resizing } from "./membership.js";
import { MeshCheckpoints } from "./mesh-checkpoints.js";

/** A spawn request with checked and encoded arguments. */
export interface SpawnPlan {
  readonly actorClass: ActorClass;
  readonly descriptor: ActorDescriptor;
  /** The constructor arguments, a message of `descriptor.args`. */
  readonly args: Uint8Array;
  /** Whether `args` are in the protobuf layout, because the lockstep layout cannot express them. */
  readonly protobuf: boolean;
  /** The restart policy of the mesh; undefined selects the policy of the processes on which it lives. */
  readonly restart?: RestartPlan | undefined;
  /** Time limits of its handlers; undefined means no limits. */
  readonly watch?: WatchLimits | undefined;
}

/** The operations of the procs that a spawned mesh uses. */
export interface MeshOperations {
  /** The proc that sends the orders. */
  readonly proc: Proc;
  /** Emits a process warning. */
  warn(message: string, type: string): void;
  /** Reports a failure to its owner. */
  reportFailure(owner: LocalActor, failure: MeshFailure): void;
  /** Removes a stopped mesh from all registers. */
  forget(mesh: SpawnedActors): void;
  /** Creates an actor again, in the process where it lived. Never rejects. */
  restartActor(mesh: SpawnedActors, rank: number): Promise<void>;
  /** Saves the state of an actor. Rejects if the actor has ended or its state cannot be saved. */
  saveActor(mesh: SpawnedActors, rank: number): Promise<Checkpoint>;
  /** Stops the actors of the mesh. Never rejects. */
  stopActors(mesh: SpawnedActors, options: StopOptions): Promise<unknown>;
}

/** Time in ms for which queued messages are handled at a stop. */
const defaultDrain = 5000;

type ReadyState = "spawning" | "ready" | "failed";

export class SpawnedActors implements MeshControl, OwnedMesh {
  readonly record: MeshRecord;
  readonly owner: LocalActor;
  /** The procs of the actors: the base rank of each actor's number is the number of its proc in the mesh of procs. */
  region: Region;
  /** Whether the mesh has been given another extent. `region` then lists the procs by the numbers of the actors. */
  isResized = false;
  /** The plan from which its actors were created. Replacements are created from the same plan. */
  readonly plan: SpawnPlan;
  /** Undefined: actors are restarted with fresh state. */
  readonly checkpoints: MeshCheckpoints | undefined;
  readonly #operations: MeshOperations;
  #readyState: ReadyState = "spawning";
  /** Number of orders without a known outcome. */
  #outstandingOrders: number;
  /** Ranks whose first order did not create an actor, for any reason. */
  #neverCreated: Set<number> | undefined;
  #pendingOrders: Promise<void> | undefined;
  #failed: Map<number, FailureCause> | undefined;
  #incarnations: Map<number, number> | undefined;
  /** The incarnation of each living actor that is not the first of its rank. */
  #liveIncarnations: Map<number, number> | undefined;
  /** The ranks of the mesh, once it has been resized. */
  #membership: Membership | undefined;
  readonly #restarts: RestartTracker | undefined;
  /**
   * Failed ranks that will be restarted, and whose failure has not been reported to the owner. The timer is undefined
   * if the rank waits for another process.
   */
  #pendingRestarts: Map<number, Timer | undefined> | undefined;
  #ready: Deferred<void> | undefined;
  #stopping: Promise<void> | undefined;
  /** Whether the orders to stop the actors have been sent. */
  #stopOrdered = false;
  /** Resolves when the outcomes of the first orders for all ranks are known. */
  #allOutcomes: Deferred<void> | undefined;

  constructor(record: MeshRecord, owner: LocalActor, region: Region, plan: SpawnPlan, host: MeshOperations) {
    this.record = record;
    this.owner = owner;
    this.region = region;
    this.plan = plan;
    this.#operations = host;
    this.#outstandingOrders = record.size;
    if (plan.restart !== undefined) this.#restarts = new RestartTracker(plan.restart);
    const { checkpoints } = plan.restart ?? {};
    if (checkpoints !== undefined) {
      const rankCount = () => this.#rankCount;
      const mesh = {
        name: record.name,
        get size() {
          return rankCount();
        },
        isLiving: (rank: number) => this.#outstandingOrders <= 0 && this.statusOf(rank).state === "living",
        save: (rank: number) => host.saveActor(this, rank),
        warn: (text: string) => host.warn(text, "ViceroyCheckpoint"),
      };
      this.checkpoints = new MeshCheckpoints(mesh, checkpoints, host.proc.clock);
    }
    if (record.size === 0) this.#readyState = "ready";
  }

  get name(): string {
    return this.record.name;
  }

  /**
   * Returns whether a process that knows no actor of this mesh will get one. Resolves when the orders to create the
   * actors have been sent. If the orders to stop them have also been sent, it resolves only when all creation orders
   * have an outcome: a process that is still creating its actor keeps the messages that arrived before.
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

  /** Whether the mesh is being stopped or has been stopped. */
  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** Whether the name of the mesh can be used again: it has been stopped, or every rank has failed. */
  get isOver(): boolean {
    if (this.#stopping !== undefined) return true;
    return this.#failed?.size === this.#memberCount && (this.#pendingRestarts?.size ?? 0) === 0;
  }

  get ready(): Promise<void> {
    if (this.#ready === undefined) {
      this.#ready = new Deferred();
      this.#settleReady();
    }
    return this.#ready.promise;
  }

  /** Registers orders that cannot be sent at once. @param ordered resolves when they have been sent; never rejects */
  orderLater(ordered: Promise<void>): void {
    const all = Promise.all([this.#pendingOrders, ordered]).then(() => {
      if (this.#pendingOrders === all) this.#pendingOrders = undefined;
    });
    this.#pendingOrders = all;
  }

  /** Records the outcome of the first order for a rank, or of the first order after it has joined the mesh again. */
  recordOutcome(rank: number, outcome: Settled<SpawnOutcome>, incarnation = 0): void {
    this.#outstandingOrders--;
    if (this.#outstandingOrders <= 0) this.#allOutcomes?.resolve();
    // The rank may have left the mesh in the meantime, and may be back with another actor.
    const isOld = this.#hasLeft(rank) || incarnation < (this.#liveIncarnations?.get(rank) ?? 0);
    const made = isOld || this.#applyOutcome(rank, outcome);
    // The process of the rank may have been replaced in the meantime, with a living actor.
    if (!made && this.#liveIncarnations?.has(rank) !== true) {
      this.#neverCreated ??= new Set();
      this.#neverCreated.add(rank);
    }
    this.#updateReady();
  }

  /** Records the outcome of the order to restart a rank. @returns whether the rank has an actor now */
  recordRestart(rank: number, outcome: Settled<SpawnOutcome>): boolean {
    if (this.#stopping !== undefined || this.#pendingRestarts?.has(rank) !== true) return false;
    return this.#applyOutcome(rank, outcome);
  }

  /** Records the failure of an actor. */
  recordFailure({ rank, incarnation, kind, cause, at }: ActorNotice): void {
    // The notice may be about the actor of a replaced process.
    if (incarnation >= (this.#liveIncarnations?.get(rank) ?? 0)) this.failRanks([rank], kind, cause, at);
  }

  /** Handles the failure of ranks: restarts them, or reports them to the owner, once for each rank. */
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

  /** Marks all ranks as failed, because the actors can never be created. */
  refuseAll(cause: FailureCause): void {
    const ranks = [...Array(this.#rankCount).keys()].filter((rank) => this.#markFailed(rank, cause));
    this.#releaseWaiters(ranks);
    if (ranks.length > 0 && this.#stopping === undefined)
      this.#reportFailure(ranks, { kind: "spawn", cause, at: this.#wall() });
  }

  /**
   * Asks the restart policy of the mesh after the process of a rank has ended.
   * @returns the delay in ms after which the mesh restarts the rank; undefined if it does not
   */
  restartDelay(rank: number, failure: PastFailure, clean: boolean): number | undefined {
    return this.#restarts?.nextDelay(rank, failure, this.#now, clean);
  }

  /** Returns whether a rank has left the mesh, or has failed and will not be restarted. */
  isLost(rank: number): boolean {
    if (this.#hasLeft(rank)) return true;
    return this.#failed?.has(rank) === true && this.#pendingRestarts?.has(rank) !== true;
  }

  /** Returns the status of a rank, for processes that cannot reach its actor. */
  statusOf(rank: number): RankStatus {
    if (rank >= this.#rankCount || this.isStopping || this.isLost(rank)) return { state: "lost" };
    if (this.#failed?.has(rank) === true) return { state: "restarting" };
    const { proc, location, generation } = this.record.target(rank);
    return { state: "living", place: { mesh: this.record.id, rank, proc, location, generation } };
  }

  /** Returns the rank that lives on a proc of the mesh of procs, or undefined if none does. */
  rankOn(proc: number): number | undefined {
    const rank = rankOfBaseRank(this.region, proc);
    return rank === undefined || this.#hasLeft(rank) ? undefined : rank;
  }

  /** Returns the position of a rank in the mesh that was spawned, or in the extent with which it joined the mesh. */
  placeOf(rank: number): Point {
    return rank < this.record.size ? new Point(this.record.extent, rank) : this.#resizable.placeOf(rank);
  }

  isWhole(region: Region): boolean {
    return this.#membership?.isWhole(region) ?? regionSize(region) === this.record.size;
  }

  /** Returns the change of this mesh to another extent, without making it. */
  planResize(extent: Extent): Resizing {
    return this.#resizable.plan(extent);
  }

  /**
   * Makes a planned change. The caller orders the actors of the ranks that join.
   * @param procs the number of the proc of each rank that joins
   * @returns the incarnation of each actor that joins
   */
  resize(resizing: Resizing, procs: readonly number[]): number[] {
    const { joining } = resizing;
    const members = [...baseRanks(this.region)];
    this.isResized = true;
    for (const [i, { number }] of joining.entries()) members[number] = procs[i]!;
    this.region = { labels: ["rank"], sizes: [members.length], offset: 0, strides: [1], members };
    this.#resizable.apply(resizing);
    this.#outstandingOrders += joining.length;
    if (joining.length > 0 && this.#readyState === "ready") {
      this.#readyState = "spawning";
      this.#ready = undefined;
    }
    return joining.map(({ number, isReturning }) => (isReturning ? this.nextIncarnation(number) : 0));
  }

  /**
   * Removes a rank, because its proc leaves the mesh of procs. Whatever happens to it from now on is no failure.
   * @returns the number of this move of the actor
   */
  leave(rank: number): number {
    this.#resizable.remove([rank]);
    this.#pendingRestarts?.get(rank)?.cancel();
    this.#pendingRestarts?.delete(rank);
    this.#failed?.delete(rank);
    this.#neverCreated?.delete(rank);
    this.#updateReady();
    return this.nextIncarnation(rank);
  }

  /** Whether the restart policy of the mesh itself is `"never"`. */
  get neverRestarts(): boolean {
    return this.plan.restart?.policy === "never";
  }

  /** Marks a rank as failed with its process. It waits for the process that replaces that one. */
  awaitReplacement(rank: number, cause: FailureCause): void {
    this.#markFailed(rank, cause);
    this.#awaitRestart(rank, undefined);
  }

  /** Returns whether a rank waits for a replacement process. */
  isAwaitingReplacement(rank: number): boolean {
    return this.#pendingRestarts?.has(rank) === true && this.#pendingRestarts.get(rank) === undefined;
  }

  /** Marks a rank as lost after its process has ended for good. @returns whether the owner must still be told */
  markLost(rank: number, cause: FailureCause): boolean {
    if (!this.#markFailed(rank, cause)) return false;
    this.#releaseWaiters([rank]);
    this.#ranksLost();
    return this.#stopping === undefined;
  }

  /** Reports a lost rank to the owner. */
  reportLost(rank: number, failure: PastFailure): void {
    this.#reportFailure([rank], failure);
  }

  /** Returns the number of the next incarnation of the actor at a rank. */
  nextIncarnation(rank: number): number {
    this.#incarnations ??= new Map();
    const next = (this.#incarnations.get(rank) ?? 0) + 1;
    this.#incarnations.set(rank, next);
    return next;
  }

  /** Returns how many times the actor at a rank has been replaced. */
  incarnationOf(rank: number): number {
    return this.#incarnations?.get(rank) ?? 0;
  }

  /** Marks the actor at a rank as alive after a replacement. */
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

  checkpoint(ranks: readonly number[]): Promise<void> {
    if (this.checkpoints !== undefined) return this.#checkpoint(this.checkpoints, ranks);
    const advice = 'spawn it with the option restart: { from: "checkpoint" }';
    throw new Error(`cannot checkpoint mesh "${this.name}": its actors are restarted without checkpoints; ${advice}`);
  }

  /** Stores the last state of an actor that is being stopped. A replaced actor has a successor, which may be ahead of it. */
  async storeLastState(rank: number, incarnation: number, checkpoint: Checkpoint): Promise<void> {
    if (incarnation < (this.#liveIncarnations?.get(rank) ?? 0)) return;
    await this.checkpoints?.storeLast(rank, checkpoint);
  }

  async #checkpoint(checkpoints: MeshCheckpoints, ranks: readonly number[]): Promise<void> {
    if (this.#outstandingOrders > 0) {
      this.#allOutcomes ??= new Deferred();
      await this.#allOutcomes.promise;
    }
    await checkpoints.take(ranks);
  }

  stop({ reason = noReason, drain = defaultDrain, error }: MeshStopOptions & Partial<StopOptions> = {}): Promise<void> {
    this.#stopping ??= this.#stop({ reason, drain, ...(error === undefined ? {} : { error }) });
    this.#cancelRestarts();
    this.checkpoints?.stop();
    return this.#stopping;
  }

  /** Handles the stop of the processes on which the mesh lives. */
  procsStopped(reason: string): void {
    this.record.stopReason ??= reason;
    this.#stopping ??= Promise.resolve();
    this.#cancelRestarts();
    this.checkpoints?.stop();
    this.#forget();
  }

  async #stop(options: StopOptions): Promise<void> {
    this.record.stopReason ??= options.reason;
    await this.#pendingOrders;
    // Orders to stop do not take the paths of casts, which may be longer. They wait neither for credit nor for messages
    // to a replaced process. Therefore the earlier casts and messages are awaited here.
    const { clock, casts } = this.#operations.proc;
    const rest = countdown(clock, options.drain);
    if (options.drain > 0)
      await settlesWithin(clock, options.drain, Promise.all([casts.whenTaken(this.record.id), this.record.whenSent()]));
    const stopped = this.#operations.stopActors(this, { ...options, drain: rest() });
    this.#stopOrdered = true;
    await stopped;
    this.#forget();
  }

  get #resizable(): Membership {
    this.#membership ??= new Membership(this.record.extent);
    return this.#membership;
  }

  /** The number of ranks that belong to the mesh. */
  get #memberCount(): number {
    return this.#membership?.size ?? this.record.size;
  }

  /** The number of ranks that belong to the mesh or have left it. */
  get #rankCount(): number {
    return this.#membership?.count ?? this.record.size;
  }

  #hasLeft(rank: number): boolean {
    return this.#membership?.has(rank) === false;
  }

  #forget(): void {
    this.#operations.forget(this);
    this.#operations.proc.casts.meshStopped(this.record.id);
    this.#settleReady();
  }

  #wall(): Date {
    return new Date(this.owner.proc.clock.epochMs());
  }

  get #now(): number {
    return this.owner.proc.clock.now();
  }

  /** @returns whether the order created an actor */
  #applyOutcome(rank: number, outcome: Settled<SpawnOutcome>): boolean {
    if (outcome.status === "rejected") {
      const { reason } = outcome;
      // If the agent has ended with its process, the end of the process is reported instead.
      if (!(reason instanceof SupervisionError)) this.failRanks([rank], "spawn", failureCauseOf(reason));
      return false;
    }
    const { failure } = outcome.value;
    if (failure !== undefined) this.recordFailure(failure);
    return failure === undefined;
  }

  /** @returns whether the failure is new for the owner */
  #markFailed(rank: number, cause: FailureCause): boolean {
    if (this.#hasLeft(rank)) return false;
    const known = this.#failed?.has(rank) === true && !this.#pendingRestarts?.has(rank);
    if (known) return false;
    this.#pendingRestarts?.get(rank)?.cancel();
    this.#pendingRestarts?.delete(rank);
    this.#failed ??= new Map();
    this.#failed.set(rank, cause);
    this.record.target(rank).markDown();
    return true;
  }

  /** Releases the calls that wait for the return of these ranks. */
  #releaseWaiters(ranks: Iterable<number>): void {
    for (const rank of ranks) this.record.target(rank).downtime?.markLost();
  }

  /** @returns whether the rank will be restarted in its process */
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

  /**
   * Reports the failure of ranks to the owner. Ranks with a restart policy are reported one by one, because each has
   * its own history.
   */
  #reportFailure(ranks: readonly number[], { kind, cause, at }: PastFailure): void {
    this.#ranksLost();
    const told = this.#restarts === undefined ? [ranks] : ranks.map((rank) => [rank]);
    for (const lost of told) {
      const history = this.#restarts?.history(lost[0]!) ?? [];
      const record = { mesh: this.name, ranks: lost, kind, cause, at, affected: [], history };
      this.#operations.reportFailure(this.owner, new MeshFailure(record));
    }
  }

  /** Updates `ready` after the loss of ranks. */
  #ranksLost(): void {
    if (this.#readyState === "spawning") this.#readyState = "failed";
    this.#settleReady();
  }

  /** Updates `ready` after an actor has been created or has failed. */
  #updateReady(): void {
    if (
      this.#readyState !== "ready" &&
      this.#outstandingOrders <= 0 &&
      !this.#failed?.size &&
      !this.#neverCreated?.size
    ) {
      // A later caller of `ready` gets the present state, not the earlier failure.
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
