/**
 * An owner's part in transfers that are not one-sided: it checks what a peer claims, and moves the bytes itself. Everything that comes
 * here may be a lie, and is answered with a refusal.
 */
import type { GrantClaim, MemoryAnswer } from "../../../generated/rdma.js";
import type { TransferDirection } from "../transfer/transfer-operation.js";
import { MAX_PIECE_BYTES } from "../transport/stream/frames.js";
import type { Grant } from "./grant.js";
import type { GrantLookup } from "./grant-table.js";
import { ownMachineId, ownStartTime } from "./process-identity.js";

type AccessRefusal = NonNullable<MemoryAnswer["refused"]>;

/** Part of what is granted. */
export interface GrantedRange {
  readonly grant: Grant;
  readonly bytes: Uint8Array;
}

/** Looks at what peers claim. */
export class GrantedMemory {
  readonly #grants: GrantLookup;

  constructor(grants: GrantLookup) {
    this.#grants = grants;
  }

  /** The memory that somebody wants to use, as long as the grant is not ended; it may be detached behind the library's back. */
  findRange(
    claim: GrantClaim,
    offset: number,
    length: number,
    direction: TransferDirection,
  ): GrantedRange | AccessRefusal {
    if (direction === "write" && !claim.writable) return "access";
    const grant = this.#findGrant(claim);
    if (typeof grant === "string") return grant;
    const fits =
      Number.isSafeInteger(offset) && offset >= 0 && length <= MAX_PIECE_BYTES && length <= grant.length - offset;
    if (!fits) return "bounds";
    const { bytes } = grant.memory;
    // Detached behind our back: a view of it has no length.
    if (bytes.length < grant.offset + grant.length) return "dropped";
    return { grant, bytes: bytes.subarray(grant.offset + offset, grant.offset + offset + length) };
  }

  read(claim: GrantClaim, offset: number, length: number): MemoryAnswer {
    const found = this.findRange(claim, offset, length, "read");
    if (typeof found === "string") return { refused: found };
    // A copy: what is sent later must not be what the memory holds by then, which may be somebody else's.
    return { bytes: found.bytes.slice() };
  }

  write(claim: GrantClaim, offset: number, bytes: Uint8Array): MemoryAnswer {
    const found = this.findRange(claim, offset, bytes.length, "write");
    if (typeof found === "string") return { refused: found };
    found.bytes.set(bytes);
    return {};
  }

  #findGrant({
    slot,
    generation,
    nonce0,
    nonce1,
    machine,
    pid,
    started,
    length,
    writable,
  }: GrantClaim): Grant | AccessRefusal {
    const grant = this.#grants.find({ slot, generation, nonce: [nonce0, nonce1] });
    if (typeof grant === "string") return grant;
    if (machine !== ownMachineId() || pid !== process.pid || started !== ownStartTime()) return "stale";
    if (length !== grant.length || writable !== (grant.access === "rw")) return "forged";
    return grant;
  }
}
