/** The stores from which a guest gets large values of other machines. Each owner names one for all guests of a machine. */
import type { TaskOwnerMesh } from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";
import { thisProc } from "../../index.js";
import { ownMachineId, UNKNOWN_MACHINE } from "../kernel.js";
import { storesValues } from "../objects/context-objects.js";
import type { Store } from "../objects/copies.js";
import { callInTurn, type InTurn } from "../objects/piece-sources.js";

export class GuestStores {
  readonly #context: string;
  readonly #inTurn: InTurn;
  /** The store of this process, which it offers to the owners of values. */
  #own: Promise<Store> | undefined;
  /** The answers of the owners, by their processes. */
  readonly #named = new Map<bigint, Promise<Store | undefined>>();

  constructor(context: string, inTurn: InTurn) {
    this.#context = context;
    this.#inTurn = inTurn;
  }

  /**
   * Returns the store that brings the values of a process to this machine. Undefined: this process reads them for itself.
   *
   * @param failed the store that was returned before, and that has ended
   */
  find(owner: TaskOwnerMesh<never>, failed: Store | undefined): Promise<Store | undefined> {
    const proc = procsOf(owner)[0]!;
    const named = this.#named.get(proc);
    if (named !== undefined && failed === undefined) return named;
    // Promises that are kept would keep the message that is being handled, and its arguments.
    this.#inTurn(() => void this.#named.set(proc, this.#ask(owner, failed)));
    return this.#named.get(proc)!;
  }

  async #ask(owner: TaskOwnerMesh<never>, failed: Store | undefined): Promise<Store | undefined> {
    const machine = ownMachineId();
    if (machine === UNKNOWN_MACHINE || !storesValues()) return undefined;
    this.#own ??= this.#make();
    const own = await this.#own;
    return callInTurn(this.#inTurn, () => owner.storeNear.callOne(machine, own, failed)).catch(() => undefined);
  }

  async #make(): Promise<Store> {
    // Most guests have no values of other machines.
    const { guestStores, HostStore } = await import("../host/host-store.js");
    const context = this.#context;
    return new Promise((resolve) =>
      this.#inTurn(() => {
        const made: Store = thisProc().spawn(`task store of ${context}`, HostStore, { context, host: 0 });
        guestStores.set(context, made);
        resolve(made);
      }),
    );
  }

  /** Forgets a process, which has left the context or has ended. */
  ownerLeft(proc: bigint): void {
    this.#named.delete(proc);
  }

  /** Ends the store of this process. */
  async close(): Promise<void> {
    const own = await this.#own;
    if (own === undefined) return;
    const { guestStores } = await import("../host/host-store.js");
    // A new guest of the same context can have one already.
    if (guestStores.get(this.#context) === own) guestStores.delete(this.#context);
    this.#inTurn(() => void own.stop({ drain: 0 }));
  }
}
