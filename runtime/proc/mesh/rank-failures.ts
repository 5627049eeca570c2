/**
 * What happens when actors of a mesh fail: the restart policy of the mesh decides whether they are restarted, and the owner
 * is told of those that are not. The mesh creates the new actors; `failed-ranks.ts` keeps the lists.
 */
import type { LocalActor } from "../../actor/reference/local-actor.js";
import type { MeshRecord } from "../../actor/reference/mesh-record.js";
import type { FailureCause } from "../../supervise/failure-cause.js";
import { type FailureKind, MeshFailure, type PastFailure } from "../../supervise/mesh-failure.js";
import { type RestartPlan, RestartTracker } from "../../supervise/restart-policy.js";
import { FailedRanks } from "./failed-ranks.js";

/** A mesh of actors, some of which may fail. */
export interface FailingMesh {
  readonly record: MeshRecord;
  readonly owner: LocalActor;
  readonly isStopping: boolean;
  /** Returns whether a rank has left the mesh, so that nothing which happens to it is a failure. */
  hasLeft(rank: number): boolean;
  /** Creates an actor again, in the process where it lived. */
  restart(rank: number): void;
  /** Reports a failure to the owner of the mesh. */
  report(failure: MeshFailure): void;
  /** Notes that ranks are lost for good. */
  ranksLost(): void;
}

export class RankFailures extends FailedRanks {
  readonly #mesh: FailingMesh;
  readonly #policy: RestartPlan["policy"] | undefined;
  readonly #restarts: RestartTracker | undefined;

  /** @param plan the restart policy of the mesh; undefined selects the policy of the processes on which it lives */
  constructor(mesh: FailingMesh, plan: RestartPlan | undefined) {
    super();
    this.#mesh = mesh;
    this.#policy = plan?.policy;
    if (plan !== undefined) this.#restarts = new RestartTracker(plan);
  }

  /** Whether the restart policy of the mesh itself is `"never"`. */
  get neverRestarts(): boolean {
    return this.#policy === "never";
  }

  /** Whether the restart policy of the mesh itself restarts ranks. */
  get restartsRanks(): boolean {
    return this.#restarts?.restarts === true;
  }

  /** Handles the failure of ranks: restarts them, or reports them to the owner, once for each rank. */
  failRanks(ranks: readonly number[], kind: FailureKind, cause: FailureCause, at = this.#wall()): void {
    const lost = ranks.filter((rank) => this.#mark(rank, cause));
    if (this.#mesh.isStopping) {
      this.#releaseWaiters(lost);
      return;
    }
    const final = lost.filter((rank) => !this.#scheduleRestart(rank, { kind, cause, at }));
    this.#releaseWaiters(final);
    if (final.length > 0) this.#report(final, { kind, cause, at });
  }

  /** Marks ranks as failed, because their actors can never be created. */
  refuse(ranks: readonly number[], cause: FailureCause): void {
    const lost = ranks.filter((rank) => this.#mark(rank, cause));
    this.#releaseWaiters(lost);
    if (lost.length > 0 && !this.#mesh.isStopping) this.#report(lost, { kind: "spawn", cause, at: this.#wall() });
  }

  /**
   * Asks the restart policy of the mesh after the process of a rank has ended.
   * @returns the delay in ms after which the mesh restarts the rank; undefined if it does not
   */
  restartDelay(rank: number, failure: PastFailure, clean: boolean): number | undefined {
    return this.#restarts?.nextDelay(rank, failure, this.#now, clean);
  }

  /** Marks a rank as failed with its process. It waits for the process that replaces that one. */
  awaitReplacement(rank: number, cause: FailureCause): void {
    this.#mark(rank, cause);
    this.awaitRestart(rank, undefined);
  }

  /** Marks a rank as lost after its process has ended for good. @returns whether the owner must still be told */
  markLost(rank: number, cause: FailureCause): boolean {
    if (!this.#mark(rank, cause)) return false;
    this.#releaseWaiters([rank]);
    this.#mesh.ranksLost();
    return !this.#mesh.isStopping;
  }

  /** Reports a lost rank to the owner. */
  reportLost(rank: number, failure: PastFailure): void {
    this.#report([rank], failure);
  }

  /** Gives up all restarts. The ranks stay failed, and calls that wait for them are released. */
  giveUpRestarts(): void {
    const { waiting } = this;
    this.cancelRestarts();
    this.#releaseWaiters(waiting);
  }

  get #now(): number {
    return this.#mesh.owner.proc.clock.now();
  }

  #wall(): Date {
    return new Date(this.#mesh.owner.proc.clock.epochMs());
  }

  /** @returns whether the failure is new for the owner */
  #mark(rank: number, cause: FailureCause): boolean {
    if (this.#mesh.hasLeft(rank) || this.isLost(rank)) return false;
    this.add(rank, cause);
    this.#mesh.record.target(rank).markDown();
    return true;
  }

  /** Releases the calls that wait for the return of these ranks. */
  #releaseWaiters(ranks: Iterable<number>): void {
    for (const rank of ranks) this.#mesh.record.target(rank).downtime?.markLost();
  }

  /** @returns whether the rank will be restarted in its process */
  #scheduleRestart(rank: number, failure: PastFailure): boolean {
    const delay = this.restartDelay(rank, failure, false);
    if (delay === undefined) return false;
    this.awaitRestart(
      rank,
      this.#mesh.owner.proc.clock.after(delay, () => this.#mesh.restart(rank)),
    );
    return true;
  }

  /**
   * Reports the failure of ranks to the owner. Ranks with a restart policy are reported one by one, because each has
   * its own history.
   */
  #report(ranks: readonly number[], { kind, cause, at }: PastFailure): void {
    this.#mesh.ranksLost();
    const told = this.#restarts === undefined ? [ranks] : ranks.map((rank) => [rank]);
    for (const lost of told) {
      const history = this.#restarts?.history(lost[0]!) ?? [];
      const { name } = this.#mesh.record;
      this.#mesh.report(new MeshFailure({ mesh: name, ranks: lost, kind, cause, at, affected: [], history }));
    }
  }
}
