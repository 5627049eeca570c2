/**
 * The states that a proc offers to other processes. A large state does not fit into a message, and is not a part of one: its
 * receiver maps it if both processes can share memory, and reads it in parts otherwise.
 */
import { closeSync } from "node:fs";
import type { CarriedCheckpoint, Checkpoint, StateOffer } from "../../../generated/checkpoint.js";
import type { Proc } from "../../actor/proc/proc.js";
import { joinParts } from "../../actor/reference/saved-state.js";
import type { MeshId } from "../../link/address.js";
import { agentOf, runAsRoot } from "../proc-agents.js";
import { mapSharedState, shareState } from "./shared-state.js";

/** States of at least this size in bytes are offered. A smaller one is copied faster than it is offered. */
const MIN_OFFERED_BYTES = 1024 * 1024;
/** The largest number of bytes of a state that one message contains. */
const PART_BYTES = 128 * 1024 * 1024;

const noBytes = new Uint8Array(0);

export class StateOffers {
  readonly #proc: Proc;
  readonly #offers = new Map<number, { readonly offer: StateOffer; bytes: Uint8Array | undefined }>();
  /** The last offer of the state of the actor of a mesh. */
  readonly #lastOf = new Map<MeshId, number>();
  #lastId = 0;

  constructor(proc: Proc) {
    this.#proc = proc;
  }

  /**
   * Copies an encoded state, and offers it if it is large.
   *
   * @param mesh the mesh of an actor of this proc, whose earlier offer ends, because the receiver has given up
   * @returns the state as a checkpoint on its way contains it
   */
  carry(parts: readonly Uint8Array[], mesh?: MeshId): { readonly state: Uint8Array; readonly offer?: StateOffer } {
    if (mesh !== undefined) this.drop(this.#lastOf.get(mesh));
    let bytes = 0;
    for (const part of parts) bytes += part.length;
    if (bytes < MIN_OFFERED_BYTES) return { state: joinParts(parts) };
    const id = ++this.#lastId;
    const shared = shareState(parts);
    const offer = { proc: this.#proc.id, id, bytes, ...(shared && { shared }) };
    this.#offers.set(id, { offer, bytes: shared === undefined ? joinParts(parts) : undefined });
    if (mesh !== undefined) this.#lastOf.set(mesh, id);
    return { state: noBytes, offer };
  }

  /**
   * Returns a part of an offered state.
   *
   * @throws {Error} when the state is not offered any more
   */
  read(id: number, offset: number, length: number): Uint8Array {
    const offered = this.#offers.get(id);
    if (offered === undefined) throw new Error(`cannot read state ${id}: it is not offered any more`);
    const { offer } = offered;
    if (offered.bytes === undefined) offered.bytes = offer.shared && mapSharedState(offer.shared, offer.bytes);
    if (offered.bytes === undefined) throw new Error(`cannot read state ${id}: its memory cannot be mapped`);
    return offered.bytes.subarray(offset, offset + length);
  }

  /** Ends an offer. Memory that a receiver has mapped stays. */
  drop(id: number | undefined): void {
    const offered = id === undefined ? undefined : this.#offers.get(id);
    if (id === undefined || offered === undefined) return;
    this.#offers.delete(id);
    for (const [mesh, last] of this.#lastOf) if (last === id) this.#lastOf.delete(mesh);
    if (offered.offer.shared !== undefined) closeSync(offered.offer.shared.file);
  }
}

const offersByProc = new WeakMap<Proc, StateOffers>();

/** Returns the offers of a proc of this process. */
export function stateOffersOf(proc: Proc): StateOffers {
  let offers = offersByProc.get(proc);
  if (offers === undefined) {
    offers = new StateOffers(proc);
    offersByProc.set(proc, offers);
  }
  return offers;
}

/** Prepares a checkpoint for its way to another process. The caller drops its offer, if there is one, in the end. */
export function carryCheckpoint(proc: Proc, checkpoint: Checkpoint): CarriedCheckpoint {
  const { state, offer } = stateOffersOf(proc).carry([checkpoint.state]);
  return offer === undefined ? { checkpoint } : { checkpoint: { ...checkpoint, state }, offer };
}

/**
 * Returns a checkpoint that another process has sent, with its state, and ends its offer.
 *
 * @throws {Error} as a rejection, when the state cannot be read any more
 */
export async function receiveCheckpoint(proc: Proc, { checkpoint, offer }: CarriedCheckpoint): Promise<Checkpoint> {
  if (offer === undefined) return checkpoint;
  const { bytes, id, shared } = offer;
  const agent = runAsRoot(proc, () => agentOf(offer.proc));
  try {
    const mapped = shared && mapSharedState(shared, bytes);
    return { ...checkpoint, state: mapped ?? (await readInParts(proc, agent, offer)) };
  } finally {
    runAsRoot(proc, () => agent.dropState.broadcast(id));
  }
}

async function readInParts(
  proc: Proc,
  agent: ReturnType<typeof agentOf>,
  { id, bytes }: StateOffer,
): Promise<Uint8Array> {
  const readPart = (offset: number) =>
    runAsRoot(proc, () => agent.readState.callOne(id, offset, Math.min(PART_BYTES, bytes - offset)));
  // A single part is the state itself, and needs no copy.
  if (bytes <= PART_BYTES) return readPart(0);
  const state = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += PART_BYTES) state.set(await readPart(at), at);
  return state;
}
