/** The actors that hold one port, by name, with the procs that they live in. */
import type { ActorId, ProcId } from "../../link/address.js";
import { holderName } from "./announce-holders.js";

export class PortHolders {
  readonly #holders = new Map<string, ProcId>();
  /** Why no holder is left. Undefined while there is a holder, and before there was the first one. */
  orphanReason: string | undefined;

  add(holder: string, proc: ProcId): void {
    this.#holders.set(holder, proc);
    this.orphanReason = undefined;
  }

  addSender(sender: ActorId): void {
    this.add(holderName(sender), sender.proc);
  }

  /** @returns whether the last holder was removed */
  remove(holder: string): boolean {
    return this.#holders.delete(holder) && this.#checkOrphaned("the actor that held its port has ended");
  }

  /** @returns whether the last holder was removed */
  removeProc(peer: ProcId, reason: string): boolean {
    let removed = false;
    for (const [holder, proc] of this.#holders) if (proc === peer) removed = this.#holders.delete(holder) || removed;
    return removed && this.#checkOrphaned(reason);
  }

  #checkOrphaned(why: string): boolean {
    if (this.#holders.size > 0) return false;
    this.orphanReason = why;
    return true;
  }
}
