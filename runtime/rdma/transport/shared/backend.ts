/**
 * Transport `shared`: maps memory of `RdmaBuffer.allocate` into this process and copies bytes from and to it. The
 * mapped memory can also be used in place. It outlives its owner: after the owner has died, its content stays readable.
 */
import { closeSync } from "node:fs";
import type { RdmaAddon } from "../../../native/rdma-addon.js";
import { memoryFdOf } from "../../grant/grant-slot.js";
import type { MemoryHandle } from "../../grant/memory-handle.js";
import { refusalError } from "../../grant/refusal.js";
import type { TransferOperation } from "../../transfer/transfer-operation.js";
import type { OpenedMemory } from "../backend.js";
import { SameHostBackend } from "../same-host/backend.js";
import type { PeerGrantTables, PeerSlot } from "../same-host/peer-grant-tables.js";
import { transferNatively } from "../same-host/transfer.js";

/** A multiple of the size of a page, to which mappings are aligned. Kernels for arm64 are built with pages of 4 to 64 KiB. */
const PAGE_BYTES = process.arch === "arm64" ? 65_536 : 4096;
/** Maximum number of bytes of a synchronous transfer, which one thread copies in 0.1 to 0.4 ms. */
const MAX_INLINE_BYTES = 4 << 20;

export class SharedBackend extends SameHostBackend {
  readonly transport = "shared";
  /** Mappings in use, by file and range, because several grants may belong to one memory. */
  readonly #mappings = new Map<string, WeakRef<ArrayBuffer>>();

  protected openMemory(
    handle: MemoryHandle,
    peer: PeerSlot,
    addon: RdmaAddon,
    peers: PeerGrantTables,
  ): OpenedMemory | undefined {
    const fd = memoryFdOf(peer.memory);
    if (fd === undefined) return undefined;
    const map = (mode: 0 | 1) => this.#map(addon, peers, handle, peer, fd, mode);
    const memory = map(0);
    if (memory === undefined) return undefined;
    return {
      transfer: (operation: TransferOperation) =>
        transferNatively(
          operation,
          peer,
          handle,
          MAX_INLINE_BYTES,
          (direction, local, segments, slot, head, control, started, lanes, helped) =>
            addon.mappedTransfer(direction, local, segments, slot, head, control, started, lanes, helped, memory),
        ),
      map: () => {
        const inPlace = peer.access === "rw" ? memory : map(1);
        if (inPlace === undefined) throw refusalError("dropped", "map an RdmaBuffer");
        return inPlace;
      },
      close() {},
    };
  }

  /** Returns a view of the granted range. @param mode as of `RdmaAddon.mapMemory` */
  #map(
    addon: RdmaAddon,
    peers: PeerGrantTables,
    handle: MemoryHandle,
    peer: PeerSlot,
    fd: number,
    mode: 0 | 1,
  ): Uint8Array | undefined {
    const { process: owner, length } = handle;
    const skipped = peer.offset % PAGE_BYTES;
    const from = peer.offset - skipped;
    const key = `${owner.pid} ${owner.started} ${owner.table} ${peer.memory} ${from} ${length + skipped}`;
    // Private views (mode 1) are not shared, because writes to them stay private.
    const known = mode === 0 ? this.#mappings.get(key)?.deref() : undefined;
    if (known !== undefined) return new Uint8Array(known, skipped, length);
    const opened = peers.openFile(owner, fd);
    if (opened === undefined) return undefined;
    try {
      const buffer = addon.mapMemory(opened, from, length + skipped, mode);
      // If the grant is still valid, the opened file was the right one; otherwise its descriptor may have been reused.
      const refusal = peer.refusal();
      if (refusal !== undefined) throw refusalError(refusal);
      for (const [old, mapped] of this.#mappings) if (mapped.deref() === undefined) this.#mappings.delete(old);
      if (mode === 0) this.#mappings.set(key, new WeakRef(buffer));
      return new Uint8Array(buffer, skipped, length);
    } finally {
      closeSync(opened);
    }
  }
}
