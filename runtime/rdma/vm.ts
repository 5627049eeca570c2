/**
 * Transport `vm`: any memory of another process of this machine and user, by process_vm_readv and process_vm_writev. A read copies the
 * head of the slot, the bytes, and the head again in one call; a write takes a cell of the slot first (native/rdma/slot.h).
 */
import type { RdmaAddon } from "../native/rdma-addon.js";
import type { Opened } from "./backend.js";
import type { Handle } from "./handle.js";
import { NativeBackend } from "./native-backend.js";
import { transfer } from "./native-transfer.js";
import type { Operation } from "./operation.js";
import type { PeerSlot } from "./peer-tables.js";
import { refused } from "./refusal.js";
import { HEAD_BYTES } from "./slot.js";

/** What one thread copies in about 0.1 ms, small pages and all. */
const AT_ONCE = 1 << 20;

export class VmBackend extends NativeBackend {
  readonly transport = "vm";
  protected reach(handle: Handle, peer: PeerSlot, addon: RdmaAddon): Opened | undefined {
    const { pid } = handle.process;
    // The proof: the slot is readable, there, at its address, by the call that reads use, and it is the one that was mapped.
    const head = new Uint8Array(HEAD_BYTES);
    const isThere = addon.readProcess(pid, peer.slotAddress, head) === 0;
    if (!isThere || !head.every((byte, i) => byte === peer.head[i])) {
      // It may have been taken back since it was looked at.
      const why = peer.refusal();
      if (isThere && why !== undefined) throw refused(why);
      return undefined;
    }
    return {
      transfer: (operation: Operation) =>
        transfer(
          operation,
          peer,
          handle,
          AT_ONCE,
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
