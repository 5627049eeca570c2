/** What `shared` and `vm` have in common: an owner on this machine, whose table of grants is mapped, and the addon. */
import type { RdmaAddon } from "../native/rdma-addon.js";
import type { Backend, Opened } from "./backend.js";
import type { Handle } from "./handle.js";
import type { PeerSlot, PeerTables } from "./peer-tables.js";
import type { Transport } from "./transport.js";

export abstract class NativeBackend implements Backend {
  abstract readonly transport: Transport;
  readonly oneSided = true;
  readonly #addon: RdmaAddon | undefined;
  readonly #peers: PeerTables;

  /** Of grants whose memory is in use: further handles of them need no more than a look at the slot. Nothing is kept for longer. */
  readonly #opened = new WeakMap<PeerSlot, WeakRef<Opened>>();

  constructor(addon: RdmaAddon | undefined, peers: PeerTables) {
    this.#addon = addon;
    this.#peers = peers;
  }

  unavailable(): string | undefined {
    return this.#addon === undefined ? "there is no addon" : undefined;
  }

  open(handle: Handle): Opened | undefined {
    const addon = this.#addon;
    const peer = this.#peers.slotOf(handle);
    if (addon === undefined || peer === undefined) return undefined;
    const known = this.#opened.get(peer)?.deref();
    if (known !== undefined) return known;
    const opened = this.reach(handle, peer, addon, this.#peers);
    if (opened !== undefined) this.#opened.set(peer, new WeakRef(opened));
    return opened;
  }

  /** The same as `open`, for a slot that says that the grant is good. */
  protected abstract reach(handle: Handle, peer: PeerSlot, addon: RdmaAddon, peers: PeerTables): Opened | undefined;
}
