/**
 * The common part of the transports `shared` and `vm`, which need the addon and map the grant table of an owner on this
 * machine.
 */
import type { RdmaAddon } from "../../../native/rdma-addon.js";
import type { MemoryHandle } from "../../grant/memory-handle.js";
import type { Transport } from "../../transport-names.js";
import type { OpenedMemory, TransportBackend } from "../backend.js";
import type { PeerGrantTables, PeerSlot } from "./peer-grant-tables.js";

export abstract class SameHostBackend implements TransportBackend {
  abstract readonly transport: Transport;
  readonly oneSided = true;
  readonly #addon: RdmaAddon | undefined;
  readonly #grantTables: PeerGrantTables;

  /** Opened memory by slot, so that further handles of a grant only check the slot. Unused memory is not kept. */
  readonly #opened = new WeakMap<PeerSlot, WeakRef<OpenedMemory>>();

  constructor(addon: RdmaAddon | undefined, peers: PeerGrantTables) {
    this.#addon = addon;
    this.#grantTables = peers;
  }

  whyUnavailable(): string | undefined {
    return this.#addon === undefined ? "there is no addon" : undefined;
  }

  open(handle: MemoryHandle): OpenedMemory | undefined {
    const addon = this.#addon;
    const peer = this.#grantTables.slotOf(handle);
    if (addon === undefined || peer === undefined) return undefined;
    const known = this.#opened.get(peer)?.deref();
    if (known !== undefined) return known;
    const opened = this.openMemory(handle, peer, addon, this.#grantTables);
    if (opened !== undefined) this.#opened.set(peer, new WeakRef(opened));
    return opened;
  }

  /** Opens the memory of a grant whose slot has been checked. */
  protected abstract openMemory(
    handle: MemoryHandle,
    peer: PeerSlot,
    addon: RdmaAddon,
    peers: PeerGrantTables,
  ): OpenedMemory | undefined;
}
