/**
 * The processes of one mesh that come back after they have ended: asks the policies of the mesh of procs, or of the meshes of
 * actors that live there, and has another process started when its time has come. What a failure that nobody answers
 * this way means, and how processes are made, is not decided here.
 */
import type { Timer } from "../link/clock.js";
import { rankOfBase } from "../shape/index.js";
import { causeOf } from "../supervise/cause.js";
import type { PastFailure } from "../supervise/failure.js";
import { type RestartPlan, Restarts } from "../supervise/restart.js";
import type { Member } from "./member.js";
import { type Replaceable, reviveMember, type StartedMember } from "./replacement.js";
import type { SpawnedMesh } from "./spawned-mesh.js";

/** What this needs of the mesh of procs. */
export interface Restartable extends Replaceable {
  /** Starts a process for a rank, as the one before it was started. */
  start(rank: number): StartedMember;
  /** A rank has come to its end for good; `lost` are those meshes on it that were not told before. */
  lost(rank: number, failure: PastFailure, lost: readonly LostActor[]): void;
}

/** A rank of a mesh of actors that has ended with its process. */
export interface LostActor {
  readonly mesh: SpawnedMesh;
  readonly rank: number;
}

export class Restarting {
  readonly #host: Restartable;
  readonly #restarts: Restarts | undefined;
  /** Ranks whose processes will be started, or are being started. */
  readonly #comingBack = new Map<number, Timer>();
  /** Processes that have not taken their places yet. */
  readonly #starting = new Set<Member>();
  #stopped = false;

  constructor(host: Restartable, plan: RestartPlan | undefined) {
    this.#host = host;
    this.#restarts = plan === undefined ? undefined : new Restarts(plan);
  }

  /** Failures of a rank after which it was made again. */
  history(rank: number): readonly PastFailure[] {
    return this.#restarts?.history(rank) ?? [];
  }

  /** The process of a rank has ended. @param clean with exit code 0 */
  ended(rank: number, failure: PastFailure, clean: boolean): void {
    this.#comingBack.delete(rank);
    const actors = this.#actorsOn(rank);
    const delays = this.#delays(rank, failure, clean, actors);
    const delay = [...delays.values()].reduce<number | undefined>((a, b) => Math.max(a ?? 0, b), undefined);
    const own = this.#restarts === undefined ? delay : delays.get(undefined);
    const lost = actors.filter(({ mesh, rank: at }) => !delays.has(mesh) && mesh.lose(at, failure.cause));
    if (own === undefined) {
      this.#host.lost(rank, failure, lost);
      return;
    }
    for (const { mesh, rank: at } of actors) if (delays.has(mesh)) mesh.awaitProcess(at, failure.cause);
    for (const { mesh, rank: at } of lost) mesh.tell(at, failure);
    const { clock } = this.#host.proc;
    this.#comingBack.set(
      rank,
      clock.after(own, () => void this.#revive(rank)),
    );
  }

  /** Whether the actors of a mesh that is spawned now wait for the process of a rank. */
  awaits(rank: number, mesh: SpawnedMesh): boolean {
    return this.#comingBack.has(rank) && !mesh.staysFailed;
  }

  /** A process is being started that has not taken its place yet: it ends with the others. */
  track(member: Member): void {
    if (this.#stopped) member.body.kill();
    this.#starting.add(member);
    void member.body.ended.then(() => this.#starting.delete(member));
  }

  /** It has taken its place. */
  arrived(member: Member): void {
    this.#starting.delete(member);
    this.#comingBack.delete(member.rank);
  }

  /** Nothing comes back any more. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#comingBack.values()) timer.cancel();
    this.#comingBack.clear();
    for (const member of this.#starting) member.body.kill();
  }

  /** Who wants the process back, and when: the mesh of procs as `undefined`, and each mesh of actors that comes with it. */
  #delays(
    rank: number,
    failure: PastFailure,
    clean: boolean,
    actors: readonly LostActor[],
  ): Map<SpawnedMesh | undefined, number> {
    const delays = new Map<SpawnedMesh | undefined, number>();
    const own = this.#restarts?.after(rank, failure, this.#host.proc.clock.now(), clean);
    if (own !== undefined) delays.set(undefined, own);
    for (const { mesh, rank: at } of actors) {
      const delay = this.#restarts === undefined ? mesh.wish(at, failure, clean) : mesh.staysFailed ? undefined : own;
      if (delay !== undefined) delays.set(mesh, delay);
    }
    return delays;
  }

  #actorsOn(rank: number): LostActor[] {
    const found: LostActor[] = [];
    for (const mesh of this.#host.meshes) {
      const at = rankOfBase(mesh.region, rank);
      if (at !== undefined && !mesh.stopping && !mesh.isLost(at)) found.push({ mesh, rank: at });
    }
    return found;
  }

  async #revive(rank: number): Promise<void> {
    if (this.#stopped) return;
    try {
      const started = this.#host.start(rank);
      this.track(started.member);
      await reviveMember(this.#host, started);
    } catch (error) {
      const at = new Date(this.#host.proc.clock.wall());
      if (!this.#stopped) this.ended(rank, { kind: "spawn", cause: causeOf(error), at }, false);
    }
  }
}
