/**
 * Access to the agents of procs. The caller addresses them as root: the deadline, trace and call chain of the running
 * handler do not apply to requests to agents.
 */

import { type ProcAgentMesh, procAgentDescriptor } from "../../generated/proc-agent.js";
import { currentCell, currentTurn, isMainRoot, runInTurn } from "../actor/context.js";
import { makeMesh } from "../actor/mesh/actor-mesh.js";
import type { Proc } from "../actor/proc/proc.js";
import type { ActorProc } from "../actor/reference/actor-proc.js";
import { MeshRecord, MeshRecords, type RankLocation } from "../actor/reference/mesh-record.js";
import { MeshView } from "../actor/reference/mesh-view.js";
import { AGENT_MESH, type Location, type ProcId } from "../link/address.js";
import { type Extent, type Region, wholeRegion } from "../shape/index.js";

export class ProcAgents {
  readonly #record: MeshRecord;

  /** @param procs in rank order */
  constructor(owner: ProcId, extent: Extent, procs: readonly RankLocation[]) {
    this.#record = new MeshRecord({ id: AGENT_MESH, name: "agents", owner, extent });
    for (const [rank, location] of procs.entries()) this.#record.setLocation(rank, location);
  }

  /** Sets the location of a proc that has been replaced. */
  setLocation(rank: number, proc: RankLocation): void {
    this.#record.setLocation(rank, proc);
  }

  all(): ProcAgentMesh {
    return this.inRegion(wholeRegion(this.#record.extent));
  }

  inRegion(region: Region): ProcAgentMesh {
    return agentMeshOf(this.#record, region);
  }

  atRank(rank: number): ProcAgentMesh {
    return this.inRegion({ labels: [], sizes: [], offset: rank, strides: [] });
  }
}

/**
 * Records by the sending proc. A session belongs to a record, so a new record for each call would need a new session.
 */
const recordsByProc = new WeakMap<ActorProc, MeshRecords>();

/** Returns the agent of one proc, for the running code. */
export function agentOf(proc: ProcId, location: Location = ""): ProcAgentMesh {
  const from = currentCell().proc;
  let known = recordsByProc.get(from);
  if (known === undefined) {
    known = new MeshRecords(from.drops);
    recordsByProc.set(from, known);
  }
  const record = known.findOrCreate({ id: AGENT_MESH, name: "agents", owner: proc, extent: {} }, proc);
  record.setLocation(0, { proc, location });
  return agentMeshOf(record, wholeRegion({}));
}

function agentMeshOf(record: MeshRecord, region: Region): ProcAgentMesh {
  const mesh: unknown = makeMesh(new MeshView(record, procAgentDescriptor, region));
  return mesh as ProcAgentMesh;
}

/** Runs `send` as the root of `proc`, without the deadline, trace and call chain of the running handler. */
export function runAsRoot<T>(proc: Proc, send: () => T): T {
  if (currentTurn() === undefined && isMainRoot(proc.root)) return send();
  return runInTurn(proc.root.turn, send) as T;
}
