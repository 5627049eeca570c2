/**
 * Transport `shared`: memory that was made to be shared (`RdmaBuffer.allocate`) is mapped here, and transfers are copies. It can also be
 * used in place. It outlives its owner: what is mapped stays as it is when the owner dies, and can still be read.
 */
import { closeSync } from "node:fs";
import type { RdmaAddon } from "../native/rdma.js";
import type { Backend, Opened } from "./backend.js";
import type { Handle } from "./handle.js";
import { transfer } from "./native-transfer.js";
import type { Operation } from "./operation.js";
import type { PeerSlot, PeerTables } from "./peer-tables.js";
import { refused } from "./refusal.js";
import { fdOf } from "./slot.js";

const PAGE = 4096;

export class SharedBackend implements Backend {
  readonly transport = "shared";
  readonly oneSided = true;
  readonly #addon: RdmaAddon | undefined;
  readonly #peers: PeerTables;
  /** What is mapped already, of whom: several grants may be of one memory. */
  readonly #mapped = new Map<string, WeakRef<ArrayBuffer>>();

  constructor(addon: RdmaAddon | undefined, peers: PeerTables) {
    this.#addon = addon;
    this.#peers = peers;
  }

  unavailable(): string | undefined {
    return this.#addon === undefined ? "there is no addon" : undefined;
  }

  async open(handle: Handle): Promise<Opened | undefined> {
    const addon = this.#addon;
    const peer = this.#peers.slotOf(handle);
    if (addon === undefined || peer === undefined) return undefined;
    const fd = fdOf(peer.memory);
    if (fd === undefined) return undefined;
    const memory = this.#map(addon, handle, peer, fd, 0);
    if (memory === undefined) return undefined;
    let inPlace: Uint8Array | undefined;
    return {
      transfer: (operation: Operation) =>
        transfer(operation, peer, handle, (...args) => addon.mappedTransfer(...args, memory)),
      map: () => {
        inPlace ??= handle.access === "rw" ? memory : this.#map(addon, handle, peer, fd, 1);
        if (inPlace === undefined) throw refused("dropped", "map an RdmaBuffer");
        return inPlace;
      },
      close() {},
    };
  }

  /** What is granted of it. @param mode as of `mapMemory` */
  #map(addon: RdmaAddon, handle: Handle, peer: PeerSlot, fd: number, mode: 0 | 1): Uint8Array | undefined {
    const { process: name, length } = handle;
    const skipped = peer.offset % PAGE;
    const from = peer.offset - skipped;
    const key = `${name.pid} ${name.started} ${name.table} ${peer.memory} ${from} ${length + skipped}`;
    // Views of one's own are nobody else's: what is written there stays there.
    const known = mode === 0 ? this.#mapped.get(key)?.deref() : undefined;
    if (known !== undefined) return new Uint8Array(known, skipped, length);
    const opened = this.#peers.open(name, fd);
    if (opened === undefined) return undefined;
    try {
      const buffer = addon.mapMemory(opened, from, length + skipped, mode);
      // Descriptors come again: while the grant is good, the file that it names was open.
      const refusal = peer.refusal();
      if (refusal !== undefined) throw refused(refusal);
      for (const [old, mapped] of this.#mapped) if (mapped.deref() === undefined) this.#mapped.delete(old);
      if (mode === 0) this.#mapped.set(key, new WeakRef(buffer));
      return new Uint8Array(buffer, skipped, length);
    } finally {
      closeSync(opened);
    }
  }
}
