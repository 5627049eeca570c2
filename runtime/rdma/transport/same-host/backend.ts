/** What `shared` and `vm` have in common: an owner on this machine, whose table of grants is mapped, and the addon. */
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

  /** Of grants whose memory is in use: further handles of them need no more than a look at the slot. Nothing is kept for longer. */
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

  /** The same as `open`, for a slot that says that the grant is good. */
  protected abstract openMemory(
    handle: MemoryHandle,
    peer: PeerSlot,
    addon: RdmaAddon,
    peers: PeerGrantTables,
  ): OpenedMemory | undefined;
}
