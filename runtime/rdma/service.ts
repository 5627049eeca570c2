/**
 * An owner's part in transfers that are not one-sided: it checks what a peer claims, and moves the bytes itself. Everything that comes
 * here may be a lie, and is answered with a refusal.
 */
import type { GrantClaim, MemoryAnswer } from "../../generated/rdma.js";
import type { MemoryService } from "../proc/memory-service.js";
import type { Backend } from "./backend.js";
import type { Grant } from "./grant.js";
import { ownMachine, ownStart } from "./process-name.js";
import type { Table } from "./table.js";

/** Bytes that one message brings at most; more is a claim of somebody else than this library. */
export const STREAM_CHUNK = 1 << 20;

type Refused = NonNullable<MemoryAnswer["refused"]>;

export class OwnerService implements MemoryService {
  readonly #table: Table;
  readonly #backends: readonly Backend[];

  constructor(table: Table, backends: readonly Backend[]) {
    this.#table = table;
    this.#backends = backends;
  }

  read(claim: GrantClaim, offset: number, length: number): MemoryAnswer {
    const found = this.#range(claim, offset, length);
    if (typeof found === "string") return { refused: found };
    // A copy: what is sent later must not be what the memory holds by then, which may be somebody else's.
    return { bytes: found.slice() };
  }

  write(claim: GrantClaim, offset: number, bytes: Uint8Array): MemoryAnswer {
    if (!claim.writable) return { refused: "access" };
    const found = this.#range(claim, offset, bytes.length);
    if (typeof found === "string") return { refused: found };
    found.set(bytes);
    return {};
  }

  async ask(transport: string, request: Uint8Array): Promise<Uint8Array> {
    const backend = this.#backends.find((one) => one.transport === transport);
    if (backend?.answer === undefined) throw new Error(`transport ${transport} has nothing to ask for here`);
    return backend.answer(request);
  }

  #range(claim: GrantClaim, offset: number, length: number): Uint8Array | Refused {
    const grant = this.#grant(claim);
    if (typeof grant === "string") return grant;
    const fits =
      Number.isSafeInteger(offset) && offset >= 0 && length <= STREAM_CHUNK && length <= grant.length - offset;
    if (!fits) return "bounds";
    const { bytes } = grant.memory;
    // Detached behind our back: a view of it has no length.
    if (bytes.length < grant.offset + grant.length) return "dropped";
    return bytes.subarray(grant.offset + offset, grant.offset + offset + length);
  }

  #grant({ slot, generation, nonce0, nonce1, machine, pid, started, length, writable }: GrantClaim): Grant | Refused {
    const grant = this.#table.find({ slot, generation, nonce: [nonce0, nonce1] });
    if (typeof grant === "string") return grant;
    if (machine !== ownMachine() || pid !== process.pid || started !== ownStart()) return "stale";
    if (length !== grant.length || writable !== (grant.access === "rw")) return "forged";
    return grant;
  }
}
