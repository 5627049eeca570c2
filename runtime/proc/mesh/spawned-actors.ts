/**
 * A mesh of actors as the process that spawned it sees it: it takes the outcomes of orders, and stops the mesh. Its parts
 * know which ranks belong to it, whether they have been created, and what happens when they fail. Handles of the mesh
 * (`actor/mesh/actor-mesh.ts`) reach it as `MeshControl`.
 */

import type { Checkpoint } from "../../../generated/checkpoint.js";
import type { RankStatus, SpawnOutcome } from "../../../generated/proc-agent.js";
import type { ActorNotice } from "../../../generated/supervision.js";
import type { Settled } from "../../actor/call/gather-call.js";
import { SupervisionError } from "../../actor/errors.js";
import type { Proc } from "../../actor/proc/proc.js";
import { isProgramEnding } from "../../actor/program-end.js";
import type { LocalActor } from "../../actor/reference/local-actor.js";
import {
  type MeshControl,
  type MeshRecord,
  type MeshStopOptions,
  noReason,
  reasonSuffix,
} from "../../actor/reference/mesh-record.js";
import type { StopOptions } from "../../actor/reference/stop-options.js";
import type { Region } from "../../shape/index.js";
import { errorFromCause, type FailureCause, failureCauseOf } from "../../supervise/failure-cause.js";
import type { MeshFailure } from "../../supervise/mesh-failure.js";
import type { OwnedMesh } from "../../supervise/ownership.js";
import { countdown, settlesWithin } from "../time-limit.js";
import { ActorMembership } from "./actor-membership.js";
import type { Resizing } from "./membership.js";
import { MeshCheckpoints } from "./mesh-checkpoints.js";
import { type AwaitedMesh, MeshReadiness } from "./mesh-readiness.js";
import { type FailingMesh, RankFailures } from "./rank-failures.js";
import type { SpawnPlan } from "./spawn-plan.js";

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
  /** Replaces the process of an actor that has handled as many messages as its plan allows. */
  renewActor(mesh: SpawnedActors, rank: number): void;
  /** Saves the state of an actor. Rejects if the actor has ended or its state cannot be saved. */
  saveActor(mesh: SpawnedActors, rank: number): Promise<Checkpoint>;
  /** Stops the actors of the mesh. Never rejects. */
  stopActors(mesh: SpawnedActors, options: StopOptions): Promise<unknown>;
}

/** The actor of one rank, as the earlier owner of its mesh knew it. */
export interface RestoredRank {
  /** How many times the actor has been replaced. */
  readonly incarnation: number;
  /** Why it has failed for good; absent if it lives. */
  readonly failed?: FailureCause;
}

/** Time in ms for which queued messages are handled at a stop. */
const defaultDrain = 5000;

export class SpawnedActors implements MeshControl, OwnedMesh, AwaitedMesh, FailingMesh {
  readonly record: MeshRecord;
  readonly owner: LocalActor;
  /** The plan from which its actors were created. Replacements are created from the same plan. */
  readonly plan: SpawnPlan;
  /** The ranks of the mesh, and the procs on which they live. */
  readonly members: ActorMembership;
  /** Undefined: actors are restarted with fresh state. */
  readonly checkpoints: MeshCheckpoints | undefined;
  readonly #operations: MeshOperations;
  readonly #readiness: MeshReadiness;
  readonly failures: RankFailures;
  #stopping: Promise<void> | undefined;
  /** Whether the orders to stop the actors have been sent. */
  #stopOrdered = false;

  constructor(record: MeshRecord, owner: LocalActor, region: Region, plan: SpawnPlan, host: MeshOperations) {
    this.record = record;
    this.owner = owner;
    this.plan = plan;
    this.members = new ActorMembership(region);
    this.#operations = host;
    this.#readiness = new MeshReadiness(this, record.size);
    this.failures = new RankFailures(this, plan.restart);
    const { checkpoints } = plan.restart ?? {};
    if (checkpoints !== undefined) {
      const { members } = this;
      const mesh = {
        name: record.name,
        get size() {
          return members.count;
        },
        isLiving: (rank: number) => this.#readiness.isKnown && this.statusOf(rank).state === "living",
        hasLeft: (rank: number) => members.hasLeft(rank),
        save: (rank: number) => host.saveActor(this, rank),
        warn: (text: string) => host.warn(text, "ViceroyCheckpoint"),
      };
      this.checkpoints = new MeshCheckpoints(mesh, checkpoints, host.proc.clock);
    }
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
    await this.#readiness.whenOrdered();
    if (!this.#stopOrdered) return true;
    await this.#readiness.whenKnown();
    return false;
  }

  /** Whether the mesh is being stopped or has been stopped. */
  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** Whether the name of the mesh can be used again: it has been stopped, or every rank has failed. */
  get isOver(): boolean {
    if (this.#stopping !== undefined) return true;
    const { size, waiting } = this.failures;
    return size > 0 && size === this.members.size && waiting.length === 0;
  }

  get ready(): Promise<void> {
    return this.#readiness.ready;
  }

  /** Whether actors can save their state, and begin with one that was saved. */
  get savesState(): boolean {
    const { descriptor, actorClass } = this.plan;
    const { save, restore } = actorClass.prototype as { readonly save?: unknown; readonly restore?: unknown };
    return descriptor.state !== undefined && typeof save === "function" && typeof restore === "function";
  }

  /** Registers orders that cannot be sent at once. @param ordered resolves when they have been sent; never rejects */
  orderLater(ordered: Promise<void>): void {
    this.#readiness.orderLater(ordered);
  }

  /** Records the outcome of the first order for a rank, or of the first order after it has joined the mesh again. */
  recordOutcome(rank: number, outcome: Settled<SpawnOutcome>, incarnation = 0): void {
    this.#readiness.outcomeKnown();
    // The rank may have left the mesh in the meantime, and may be back with another actor.
    const isOld = this.members.hasLeft(rank) || this.failures.isOutdated(rank, incarnation);
    const made = isOld || this.#applyOutcome(rank, outcome);
    // The process of the rank may have been replaced in the meantime, with a living actor.
    if (!made && !this.failures.isReplaced(rank)) this.#readiness.markMissing(rank);
    this.#readiness.update();
  }

  /** Records the outcome of the order to restart a rank. @returns whether the rank has an actor now */
  recordRestart(rank: number, outcome: Settled<SpawnOutcome>): boolean {
    if (this.#stopping !== undefined || !this.failures.isWaiting(rank)) return false;
    return this.#applyOutcome(rank, outcome);
  }

  /** Records the failure of an actor. */
  recordFailure({ rank, incarnation, kind, cause, at }: ActorNotice): void {
    // The notice may be about the actor of a replaced process.
    if (!this.failures.isOutdated(rank, incarnation)) this.failures.failRanks([rank], kind, cause, at);
  }

  /** Handles that an actor has handled as many messages as the plan allows. */
  recordCallsSpent(rank: number, incarnation: number): void {
    const isCurrent = !this.failures.isOutdated(rank, incarnation) && this.statusOf(rank).state === "living";
    if (isCurrent) this.#operations.renewActor(this, rank);
  }

  /** Marks all ranks as failed, because the actors can never be created. */
  refuseAll(cause: FailureCause): void {
    this.failures.refuse([...Array(this.members.count).keys()], cause);
  }

  /** Returns whether a rank has left the mesh, or has failed and will not be restarted. */
  isLost(rank: number): boolean {
    return this.members.hasLeft(rank) || this.failures.isLost(rank);
  }

  /** Returns the status of a rank, for processes that cannot reach its actor. */
  statusOf(rank: number): RankStatus {
    if (rank >= this.members.count || this.isStopping || this.isLost(rank)) return { state: "lost" };
    if (this.failures.has(rank)) return { state: "restarting" };
    const { proc, location, generation } = this.record.target(rank);
    return { state: "living", place: { mesh: this.record.id, rank, proc, location, generation } };
  }

  isWhole(region: Region): boolean {
    return this.members.isWhole(region);
  }

  /**
   * Makes a planned change of the extent. The caller orders the actors of the ranks that join.
   * @param procs the number of the proc of each rank that joins
   * @returns the incarnation of each actor that joins
   */
  resize(resizing: Resizing, procs: readonly number[]): number[] {
    const { joining } = resizing;
    this.members.resize(resizing, procs);
    this.#readiness.expect(joining.length);
    return joining.map(({ number, isReturning }) => (isReturning ? this.failures.nextIncarnation(number) : 0));
  }

  /**
   * Removes a rank, because its proc leaves the mesh of procs. Whatever happens to it from now on is no failure.
   * @returns the number of this move of the actor
   */
  leave(rank: number): number {
    this.members.remove([rank]);
    this.failures.remove(rank);
    this.checkpoints?.release(rank);
    this.#readiness.notMissing(rank);
    this.#readiness.update();
    return this.failures.nextIncarnation(rank);
  }

  /** Marks the actor at a rank as alive after a replacement. */
  markRevived(rank: number): void {
    this.failures.markRevived(rank);
    this.#readiness.notMissing(rank);
    this.record.target(rank).markBack();
    this.#readiness.update();
  }

  checkpoint(ranks: readonly number[]): Promise<void> {
    if (this.checkpoints !== undefined) return this.#checkpoint(this.checkpoints, ranks);
    const advice = 'spawn it with the option restart: { from: "checkpoint" }';
    throw new Error(`cannot checkpoint mesh "${this.name}": its actors are restarted without checkpoints; ${advice}`);
  }

  /** Stores the last state of an actor that is being stopped. A replaced actor has a successor, which may be ahead of it. */
  async storeLastState(rank: number, incarnation: number, checkpoint: Checkpoint): Promise<void> {
    if (!this.failures.isOutdated(rank, incarnation)) await this.checkpoints?.storeLast(rank, checkpoint);
  }

  async #checkpoint(checkpoints: MeshCheckpoints, ranks: readonly number[]): Promise<void> {
    await this.#readiness.whenKnown();
    await checkpoints.take(ranks);
  }

  stop({ reason = noReason, drain = defaultDrain, error }: MeshStopOptions & Partial<StopOptions> = {}): Promise<void> {
    this.#stopping ??= this.#stop({ reason, drain, ...(error === undefined ? {} : { error }) });
    this.failures.giveUpRestarts();
    this.checkpoints?.stop();
    return this.#stopping;
  }

  /** Resolves when it is known of each actor whether it has been created. */
  whenKnown(): Promise<void> {
    return this.#readiness.whenKnown();
  }

  /** Takes over a mesh whose actors have been created by another process, which has owned it before. */
  restore(ranks: readonly RestoredRank[]): void {
    for (const [rank, { incarnation, failed }] of ranks.entries()) {
      this.failures.restore(rank, incarnation, failed);
      this.#readiness.outcomeKnown();
      if (failed !== undefined) this.record.target(rank).markDown().markLost();
    }
    if (this.failures.size > 0) this.#readiness.ranksLost();
    this.#readiness.update();
  }

  /** Handles the stop of the processes on which the mesh lives, or that another process owns the mesh from now on. */
  procsStopped(reason: string): void {
    this.record.stopReason ??= reason;
    this.#stopping ??= Promise.resolve();
    this.failures.giveUpRestarts();
    this.checkpoints?.stop();
    this.#forget();
  }

  async #stop(options: StopOptions): Promise<void> {
    this.record.stopReason ??= options.reason;
    await this.#readiness.whenOrdered();
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

  #forget(): void {
    this.#operations.forget(this);
    this.#operations.proc.casts.meshStopped(this.record.id);
    this.#readiness.settle();
  }

  /** @returns whether the order created an actor */
  #applyOutcome(rank: number, outcome: Settled<SpawnOutcome>): boolean {
    if (outcome.status === "rejected") {
      const { reason } = outcome;
      // If the agent has ended with its process, the end of the process is reported instead.
      if (!(reason instanceof SupervisionError)) this.failures.failRanks([rank], "spawn", failureCauseOf(reason));
      return false;
    }
    const { failure } = outcome.value;
    if (failure !== undefined) this.recordFailure(failure);
    return failure === undefined;
  }

  hasLeft(rank: number): boolean {
    return this.members.hasLeft(rank);
  }

  restart(rank: number): void {
    void this.#operations.restartActor(this, rank);
  }

  report(failure: MeshFailure): void {
    this.#operations.reportFailure(this.owner, failure);
  }

  ranksLost(): void {
    this.#readiness.ranksLost();
  }

  get hasFailedRanks(): boolean {
    return this.failures.size > 0;
  }

  lostError(): Error {
    const [rank, cause] = this.failures.first!;
    const text = `mesh "${this.name}" is not ready: rank ${rank} failed: ${cause.message}`;
    return new Error(text, { cause: errorFromCause(cause) });
  }

  stoppedError(): Error | undefined {
    if (this.#stopping === undefined || isProgramEnding()) return undefined;
    const suffix = reasonSuffix(this.record.stopReason ?? noReason);
    return new Error(`mesh "${this.name}" was stopped before it was ready${suffix}`);
  }
}
