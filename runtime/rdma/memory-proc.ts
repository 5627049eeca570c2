/**
 * The road that bulk bytes take: a proc of their own in each process, whose links carry nothing else, so that no call waits behind
 * them. Its id follows from that of the proc that code of the process belongs to, so handles name only that. Between machines, where
 * it cannot be reached directly, the links of the processes themselves serve, which send bulk in pieces between other messages.
 */
import type { ProcAgentMesh } from "../../generated/proc-agent.js";
import type { Location, ProcId } from "../link/address.js";
import { agentOf, asRoot } from "../proc/agents.js";
import { hostOf } from "../proc/hosted-location.js";
import type { Local } from "../proc/local.js";
import type { LocalProc } from "../proc/local-proc.js";

/** "memory" */
const MARK = 0x7972_6f6d_656dn;

/** The way to the agents of processes that have granted memory. */
export interface Road {
  /**
   * Says something to one of them.
   * @param send calls it, and does not await before it does
   */
  ask<T>(proc: ProcId, location: Location, send: (agent: ProcAgentMesh) => T): T;
}

export class MemoryProc implements Road {
  readonly #local: Local;
  readonly #made: LocalProc;

  constructor(local: Local) {
    this.#local = local;
    const { home, runDir } = local;
    this.#made = local.addProc({ id: home.proc.id ^ MARK, rank: 0, extent: {}, runDir }, () => {});
    this.#made.listen();
  }

  /** Who answers for memory of this process, as handles name it. */
  get own(): { readonly proc: ProcId; readonly location: Location } {
    const { id, location } = this.#local.home.proc;
    return { proc: id, location };
  }

  ask<T>(proc: ProcId, location: Location, send: (agent: ProcAgentMesh) => T): T {
    const { host, home, platform, runDir } = this.#local;
    const here = hostOf(host ?? "")?.agent;
    if (hostOf(location)?.agent === here && runDir !== "") {
      const id = proc ^ MARK;
      return asRoot(this.#made.proc, () => send(agentOf(id, platform.locationOf(runDir, id))));
    }
    return asRoot(home.proc, () => send(agentOf(proc, location)));
  }
}
