/** Answers the requests about registered memory that the agent of a proc receives from peers. */
import type { GrantClaim, MemoryAnswer } from "../../../generated/rdma.js";
import type { ProcId } from "../../link/address.js";
import type { Pipe } from "../../link/transport/pipe.js";
import type { MemoryService } from "../../proc/agent/memory-service.js";
import type { GrantTable } from "../grant/grant-table.js";
import type { GrantedMemory } from "../grant/granted-memory.js";
import type { TransportBackend } from "../transport/backend.js";

/** The memory service of a process. It passes each request to the grants or to the backend of a transport. */
export class LocalMemoryService implements MemoryService {
  readonly #grantedMemory: GrantedMemory;
  readonly #grants: Pick<GrantTable, "count">;
  readonly #backends: readonly TransportBackend[];

  constructor(owner: GrantedMemory, grants: Pick<GrantTable, "count">, backends: readonly TransportBackend[]) {
    this.#grants = grants;
    this.#grantedMemory = owner;
    this.#backends = backends;
  }

  get grantCount(): number {
    return this.#grants.count;
  }

  read(claim: GrantClaim, offset: number, length: number): MemoryAnswer {
    return this.#grantedMemory.read(claim, offset, length);
  }

  write(claim: GrantClaim, offset: number, bytes: Uint8Array): MemoryAnswer {
    return this.#grantedMemory.write(claim, offset, bytes);
  }

  async ask(transport: string, request: Uint8Array): Promise<Uint8Array> {
    const backend = this.#backends.find((one) => one.transport === transport);
    if (backend?.answerPeer === undefined) throw new Error(`transport ${transport} takes no requests here`);
    return backend.answerPeer(request);
  }

  accept(pipe: Pipe): void {
    const backend = this.#backends.find((one) => one.acceptConnection !== undefined);
    if (backend === undefined) pipe.destroy();
    else backend.acceptConnection?.({ pipe, isDirect: false });
  }

  peerGone(peer: ProcId, reason: string): void {
    for (const backend of this.#backends) backend.peerGone?.(peer, reason);
  }
}
