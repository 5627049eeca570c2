/**
 * The owner's part in transfers that are not one-sided: it checks the claim of a peer, and copies the bytes itself. No
 * input from a peer is trusted; invalid claims are refused.
 */
import type { GrantClaim, MemoryAnswer } from "../../../generated/rdma.js";
import { ownMachineId } from "../../machine-id.js";
import type { TransferDirection } from "../transfer/transfer-operation.js";
import { MAX_PIECE_BYTES } from "../transport/stream/frames.js";
import type { Grant } from "./grant.js";
import type { GrantLookup } from "./grant-table.js";
import { ownStartTime } from "./start-time.js";

type AccessRefusal = NonNullable<MemoryAnswer["refused"]>;

/** A range of granted memory. */
export interface GrantedRange {
  readonly grant: Grant;
  readonly bytes: Uint8Array;
}

/** Checks the claims of peers against the grants of this process. */
export class GrantedMemory {
  readonly #grants: GrantLookup;

  constructor(grants: GrantLookup) {
    this.#grants = grants;
  }

  /** Returns the range that a peer wants to use, or the reason for the refusal. */
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
    // User code has detached the ArrayBuffer, so the view has no length.
    if (bytes.length < grant.offset + grant.length) return "dropped";
    return { grant, bytes: bytes.subarray(grant.offset + offset, grant.offset + offset + length) };
  }

  read(claim: GrantClaim, offset: number, length: number): MemoryAnswer {
    const found = this.findRange(claim, offset, length, "read");
    if (typeof found === "string") return { refused: found };
    // A copy, because the memory may be reused before the message is sent.
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
