/** Questions about registered memory that the rest of the runtime passes on, and who answers each of them. */
import type { GrantClaim, MemoryAnswer } from "../../generated/rdma.js";
import type { ProcId } from "../link/address.js";
import type { Pipe } from "../link/pipe.js";
import type { MemoryService } from "../proc/agent/memory-service.js";
import type { Backend } from "./backend.js";
import type { OwnerService } from "./service.js";

/** What the rest of the runtime asks of registered memory: each question goes to the one whose it is. */
export class BackendService implements MemoryService {
  readonly #owner: OwnerService;
  readonly #backends: readonly Backend[];

  constructor(owner: OwnerService, backends: readonly Backend[]) {
    this.#owner = owner;
    this.#backends = backends;
  }

  read(claim: GrantClaim, offset: number, length: number): MemoryAnswer {
    return this.#owner.read(claim, offset, length);
  }

  write(claim: GrantClaim, offset: number, bytes: Uint8Array): MemoryAnswer {
    return this.#owner.write(claim, offset, bytes);
  }

  async ask(transport: string, request: Uint8Array): Promise<Uint8Array> {
    const backend = this.#backends.find((one) => one.transport === transport);
    if (backend?.answer === undefined) throw new Error(`transport ${transport} has nothing to ask for here`);
    return backend.answer(request);
  }

  accept(pipe: Pipe): void {
    const backend = this.#backends.find((one) => one.accept !== undefined);
    if (backend === undefined) pipe.destroy();
    else backend.accept?.({ pipe, direct: false });
  }

  peerGone(peer: ProcId, reason: string): void {
    for (const backend of this.#backends) backend.gone?.(peer, reason);
  }
}
