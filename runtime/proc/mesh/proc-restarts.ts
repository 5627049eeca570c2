/**
 * The processes of one mesh that come back after they have ended: asks the policies of the mesh of procs, or of the meshes of
 * actors that live there, and has another process started when its time has come. What a failure that nobody answers
 * this way means, and how processes are made, is not decided here.
 */
import type { Timer } from "../../link/clock.js";
import { rankOfBaseRank } from "../../shape/index.js";
import { failureCauseOf } from "../../supervise/failure-cause.js";
import type { PastFailure } from "../../supervise/mesh-failure.js";
import { type RestartPlan, RestartTracker } from "../../supervise/restart-policy.js";
import type { ChildProc } from "./child-proc.js";
import { type ReplaceableProcs, restartChild, type StartedChild } from "./replace-child.js";
import type { SpawnedActors } from "./spawned-actors.js";

/** What this needs of the mesh of procs. */
export interface RestartableProcs extends ReplaceableProcs {
  /** Starts a process for a rank, as the one before it was started. */
  startChild(rank: number): StartedChild;
  /** A rank has come to its end for good; `lost` are those meshes on it that were not told before. */
  reportLost(rank: number, failure: PastFailure, lost: readonly LostActor[]): void;
}

/** A rank of a mesh of actors that has ended with its process. */
export interface LostActor {
  readonly mesh: SpawnedActors;
  readonly rank: number;
}

export class ProcRestarts {
  readonly #procs: RestartableProcs;
  readonly #restarts: RestartTracker | undefined;
  /** Ranks whose processes will be started, or are being started. */
  readonly #pending = new Map<number, Timer>();
  /** Processes that have not taken their places yet. */
  readonly #starting = new Set<ChildProc>();
  #stopped = false;

  constructor(host: RestartableProcs, plan: RestartPlan | undefined) {
    this.#procs = host;
    this.#restarts = plan === undefined ? undefined : new RestartTracker(plan);
  }

  /** Failures of a rank after which it was made again. */
  history(rank: number): readonly PastFailure[] {
    return this.#restarts?.history(rank) ?? [];
  }

  /** The process of a rank has ended. @param clean with exit code 0 */
  childExited(rank: number, failure: PastFailure, clean: boolean): void {
    this.#pending.delete(rank);
    const actors = this.#actorsOn(rank);
    const delays = this.#restartDelays(rank, failure, clean, actors);
    const delay = [...delays.values()].reduce<number | undefined>((a, b) => Math.max(a ?? 0, b), undefined);
    const own = this.#restarts === undefined ? delay : delays.get(undefined);
    const lost = actors.filter(({ mesh, rank: at }) => !delays.has(mesh) && mesh.markLost(at, failure.cause));
    if (own === undefined) {
      this.#procs.reportLost(rank, failure, lost);
      return;
    }
    for (const { mesh, rank: at } of actors) if (delays.has(mesh)) mesh.awaitReplacement(at, failure.cause);
    for (const { mesh, rank: at } of lost) mesh.reportLost(at, failure);
    const { clock } = this.#procs.proc;
    this.#pending.set(
      rank,
      clock.after(own, () => void this.#restart(rank)),
    );
  }

  /** Whether the actors of a mesh that is spawned now wait for the process of a rank. */
  willRestart(rank: number, mesh: SpawnedActors): boolean {
    return this.#pending.has(rank) && !mesh.neverRestarts;
  }

  /** A process is being started that has not taken its place yet: it ends with the others. */
  addStarting(member: ChildProc): void {
    if (this.#stopped) member.backend.kill();
    this.#starting.add(member);
    void member.backend.exited.then(() => this.#starting.delete(member));
  }

  /** It has taken its place. */
  childInstalled(member: ChildProc): void {
    this.#starting.delete(member);
    this.#pending.delete(member.rank);
  }

  /** Nothing comes back any more. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#pending.values()) timer.cancel();
    this.#pending.clear();
    for (const member of this.#starting) member.backend.kill();
  }

  /** Who wants the process back, and when: the mesh of procs as `undefined`, and each mesh of actors that comes with it. */
  #restartDelays(
    rank: number,
    failure: PastFailure,
    clean: boolean,
    actors: readonly LostActor[],
  ): Map<SpawnedActors | undefined, number> {
    const delays = new Map<SpawnedActors | undefined, number>();
    const own = this.#restarts?.nextDelay(rank, failure, this.#procs.proc.clock.now(), clean);
    if (own !== undefined) delays.set(undefined, own);
    for (const { mesh, rank: at } of actors) {
      const delay =
        this.#restarts === undefined ? mesh.restartDelay(at, failure, clean) : mesh.neverRestarts ? undefined : own;
      if (delay !== undefined) delays.set(mesh, delay);
    }
    return delays;
  }

  #actorsOn(rank: number): LostActor[] {
    const found: LostActor[] = [];
    for (const mesh of this.#procs.meshes) {
      const at = rankOfBaseRank(mesh.region, rank);
      if (at !== undefined && !mesh.isStopping && !mesh.isLost(at)) found.push({ mesh, rank: at });
    }
    return found;
  }

  async #restart(rank: number): Promise<void> {
    if (this.#stopped) return;
    try {
      const started = this.#procs.startChild(rank);
      this.addStarting(started.child);
      await restartChild(this.#procs, started);
    } catch (error) {
      const at = new Date(this.#procs.proc.clock.wall());
      if (!this.#stopped) this.childExited(rank, { kind: "spawn", cause: failureCauseOf(error), at }, false);
    }
  }
}
