/**
 * Finds out whether actors that are known to have ended come back. The owner of a mesh announces when one of its actors
 * has moved or was restarted. A process that misses the announcement, or that wrongly believes that an actor has ended,
 * asks the owner.
 */
import type { RankStatus } from "../../../generated/proc-agent.js";
import type { Proc } from "../../actor/proc/proc.js";
import type { ActorTarget } from "../../actor/reference/mesh-record.js";
import { AGENT_MESH, type MeshId } from "../../link/address.js";
import type { Clock } from "../../link/clock.js";
import { agentOf, runAsRoot } from "../proc-agents.js";

/** Time in ms until an owner is asked again. */
const pollInterval = 250;

/** Time in ms within which an owner should learn of the end of an actor that other processes have seen. */
const ownerNewsDelay = 1000;

export class RecoveryWatch {
  readonly #clock: Clock;
  readonly #ownStatus: (mesh: MeshId, rank: number) => RankStatus | undefined;
  readonly #watched = new Set<ActorTarget>();

  /**
   * @param own returns the status of a rank of a mesh that was spawned from this process, or undefined if this process
   * does not own the mesh or it is gone
   */
  constructor(clock: Clock, own: (mesh: MeshId, rank: number) => RankStatus | undefined) {
    this.#clock = clock;
    this.#ownStatus = own;
  }

  /** Marks `target` as back or as lost when its owner says so. @param proc the proc that asks the owner */
  watch(target: ActorTarget, proc: Proc): void {
    // An agent ends only with its process.
    if (target.mesh.id === AGENT_MESH) {
      target.downtime?.markLost();
      return;
    }
    if (this.#watched.has(target)) return;
    this.#watched.add(target);
    void this.#watch(target, proc).finally(() => this.#watched.delete(target));
  }

  async #watch(target: ActorTarget, proc: Proc): Promise<void> {
    const { downtime } = target;
    let believed = false;
    while (downtime !== undefined && target.downtime === downtime && !downtime.isLost) {
      const { generation } = target;
      const { state, place } = await this.#ask(target, proc);
      if (target.downtime !== downtime) return;
      if (state === "lost") {
        downtime.markLost();
        return;
      }
      if (place !== undefined) target.mesh.setLocation(target.rank, place);
      const same = state === "living" && target.generation === generation;
      // The actor has not ended, or the news was about its previous incarnation.
      if (same && believed) target.markBack();
      believed = same;
      await this.#pause(same ? ownerNewsDelay : pollInterval);
    }
  }

  async #ask({ mesh, rank }: ActorTarget, proc: Proc): Promise<RankStatus> {
    if (mesh.control !== undefined) return this.#ownStatus(mesh.id, rank) ?? { state: "lost" };
    try {
      return await runAsRoot(proc, () => agentOf(mesh.owner).rankStatus.callOne(mesh.id, rank));
    } catch {
      // A mesh ends with its owner.
      return { state: "lost" };
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }
}
