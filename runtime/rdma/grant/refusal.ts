/** The reasons why a handle is refused, by its owner or by an initiator that reads the owner's slots. */
import { RdmaError, type RdmaErrorCode } from "../errors.js";
import { GrantState } from "./grant-slot.js";

export type Refusal = "forged" | "stale" | "revoked" | "dropped";

const refusalErrors: Readonly<Record<Refusal, readonly [code: RdmaErrorCode, why: string]>> = {
  forged: ["ERR_RDMA_FORGED", "no owner has issued this handle"],
  stale: [
    "ERR_RDMA_STALE",
    "the handle belongs to a grant or a process that no longer exists; ask the owner for a new one",
  ],
  revoked: ["ERR_RDMA_REVOKED", "its owner has revoked the grant"],
  dropped: ["ERR_RDMA_DROPPED", "its owner has dropped the memory"],
};

export function isRefusal(text: string): text is Refusal {
  return Object.hasOwn(refusalErrors, text);
}

/** @param what the attempted operation: `read 16 bytes` makes `cannot read 16 bytes: …` */
export function refusalError(refusal: Refusal, what = "open"): RdmaError {
  const [code, why] = refusalErrors[refusal];
  return new RdmaError(code, `cannot ${what}: ${why}`);
}

export interface SlotClaim {
  readonly generation: number;
  readonly nonce: readonly [bigint, bigint];
}

/**
 * Compares a claim with the content of a slot.
 * @returns the reason for the refusal, or undefined if the claim is valid
 */
export function findRefusal(
  claim: SlotClaim,
  generation: number,
  state: GrantState,
  nonce: readonly [bigint, bigint],
): Refusal | undefined {
  if (claim.generation > generation || claim.generation === 0) return "forged";
  if (claim.generation < generation) return "stale";
  if (claim.nonce[0] !== nonce[0] || claim.nonce[1] !== nonce[1]) return "forged";
  if (state === GrantState.live) return undefined;
  return state === GrantState.revoked ? "revoked" : "dropped";
}
