/**
 * Restarts the processes of one mesh after they have ended. It asks the restart policy of the mesh of procs, or those
 * of the meshes of actors that live on it, and starts another process when the delay is over. It decides neither how
 * processes are started nor what happens after a failure that no policy answers.
 */
import { errorMessage } from "../../../shared/text/error-message.js";
import type { Timer } from "../../link/clock.js";
import { failureCauseOf } from "../../supervise/failure-cause.js";
import type { PastFailure } from "../../supervise/mesh-failure.js";
import { type RestartPlan, RestartTracker } from "../../supervise/restart-policy.js";
import type { ProcExit } from "../launch/proc-backend.js";
import type { ChildProc } from "./child-proc.js";
import { type ReplaceableProcs, restartChild, type StartedChild } from "./replace-child.js";
import type { SpawnedActors } from "./spawned-actors.js";

/** The part of the mesh of procs that restarts use. */
export interface RestartableProcs extends ReplaceableProcs {
  /** Starts a process for a rank in the same way as its predecessor. */
  startChild(rank: number): StartedChild;
  /**
   * Returns the wait for the host of a rank, if it was lost and may come back. It resolves when the host is back, and rejects with the
   * reason if it does not come back.
   */
  hostComeback(rank: number): Promise<void> | undefined;
  /** Notes that another process runs at a rank. */
  rankRestarted(rank: number): void;
  /** Reports that a rank has ended for good. `lost` contains the actors on it that were not reported before. */
  reportLost(rank: number, failure: PastFailure, lost: readonly LostActor[]): void;
}

/** An actor of a mesh that has ended with its process. */
export interface LostActor {
  readonly mesh: SpawnedActors;
  readonly rank: number;
}

/** The exit of a process that was being started for a rank that has left the mesh. */
const leftMesh: ProcExit = { kind: "process", cause: { name: "ResizeError", message: "its rank has left the mesh" } };

export class ProcRestarts {
  readonly #procs: RestartableProcs;
  readonly #restarts: RestartTracker | undefined;
  /** Ranks whose processes are being started or will be started, with the timers of the latter. */
  readonly #pending = new Map<number, Pick<Timer, "cancel">>();
  /** Processes that have been started and not installed at their ranks yet. */
  readonly #starting = new Set<ChildProc>();
  #stopped = false;

  constructor(procs: RestartableProcs, plan: RestartPlan | undefined) {
    this.#procs = procs;
    this.#restarts = plan === undefined ? undefined : new RestartTracker(plan);
  }

  /** Returns the failures of a rank after which its process was restarted. */
  history(rank: number): readonly PastFailure[] {
    return this.#restarts?.history(rank) ?? [];
  }

  /** The ranks whose processes are being started, or will be. */
  get pending(): number[] {
    return [...this.#pending.keys()];
  }

  /** Handles the exit of the process of a rank. @param clean whether the exit code was 0 */
  childExited(rank: number, failure: PastFailure, clean: boolean): void {
    this.#pending.delete(rank);
    const actors = this.#actorsOn(rank);
    const comeback = this.#procs.hostComeback(rank);
    if (comeback !== undefined && this.#awaitHost(rank, failure, actors, comeback)) return;
    const delays = this.#restartDelays(rank, failure, clean, actors);
    const delay = [...delays.values()].reduce<number | undefined>((a, b) => Math.max(a ?? 0, b), undefined);
    const own = this.#restarts === undefined ? delay : delays.get(undefined);
    const lost = actors.filter(({ mesh, rank: at }) => !delays.has(mesh) && mesh.failures.markLost(at, failure.cause));
    if (own === undefined) {
      this.#procs.reportLost(rank, failure, lost);
      return;
    }
    for (const { mesh, rank: at } of actors) if (delays.has(mesh)) mesh.failures.awaitReplacement(at, failure.cause);
    for (const { mesh, rank: at } of lost) mesh.failures.reportLost(at, failure);
    const { clock } = this.#procs.proc;
    this.#pending.set(
      rank,
      clock.after(own, () => void this.#restart(rank)),
    );
  }

  /**
   * Waits for the host of a rank, and then starts the process. That is no restart which the policies count.
   * @returns whether a policy restarts the process or actors on it
   */
  #awaitHost(rank: number, failure: PastFailure, actors: readonly LostActor[], comeback: Promise<void>): boolean {
    const own = this.#restarts?.restarts;
    const waits = ({ failures }: SpawnedActors) =>
      own === undefined ? failures.restartsRanks : own && !failures.neverRestarts;
    const waiting = actors.filter(({ mesh }) => waits(mesh));
    if (own !== true && waiting.length === 0) return false;
    for (const { mesh, rank: at } of waiting) mesh.failures.awaitReplacement(at, failure.cause);
    const others = actors.filter(({ mesh }) => !waits(mesh));
    for (const { mesh, rank: at } of others) {
      if (mesh.failures.markLost(at, failure.cause)) mesh.failures.reportLost(at, failure);
    }
    const attempt = { cancel() {} };
    this.#pending.set(rank, attempt);
    const isCurrent = () => !this.#stopped && this.#pending.get(rank) === attempt;
    const giveUp = (error: unknown) => {
      if (!isCurrent()) return;
      this.#pending.delete(rank);
      const cause = { ...failure.cause, message: errorMessage(error) };
      const lost = this.#actorsOn(rank).filter(({ mesh, rank: at }) => mesh.failures.markLost(at, cause));
      this.#procs.reportLost(rank, { ...failure, cause }, lost);
    };
    comeback.then(() => (isCurrent() ? this.#restart(rank) : undefined), giveUp);
    return true;
  }

  /** Returns whether a mesh that is being spawned waits for the process of a rank to be restarted. */
  willRestart(rank: number, mesh: SpawnedActors): boolean {
    return this.#pending.has(rank) && !mesh.failures.neverRestarts;
  }

  /** Registers a process that is being started and not installed yet, so that `stop` kills it, too. */
  addStarting(child: ChildProc): void {
    if (this.#stopped) child.backend.kill();
    this.#starting.add(child);
    void child.backend.exited.then(() => this.#starting.delete(child));
  }

  /** Marks a process as installed at its rank. */
  childInstalled(child: ChildProc): void {
    this.#starting.delete(child);
    this.#pending.get(child.rank)?.cancel();
    this.#pending.delete(child.rank);
  }

  /** Gives up the restart of a rank that leaves the mesh. */
  rankLeaves(rank: number): void {
    this.#pending.get(rank)?.cancel();
    this.#pending.delete(rank);
    for (const child of this.#starting) if (child.rank === rank) child.discard(leftMesh);
  }

  /** Stops all restarts and kills the processes that are being started. */
  stop(): void {
    this.#stopped = true;
    for (const timer of this.#pending.values()) timer.cancel();
    this.#pending.clear();
    for (const child of this.#starting) child.backend.kill();
  }

  /**
   * Returns the restart delays in ms for a rank: that of the mesh of procs under the key `undefined`, and those of the
   * meshes of actors that are restarted with it.
   */
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
        this.#restarts === undefined
          ? mesh.failures.restartDelay(at, failure, clean)
          : mesh.failures.neverRestarts
            ? undefined
            : own;
      if (delay !== undefined) delays.set(mesh, delay);
    }
    return delays;
  }

  #actorsOn(rank: number): LostActor[] {
    const found: LostActor[] = [];
    for (const mesh of this.#procs.meshes) {
      const at = mesh.members.rankOn(rank);
      if (at !== undefined && !mesh.isStopping && !mesh.isLost(at)) found.push({ mesh, rank: at });
    }
    return found;
  }

  async #restart(rank: number): Promise<void> {
    if (this.#stopped) return;
    const attempt = this.#pending.get(rank);
    try {
      const started = this.#procs.startChild(rank);
      this.addStarting(started.child);
      await restartChild(this.#procs, started);
      this.#procs.rankRestarted(rank);
    } catch (error) {
      const at = new Date(this.#procs.proc.clock.epochMs());
      // A rank that has left the mesh in the meantime is not started again.
      const isWanted = !this.#stopped && this.#pending.get(rank) === attempt;
      if (isWanted) this.childExited(rank, { kind: "spawn", cause: failureCauseOf(error), at }, false);
    }
  }
}
