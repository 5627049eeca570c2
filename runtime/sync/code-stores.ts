/**
 * The stores from and to which the hosts of a program fetch code: an actor on each host, in a process that lives as long as the
 * program is attached, and an actor in the program. They mark what they have received as used, so that it is not removed.
 */
import type { CodeStoreMesh, SyncOutcome, TreeAddress } from "../../generated/sync.js";
import { thisProc } from "../index.js";
import { oneRank } from "../shape/one-rank.js";
import {
  type AttachedHosts,
  baseRanks,
  currentRuntime,
  HostMesh,
  NoMessageTurn,
  type ProcessRuntime,
  type ProcId,
  type Region,
  runAsRoot,
  runInTurn,
  syncModule,
} from "./kernel.js";
import { CodeStoreFiles, DEFAULT_QUOTA, defaultStoreFolder } from "./store/code-store-files.js";
import { HostCodeStore } from "./transfer/code-store-actor.js";

/** The store of this program, which serves what scans have found. */
export interface DriverStore {
  readonly files: CodeStoreFiles;
  readonly actor: CodeStoreMesh<never>;
}

const driverStores = new WeakMap<ProcessRuntime, DriverStore>();

/** Returns the store of this program. */
export function driverStore(): DriverStore {
  const runtime = currentRuntime();
  let store = driverStores.get(runtime);
  if (store === undefined) {
    const folder = defaultStoreFolder();
    const files = new CodeStoreFiles(folder);
    const actor = runAsRoot(runtime.mainProc.proc, () =>
      thisProc().spawn("code store", HostCodeStore, { folder, quota: DEFAULT_QUOTA }),
    );
    store = { files, actor };
    driverStores.set(runtime, store);
  }
  return store;
}

/** Stores on hosts that get trees together. */
class HostStores {
  /** The hosts, in the order of the ranks of the stores. */
  readonly hosts: readonly ProcId[];
  readonly stores: CodeStoreMesh;

  constructor(attached: AttachedHosts, region: Region, quota: number) {
    this.hosts = [...baseRanks(region)].map((number) => attached.hostAt(number).id);
    // The actor that has attached the hosts owns the processes, whoever asks for the code.
    this.stores = runInTurn(new NoMessageTurn(attached.owner), () => {
      const mesh = new HostMesh(currentRuntime(), region, { attachment: attached, ready: attached.ready });
      const procs = mesh.spawnProcs({}, { name: "code stores", registry: new URL(syncModule), execArgv: [] });
      return procs.spawn("code stores", HostCodeStore, { folder: "", quota }) as CodeStoreMesh;
    }) as CodeStoreMesh;
  }
}

/** What a host has done to get a tree, or why it does not have it. */
export type HostResult = PromiseSettledResult<SyncOutcome>;

/** The stores of hosts that were attached together. */
export class CodeStores {
  readonly #attached: AttachedHosts;
  readonly #started = new Map<string, HostStores>();
  readonly #quota: number;

  private constructor(attached: AttachedHosts, quota: number) {
    this.#attached = attached;
    this.#quota = quota;
  }

  static readonly #all = new WeakMap<AttachedHosts, CodeStores>();

  /** Returns the stores of hosts. The quota counts when the first of them is started. */
  static of(attached: AttachedHosts, quota: number = DEFAULT_QUOTA): CodeStores {
    let stores = CodeStores.#all.get(attached);
    if (stores === undefined) {
      stores = new CodeStores(attached, quota);
      CodeStores.#all.set(attached, stores);
    }
    return stores;
  }

  /** The region of all hosts that are attached now. */
  get wholeRegion(): Region {
    return this.#attached.members.region;
  }

  /**
   * Brings a tree to the hosts of a region, which fetch it from each other and from this program.
   *
   * @param name the name under which the tree is current on the hosts
   * @param arrived is called for each host that has the tree
   * @returns what each host has done, in rank order
   */
  async bring(tree: TreeAddress, region: Region, name: string, arrived: () => void): Promise<HostResult[]> {
    const { stores } = this.#storesOn(region);
    const order = { tree, hosts: stores, driver: driverStore().actor };
    const one = async (rank: number): Promise<SyncOutcome> => {
      const store: CodeStoreMesh<never> = oneRank(stores, rank);
      const outcome = await store.receive.callOne(order);
      await store.activate.callOne(tree.digest, name);
      arrived();
      return outcome;
    };
    return Promise.allSettled(Array.from({ length: stores.size }, (_, rank) => one(rank)));
  }

  /** Returns the stores of the hosts of a region, and starts those that are not there. */
  #storesOn(region: Region): HostStores {
    const key = [...baseRanks(region)].map((number) => this.#attached.hostAt(number).id).join();
    let started = this.#started.get(key);
    if (started === undefined) {
      started = new HostStores(this.#attached, region, this.#quota);
      this.#started.set(key, started);
    }
    return started;
  }
}
