/**
 * Transport `shared`: memory that was made to be shared (`RdmaBuffer.allocate`) is mapped here, and transfers are copies. It can also be
 * used in place. It outlives its owner: what is mapped stays as it is when the owner dies, and can still be read.
 */
import { closeSync } from "node:fs";
import type { RdmaAddon } from "../native/rdma-addon.js";
import type { Opened } from "./backend.js";
import type { Handle } from "./handle.js";
import { NativeBackend } from "./native-backend.js";
import { transfer } from "./native-transfer.js";
import type { Operation } from "./operation.js";
import type { PeerSlot, PeerTables } from "./peer-tables.js";
import { refused } from "./refusal.js";
import { fdOf } from "./slot.js";

const PAGE = 4096;
/** What one thread copies in 0.1 to 0.4 ms. */
const AT_ONCE = 4 << 20;

export class SharedBackend extends NativeBackend {
  readonly transport = "shared";
  /** What is mapped already, of whom: several grants may be of one memory. Nothing is kept for longer than somebody uses it. */
  readonly #mapped = new Map<string, WeakRef<ArrayBuffer>>();

  protected reach(handle: Handle, peer: PeerSlot, addon: RdmaAddon, peers: PeerTables): Opened | undefined {
    const fd = fdOf(peer.memory);
    if (fd === undefined) return undefined;
    const map = (mode: 0 | 1) => this.#map(addon, peers, handle, peer, fd, mode);
    const memory = map(0);
    if (memory === undefined) return undefined;
    return {
      transfer: (operation: Operation) =>
        transfer(
          operation,
          peer,
          handle,
          AT_ONCE,
          (way, local, stretches, slot, head, control, started, lanes, helped) =>
            addon.mappedTransfer(way, local, stretches, slot, head, control, started, lanes, helped, memory),
        ),
      map: () => {
        const inPlace = peer.access === "rw" ? memory : map(1);
        if (inPlace === undefined) throw refused("dropped", "map an RdmaBuffer");
        return inPlace;
      },
      close() {},
    };
  }

  /** What is granted of it. @param mode as of `mapMemory` */
  #map(
    addon: RdmaAddon,
    peers: PeerTables,
    handle: Handle,
    peer: PeerSlot,
    fd: number,
    mode: 0 | 1,
  ): Uint8Array | undefined {
    const { process: name, length } = handle;
    const skipped = peer.offset % PAGE;
    const from = peer.offset - skipped;
    const key = `${name.pid} ${name.started} ${name.table} ${peer.memory} ${from} ${length + skipped}`;
    // Views of one's own are nobody else's: what is written there stays there.
    const known = mode === 0 ? this.#mapped.get(key)?.deref() : undefined;
    if (known !== undefined) return new Uint8Array(known, skipped, length);
    const opened = peers.open(name, fd);
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
