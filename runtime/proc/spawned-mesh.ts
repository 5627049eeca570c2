/**
 * A mesh of actors, as the one who spawned it sees it: the orders given for it, which ranks have failed, whether it is
 * ready, how it is stopped. Handles of it (mesh.ts in actor/) know it as their control. Many may exist: what is rarely
 * needed is made when it is.
 */

import type { SpawnOutcome } from "../../generated/proc-agent.js";
import type { ActorNotice } from "../../generated/supervision.js";
import type { MeshControl, MeshRecord, MeshStopOptions } from "../actor/address.js";
import type { Cell } from "../actor/cell.js";
import { ActorError } from "../actor/errors.js";
import type { Settled } from "../actor/gather.js";
import type { ActorClass, StopOptions } from "../actor/hooks.js";
import { type Region, rankOfBase } from "../shape/index.js";
import { causeOf, errorOf, type FailureCause } from "../supervise/cause.js";
import { type FailureKind, MeshFailure } from "../supervise/failure.js";
import type { Owned } from "../supervise/ownership.js";
import type { ActorDescriptor } from "../wire/descriptor.js";
import { Deferred } from "./deferred.js";

/** What is to be spawned, checked and encoded. */
export interface SpawnPlan {
  readonly actorClass: ActorClass;
  readonly descriptor: ActorDescriptor;
  /** The arguments of the constructor, a message of `descriptor.args`. */
  readonly args: Uint8Array;
}

/** What a spawned mesh needs of the processes it lives on. */
export interface MeshHost {
  /** Tells an owner of a failure. */
  tell(owner: Cell, failure: MeshFailure): void;
  /** The mesh has been stopped: nobody needs to know of it any more. */
  forget(mesh: SpawnedMesh): void;
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
  #waiting: number;
  #ordered: Promise<void> | undefined;
  #failed: Map<number, FailureCause> | undefined;
  #incarnations: Map<number, number> | undefined;
  #ready: Deferred<void> | undefined;
  #stopping: Promise<void> | undefined;

  constructor(record: MeshRecord, owner: Cell, region: Region, plan: SpawnPlan, host: MeshHost) {
    this.record = record;
    this.owner = owner;
    this.region = region;
    this.plan = plan;
    this.#host = host;
    this.#waiting = record.size;
    if (record.size === 0) this.#progress = "ready";
  }

  get name(): string {
    return this.record.name;
  }

  /** Resolves when the orders to create the actors are on their way. */
  get ordered(): Promise<boolean> {
    return this.#ordered?.then(() => true) ?? Promise.resolve(true);
  }

  /** It is being stopped, or has been. */
  get stopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** Its name is free again: it has been stopped, or every rank has failed. */
  get over(): boolean {
    return this.#stopping !== undefined || this.#failed?.size === this.record.size;
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

  /** What became of the order for one rank. */
  outcome(rank: number, outcome: Settled<SpawnOutcome>): void {
    if (outcome.status === "rejected") {
      // An agent that has ended with its process is told of as that.
      if (outcome.reason instanceof ActorError) this.fail([rank], "spawn", causeOf(outcome.reason));
    } else if (outcome.value.failure === undefined) this.#created();
    else this.failed(outcome.value.failure);
  }

  /** An actor has failed. */
  failed({ rank, kind, cause, at }: ActorNotice): void {
    this.fail([rank], kind, cause, at);
  }

  /** Ranks have failed, and the owner is told, once for each. */
  fail(ranks: readonly number[], kind: FailureKind, cause: FailureCause, at = this.#now()): void {
    const lost = ranks.filter((rank) => this.#lose(rank, cause));
    if (lost.length === 0 || this.#stopping !== undefined) return;
    const failure = new MeshFailure({ mesh: this.name, ranks: lost, kind, cause, at, affected: [] });
    this.#host.tell(this.owner, failure);
  }

  /** A process has ended. @returns the rank that was on it and had not failed yet */
  lose(procRank: number, cause: FailureCause): number | undefined {
    const rank = rankOfBase(this.region, procRank);
    return rank !== undefined && this.#lose(rank, cause) && this.#stopping === undefined ? rank : undefined;
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
    this.#failed?.delete(rank);
    if (this.#progress !== "failed" || this.#failed?.size !== 0) return;
    // Whoever asks from now on is told of what is there now.
    this.#progress = "ready";
    this.#ready = undefined;
  }

  stop({
    reason = "stopped",
    drain = defaultDrain,
    error,
  }: MeshStopOptions & Partial<StopOptions> = {}): Promise<void> {
    checkDrain(this.name, drain);
    this.#stopping ??= this.#stop({ reason, drain, ...(error === undefined ? {} : { error }) });
    return this.#stopping;
  }

  /** The processes it lived on have been stopped. */
  gone(reason: string): void {
    this.record.stopped ??= reason;
    this.#stopping ??= Promise.resolve();
    this.#host.forget(this);
    this.#settleReady();
  }

  async #stop(options: StopOptions): Promise<void> {
    this.record.stopped ??= options.reason;
    await this.#ordered;
    await this.#host.stopActors(this, options);
    this.#host.forget(this);
    this.#settleReady();
  }

  #now(): Date {
    return new Date(this.owner.proc.clock.wall());
  }

  #lose(rank: number, cause: FailureCause): boolean {
    if (this.#failed?.has(rank)) return false;
    this.#failed ??= new Map();
    this.#failed.set(rank, cause);
    if (this.#progress === "spawning") this.#progress = "failed";
    this.#settleReady();
    return true;
  }

  #created(): void {
    this.#waiting--;
    if (this.#waiting === 0 && this.#progress === "spawning") this.#progress = "ready";
    this.#settleReady();
  }

  #settleReady(): void {
    const ready = this.#ready;
    if (ready === undefined) return;
    if (this.#progress === "ready") ready.resolve();
    else if (this.#progress === "failed") ready.reject(this.#notReady());
    else if (this.#stopping !== undefined) {
      ready.reject(new Error(`mesh "${this.name}" was stopped before it was ready: ${this.record.stopped}`));
    }
  }

  #notReady(): Error {
    const [rank, cause] = [...this.#failed!].sort(([a], [b]) => a - b)[0]!;
    const text = `mesh "${this.name}" is not ready: rank ${rank} failed: ${cause.message}`;
    return new Error(text, { cause: errorOf(cause) });
  }
}

/** @throws RangeError unless it is a time */
export function checkDrain(name: string, drain: unknown): void {
  if (typeof drain === "number" && drain >= 0 && drain <= 0xffff_ffff) return;
  throw new RangeError(`cannot stop mesh "${name}": expected drain in milliseconds, at least 0, got ${String(drain)}`);
}
