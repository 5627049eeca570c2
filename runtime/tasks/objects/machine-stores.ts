/** The stores from which the guests of each machine get the values of this process, so that a machine gets each value once. */
import type { TaskRootMesh } from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";
import type { Store } from "./copies.js";
import { callInTurn, type InTurn } from "./piece-sources.js";

/** The part of a context in this process. */
export interface StoreDirectory {
  /** Returns the center of the context. */
  readonly root: () => TaskRootMesh<never>;
  readonly inTurn: InTurn;
  /** Returns whether a store has ended, as far as its end was noticed. */
  readonly hasEnded: (store: Store) => boolean;
}

export class MachineStores {
  readonly #directory: StoreDirectory;
  readonly #stores = new Map<bigint, Store>();
  #hosts: Promise<void> | undefined;

  constructor(directory: StoreDirectory) {
    this.#directory = directory;
  }

  /**
   * Returns the store of a machine.
   *
   * @param offered becomes the store of the machine if it has none
   * @param failed a store that has ended, even if this process has not noticed it
   */
  async find(machine: bigint, offered: Store, failed: Store | undefined): Promise<Store> {
    await this.#addHostsOnce();
    const known = this.#stores.get(machine);
    if (known !== undefined && !isSame(known, failed) && !this.#directory.hasEnded(known)) return known;
    this.#stores.set(machine, offered);
    return offered;
  }

  /** The hosts of a context stay the same. */
  async #addHostsOnce(): Promise<void> {
    this.#hosts ??= this.#addHosts();
    try {
      await this.#hosts;
    } catch (error) {
      // The center of the context was too busy. The next guest asks it again.
      this.#hosts = undefined;
      throw error;
    }
  }

  /** Adds the stores of the hosts of the context. A host that does not answer has none. */
  async #addHosts(): Promise<void> {
    const { root, inTurn } = this.#directory;
    const { hosts } = await callInTurn(inTurn, () => root().describe.callOne());
    const loads = await Promise.allSettled(hosts.map(({ host }) => callInTurn(inTurn, () => host.load.callOne())));
    for (const [i, load] of loads.entries()) {
      const machine = load.status === "fulfilled" ? load.value.machine : undefined;
      if (machine !== undefined && !this.#stores.has(machine)) this.#stores.set(machine, hosts[i]!.store);
    }
  }
}

function isSame(one: Store, other: Store | undefined): boolean {
  return other !== undefined && procsOf(one)[0] === procsOf(other)[0];
}
