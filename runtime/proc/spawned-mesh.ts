/**
 * A mesh of actors, as the one who spawned it sees it: the orders given for it, which ranks have failed, whether it is
 * ready, how it is stopped. Handles of it (mesh.ts in actor/) know it as their control. Many may exist: what is rarely
 * needed is made when it is.
 */

import type { RankStatus, SpawnOutcome } from "../../generated/proc-agent.js";
import type { ActorNotice } from "../../generated/supervision.js";
import { because, type MeshControl, type MeshRecord, type MeshStopOptions, noReason } from "../actor/address.js";
import type { Cell } from "../actor/cell.js";
import { programIsEnding } from "../actor/ending.js";
import { ActorError } from "../actor/errors.js";
import type { Settled } from "../actor/gather.js";
import type { ActorClass, StopOptions } from "../actor/hooks.js";
import type { Proc } from "../actor/proc.js";
import type { WatchLimits } from "../actor/watchdog.js";
import type { Timer } from "../link/clock.js";
import type { Region } from "../shape/index.js";
import { causeOf, errorOf, type FailureCause } from "../supervise/cause.js";
import { type FailureKind, MeshFailure, type PastFailure } from "../supervise/failure.js";
import type { Owned } from "../supervise/ownership.js";
import { type RestartPlan, Restarts } from "../supervise/restart.js";
import type { ActorDescriptor } from "../wire/descriptor.js";
import { Deferred } from "./deferred.js";
import { countdown, within } from "./within.js";

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
export interface MeshHost {
  /** The proc that gives the orders. */
  readonly proc: Proc;
  /** Tells an owner of a failure. */
  tell(owner: Cell, failure: MeshFailure): void;
  /** The mesh has been stopped: nobody needs to know of it any more. */
  forget(mesh: SpawnedMesh): void;
  /** Makes an actor again, in the process where it lived. Never rejects. */
  restart(mesh: SpawnedMesh, rank: number): Promise<void>;
  /** Stops the actors of the mesh. Never rejects. */
  stopActors(mesh: SpawnedMesh, options: StopOptions): Promise<unknown>;
}

const defaultDrain = 5000;

type Progress = "spawning" | "ready" | "failed";

export class SpawnedMesh implements MeshControl, Owned {
  readonly record: MeshRecord;
  readonly owner: Cell;
  /** The procs, by their ranks in their own mesh. */
  readonly region: Region;
  /** What each of its actors was made of, and will be again where one is replaced. */
  readonly plan: SpawnPlan;
  readonly #host: MeshHost;
  #progress: Progress = "spawning";
  /** Orders of which nothing has been heard. */
  #waiting: number;
  /** Ranks whose first order has made no actor, whatever the reason. */
  #missing: Set<number> | undefined;
  #ordered: Promise<void> | undefined;
  #failed: Map<number, FailureCause> | undefined;
  #incarnations: Map<number, number> | undefined;
  /** Which life each actor is in, where that is not the first. */
  #lives: Map<number, number> | undefined;
  readonly #restarts: Restarts | undefined;
  /** Failed ranks that will be made again: their owner has not been told. */
  #comingBack: Map<number, Timer | undefined> | undefined;
  #ready: Deferred<void> | undefined;
  #stopping: Promise<void> | undefined;
  /** The orders to stop its actors are on their way. */
  #stopOrdered = false;
  /** It is known what became of the first orders for all ranks. */
  #outcomes: Deferred<void> | undefined;

  constructor(record: MeshRecord, owner: Cell, region: Region, plan: SpawnPlan, host: MeshHost) {
    this.record = record;
    this.owner = owner;
    this.region = region;
    this.plan = plan;
    this.#host = host;
    this.#waiting = record.size;
    if (plan.restart !== undefined) this.#restarts = new Restarts(plan.restart);
    if (record.size === 0) this.#progress = "ready";
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
    await this.#ordered;
    if (!this.#stopOrdered) return true;
    if (this.#waiting > 0) {
      this.#outcomes ??= new Deferred();
      await this.#outcomes.promise;
    }
    return false;
  }

  /** It is being stopped, or has been. */
  get stopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** Its name is free again: it has been stopped, or every rank has failed. */
  get over(): boolean {
    if (this.#stopping !== undefined) return true;
    return this.#failed?.size === this.record.size && (this.#comingBack?.size ?? 0) === 0;
  }

  get ready(): Promise<void> {
    if (this.#ready === undefined) {
      this.#ready = new Deferred();
      this.#settleReady();
    }
    return this.#ready.promise;
  }

  /** The orders could not be given at once. @param ordered never rejects */
  orderedBy(ordered: Promise<void>): void {
    this.#ordered = ordered;
    void ordered.then(() => {
      this.#ordered = undefined;
    });
  }

  /** What became of the first order for one rank. */
  outcome(rank: number, outcome: Settled<SpawnOutcome>): void {
    this.#waiting--;
    if (this.#waiting <= 0) this.#outcomes?.resolve();
    const made = this.#take(rank, outcome);
    // The process of the rank may have been replaced meanwhile, and its actor be there.
    if (!made && this.#lives?.has(rank) !== true) {
      this.#missing ??= new Set();
      this.#missing.add(rank);
    }
    this.#check();
  }

  /** What became of the order to make one rank again. @returns whether there is an actor now */
  restarted(rank: number, outcome: Settled<SpawnOutcome>): boolean {
    if (this.#stopping !== undefined || this.#comingBack?.has(rank) !== true) return false;
    return this.#take(rank, outcome);
  }

  /** An actor has failed. */
  failed({ rank, incarnation, kind, cause, at }: ActorNotice): void {
    // A process that has been replaced may still have had one.
    if (incarnation >= (this.#lives?.get(rank) ?? 0)) this.fail([rank], kind, cause, at);
  }

  /** Ranks have failed: they are made again, or the owner is told, once for each. */
  fail(ranks: readonly number[], kind: FailureKind, cause: FailureCause, at = this.#wall()): void {
    const lost = ranks.filter((rank) => this.#lose(rank, cause));
    if (this.#stopping !== undefined) {
      this.#giveUp(lost);
      return;
    }
    const final = lost.filter((rank) => !this.#again(rank, { kind, cause, at }));
    this.#giveUp(final);
    if (final.length > 0) this.#tell(final, { kind, cause, at });
  }

  /** None of the ranks can ever be made. */
  refuse(cause: FailureCause): void {
    const ranks = [...Array(this.record.size).keys()].filter((rank) => this.#lose(rank, cause));
    this.#giveUp(ranks);
    if (ranks.length > 0 && this.#stopping === undefined) this.#tell(ranks, { kind: "spawn", cause, at: this.#wall() });
  }

  /**
   * The process of a rank has ended.
   * @returns in how many milliseconds the mesh would have it back; undefined: it would not
   */
  wish(rank: number, failure: PastFailure, clean: boolean): number | undefined {
    return this.#restarts?.after(rank, failure, this.#now, clean);
  }

  /** Whether a rank has failed and is not made again. */
  isLost(rank: number): boolean {
    return this.#failed?.has(rank) === true && this.#comingBack?.has(rank) !== true;
  }

  /** What has become of the actor at a rank, for those who cannot reach it. */
  status(rank: number): RankStatus {
    if (rank >= this.record.size || this.stopping || this.isLost(rank)) return { state: "lost" };
    if (this.#failed?.has(rank) === true) return { state: "restarting" };
    const { proc, location, generation } = this.record.target(rank);
    return { state: "living", place: { mesh: this.record.id, rank, proc, location, generation } };
  }

  /** Whether it was said of the mesh itself that nothing is made again. */
  get staysFailed(): boolean {
    return this.plan.restart?.policy === "never";
  }

  /** A rank was on a process that has ended, and will be on the one that takes its place. */
  awaitProcess(rank: number, cause: FailureCause): void {
    this.#lose(rank, cause);
    this.#putOff(rank, undefined);
  }

  /** Whether a rank waits for another process. */
  isAwaiting(rank: number): boolean {
    return this.#comingBack?.has(rank) === true && this.#comingBack.get(rank) === undefined;
  }

  /** A process has ended for good. @returns whether the rank that was on it is lost, and the owner does not know yet */
  lose(rank: number, cause: FailureCause): boolean {
    if (!this.#lose(rank, cause)) return false;
    this.#giveUp([rank]);
    this.#lost();
    return this.#stopping === undefined;
  }

  /** Tells the owner of a rank that is lost. */
  tell(rank: number, failure: PastFailure): void {
    this.#tell([rank], failure);
  }

  /** The number of the next life of the actor at a rank. */
  nextIncarnation(rank: number): number {
    this.#incarnations ??= new Map();
    const next = (this.#incarnations.get(rank) ?? 0) + 1;
    this.#incarnations.set(rank, next);
    return next;
  }

  /** How many times the actor at a rank has been replaced. */
  incarnation(rank: number): number {
    return this.#incarnations?.get(rank) ?? 0;
  }

  /** The actor at a rank has been replaced: it lives. */
  revived(rank: number): void {
    this.#lives ??= new Map();
    this.#lives.set(rank, this.incarnation(rank));
    this.#failed?.delete(rank);
    this.#missing?.delete(rank);
    this.#comingBack?.get(rank)?.cancel();
    this.#comingBack?.delete(rank);
    this.record.target(rank).cameBack();
    this.#check();
  }

  stop({ reason = noReason, drain = defaultDrain, error }: MeshStopOptions & Partial<StopOptions> = {}): Promise<void> {
    this.#stopping ??= this.#stop({ reason, drain, ...(error === undefined ? {} : { error }) });
    this.#stayAway();
    return this.#stopping;
  }

  /** The processes it lived on have been stopped. */
  gone(reason: string): void {
    this.record.stopped ??= reason;
    this.#stopping ??= Promise.resolve();
    this.#stayAway();
    this.#forget();
  }

  async #stop(options: StopOptions): Promise<void> {
    this.record.stopped ??= options.reason;
    await this.#ordered;
    // Orders to stop take other ways than casts, which may be longer, and wait for nothing that messages wait for: neither for
    // credit, nor for what was sent to a process that has been replaced.
    const { clock, casts } = this.#host.proc;
    const rest = countdown(clock, options.drain);
    if (options.drain > 0)
      await within(clock, options.drain, Promise.all([casts.taken(this.record.id), this.record.sent()]));
    const stopped = this.#host.stopActors(this, { ...options, drain: rest() });
    this.#stopOrdered = true;
    await stopped;
    this.#forget();
  }

  #forget(): void {
    this.#host.forget(this);
    this.#host.proc.casts.meshStopped(this.record.id);
    this.#settleReady();
  }

  #wall(): Date {
    return new Date(this.owner.proc.clock.wall());
  }

  get #now(): number {
    return this.owner.proc.clock.now();
  }

  /** @returns whether there is an actor */
  #take(rank: number, outcome: Settled<SpawnOutcome>): boolean {
    if (outcome.status === "rejected") {
      // An agent that has ended with its process is told of as that.
      if (outcome.reason instanceof ActorError) this.fail([rank], "spawn", causeOf(outcome.reason));
      return false;
    }
    const { failure } = outcome.value;
    if (failure !== undefined) this.failed(failure);
    return failure === undefined;
  }

  /** @returns whether this is news to the owner */
  #lose(rank: number, cause: FailureCause): boolean {
    const known = this.#failed?.has(rank) === true && !this.#comingBack?.has(rank);
    if (known) return false;
    this.#comingBack?.get(rank)?.cancel();
    this.#comingBack?.delete(rank);
    this.#failed ??= new Map();
    this.#failed.set(rank, cause);
    this.record.target(rank).wentDown();
    return true;
  }

  /** Calls that wait for these ranks wait in vain. */
  #giveUp(ranks: Iterable<number>): void {
    for (const rank of ranks) this.record.target(rank).downtime?.giveUp();
  }

  /** @returns whether a rank will be made again where it was */
  #again(rank: number, failure: PastFailure): boolean {
    const delay = this.#restarts?.after(rank, failure, this.#now, false);
    if (delay === undefined) return false;
    const make = () => void this.#host.restart(this, rank);
    this.#putOff(rank, this.owner.proc.clock.after(delay, make));
    return true;
  }

  #putOff(rank: number, timer: Timer | undefined): void {
    this.#comingBack ??= new Map();
    this.#comingBack.set(rank, timer);
  }

  #stayAway(): void {
    for (const timer of this.#comingBack?.values() ?? []) timer?.cancel();
    this.#giveUp(this.#comingBack?.keys() ?? []);
    this.#comingBack = undefined;
  }

  /** One by one where they have pasts of their own. */
  #tell(ranks: readonly number[], { kind, cause, at }: PastFailure): void {
    this.#lost();
    const told = this.#restarts === undefined ? [ranks] : ranks.map((rank) => [rank]);
    for (const lost of told) {
      const history = this.#restarts?.history(lost[0]!) ?? [];
      const record = { mesh: this.name, ranks: lost, kind, cause, at, affected: [], history };
      this.#host.tell(this.owner, new MeshFailure(record));
    }
  }

  /** Some of the ranks will not come back. */
  #lost(): void {
    if (this.#progress === "spawning") this.#progress = "failed";
    this.#settleReady();
  }

  /** Something has come about, or has failed. */
  #check(): void {
    if (this.#progress !== "ready" && this.#waiting <= 0 && !this.#failed?.size && !this.#missing?.size) {
      // Whoever asks from now on is told of what is there now.
      if (this.#progress === "failed") this.#ready = undefined;
      this.#progress = "ready";
    }
    this.#settleReady();
  }

  #settleReady(): void {
    const ready = this.#ready;
    if (ready === undefined) return;
    if (this.#progress === "ready") ready.resolve();
    else if (this.#progress === "failed") ready.reject(this.#notReady());
    else if (this.#stopping !== undefined && !programIsEnding()) {
      ready.reject(
        new Error(`mesh "${this.name}" was stopped before it was ready${because(this.record.stopped ?? noReason)}`),
      );
    }
  }

  #notReady(): Error {
    const [rank, cause] = [...this.#failed!].sort(([a], [b]) => a - b)[0]!;
    const text = `mesh "${this.name}" is not ready: rank ${rank} failed: ${cause.message}`;
    return new Error(text, { cause: errorOf(cause) });
  }
}
