/** The agents of a mesh of procs, addressed as root: nothing of a running handler goes along with what is asked of them. */

import { type ProcAgentMesh, procAgentDescriptor } from "../../generated/proc-agent.js";
import { MeshRecord, type RankLocation } from "../actor/address.js";
import { currentTurn, mainRoot, runTurn } from "../actor/context.js";
import { makeMesh } from "../actor/mesh.js";
import type { Proc } from "../actor/proc.js";
import { MeshView } from "../actor/view.js";
import { AGENT_MESH, type Location, type ProcId } from "../link/address.js";
import { type Extent, type Region, wholeRegion } from "../shape/index.js";

export class Agents {
  readonly #record: MeshRecord;

  /** @param procs in rank order */
  constructor(owner: ProcId, extent: Extent, procs: readonly RankLocation[]) {
    this.#record = new MeshRecord({ id: AGENT_MESH, name: "agents", owner, extent });
    for (const [rank, location] of procs.entries()) this.#record.locate(rank, location);
  }

  /** A proc has been replaced. */
  locate(rank: number, proc: RankLocation): void {
    this.#record.locate(rank, proc);
  }

  all(): ProcAgentMesh {
    return this.on(wholeRegion(this.#record.extent));
  }

  on(region: Region): ProcAgentMesh {
    const mesh: unknown = makeMesh(new MeshView(this.#record, procAgentDescriptor, region));
    return mesh as ProcAgentMesh;
  }

  one(rank: number): ProcAgentMesh {
    return this.on({ labels: [], sizes: [], offset: rank, strides: [] });
  }
}

/** The agent of one proc. */
export function agentOf(proc: ProcId, location: Location = ""): ProcAgentMesh {
  return new Agents(proc, {}, [{ proc, location }]).all();
}

/** Runs `send` as the root of `proc`: deadlines, traces and call chains of the running handler stay behind. */
export function asRoot<T>(proc: Proc, send: () => T): T {
  if (currentTurn() === undefined && mainRoot() === proc.root) return send();
  return runTurn(proc.root.turn, send) as T;
}
