/**
 * Transport `vm`: accesses any memory of another process of the same machine and user, with process_vm_readv and
 * process_vm_writev. A read copies the head of the slot, the bytes, and the head again in one call. A write first takes
 * a writer cell of the slot (native/rdma/transfer/slot.h).
 */
import type { RdmaAddon } from "../../../native/rdma-addon.js";
import { SLOT_HEAD_BYTES } from "../../grant/grant-slot.js";
import type { MemoryHandle } from "../../grant/memory-handle.js";
import { refusalError } from "../../grant/refusal.js";
import type { TransferOperation } from "../../transfer/transfer-operation.js";
import type { OpenedMemory } from "../backend.js";
import { SameHostBackend } from "../same-host/backend.js";
import type { PeerSlot } from "../same-host/peer-grant-tables.js";
import { transferNatively } from "../same-host/transfer.js";

/** Maximum number of bytes of a synchronous transfer, which one thread copies in about 0.1 ms with 4 KiB pages. */
const MAX_INLINE_BYTES = 1 << 20;

export class VmBackend extends SameHostBackend {
  readonly transport = "vm";
  protected openMemory(handle: MemoryHandle, peer: PeerSlot, addon: RdmaAddon): OpenedMemory | undefined {
    const { pid } = handle.process;
    // To prove that it reaches the memory, the process reads the slot at its address and compares it with the mapped
    // slot.
    const head = new Uint8Array(SLOT_HEAD_BYTES);
    const isThere = addon.readProcess(pid, peer.slotAddress, head) === 0;
    if (!isThere || !head.every((byte, i) => byte === peer.head[i])) {
      // The grant may have ended since the slot was checked.
      const why = peer.refusal();
      if (isThere && why !== undefined) throw refusalError(why);
      return undefined;
    }
    return {
      transfer: (operation: TransferOperation) =>
        transferNatively(
          operation,
          peer,
          handle,
          MAX_INLINE_BYTES,
          (direction, local, segments, slot, head, control, started, lanes, helped) =>
            addon.processTransfer(
              direction,
              local,
              segments,
              slot,
              head,
              control,
              started,
              lanes,
              helped,
              pid,
              peer.slotAddress,
            ),
        ),
      close() {},
    };
  }
}
