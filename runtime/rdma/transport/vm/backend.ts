/**
 * Transport `vm`: any memory of another process of this machine and user, by process_vm_readv and process_vm_writev. A read copies the
 * head of the slot, the bytes, and the head again in one call; a write takes a cell of the slot first (native/rdma/transfer/slot.h).
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

/** What one thread copies in about 0.1 ms, small pages and all. */
const MAX_INLINE_BYTES = 1 << 20;

export class VmBackend extends SameHostBackend {
  readonly transport = "vm";
  protected openMemory(handle: MemoryHandle, peer: PeerSlot, addon: RdmaAddon): OpenedMemory | undefined {
    const { pid } = handle.process;
    // The proof: the slot is readable, there, at its address, by the call that reads use, and it is the one that was mapped.
    const head = new Uint8Array(SLOT_HEAD_BYTES);
    const isThere = addon.readProcess(pid, peer.slotAddress, head) === 0;
    if (!isThere || !head.every((byte, i) => byte === peer.head[i])) {
      // It may have been taken back since it was looked at.
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
          (way, local, stretches, slot, head, control, started, lanes, helped) =>
            addon.processTransfer(
              way,
              local,
              stretches,
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
