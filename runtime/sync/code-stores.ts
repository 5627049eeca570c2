/**
 * The stores from and to which the hosts of a program fetch code: an actor on each host, in a process that lives as long as the
 * program is attached, and an actor in the program. They mark what they have received as used, so that it is not removed.
 */
import type { CodeStoreMesh, SyncOutcome, TreeAddress, TreePackages } from "../../generated/sync.js";
import { ActorError, thisProc } from "../index.js";
import { oneRank } from "../shape/one-rank.js";
import {
  type AttachedHosts,
  baseRanks,
  currentRuntime,
  HostMesh,
  type LocalActor,
  NoMessageTurn,
  type ProcessRuntime,
  type Region,
  runAsRoot,
  runInTurn,
  syncModule,
} from "./kernel.js";
import { CodeStoreFiles, DEFAULT_QUOTA, defaultStoreFolder } from "./store/code-store-files.js";
import type { Arrivals } from "./transfer/arrivals.js";
import { HostCodeStore, localStore } from "./transfer/code-store-actor.js";
import { DIGEST_BYTES } from "./tree/digest.js";

/** The store of this program, which serves what scans have found. */
export interface DriverStore {
  readonly files: CodeStoreFiles;
  readonly actor: CodeStoreMesh<never>;
  /** The actor itself, which owns the stores on hosts: their end is no fault of the program. */
  readonly cell: LocalActor;
  /** Tells the hosts that wait for blobs which ones this program has stored. */
  readonly arrivals: Arrivals;
}

const driverStores = new WeakMap<ProcessRuntime, Promise<DriverStore>>();

/** Returns the store of this program. */
export function driverStore(): Promise<DriverStore> {
  const runtime = currentRuntime();
  let store = driverStores.get(runtime);
  if (store === undefined) {
    store = runAsRoot(runtime.mainProc.proc, startDriverStore);
    driverStores.set(runtime, store);
  }
  return store;
}

async function startDriverStore(): Promise<DriverStore> {
  const folder = defaultStoreFolder();
  const files = new CodeStoreFiles(folder);
  const actor = thisProc().spawn("code store", HostCodeStore, { folder, quota: DEFAULT_QUOTA }) as CodeStoreMesh<never>;
  await actor.release.callOne(nothing);
  return { files, actor, ...localStore(folder) };
}

/** The id of no tree. */
const nothing = new Uint8Array(DIGEST_BYTES);

/** Stores on hosts that get trees together. */
class HostStores {
  readonly stores: CodeStoreMesh;
  /** Ends the processes. */
  end: () => Promise<void> = () => Promise.resolve();

  constructor(attached: AttachedHosts, region: Region, quota: number, owner: LocalActor) {
    this.stores = runInTurn(new NoMessageTurn(owner), () => {
      const mesh = new HostMesh(currentRuntime(), region, { attachment: attached, ready: attached.ready });
      const procs = mesh.spawnProcs({}, { name: "code stores", registry: new URL(syncModule), execArgv: [] });
      this.end = () => procs.stop();
      return procs.spawn("code stores", HostCodeStore, { folder: "", quota }) as CodeStoreMesh;
    }) as CodeStoreMesh;
  }
}

/** A tree for hosts. */
export interface BroughtTree {
  readonly address: TreeAddress;
  /** The name under which the tree is current on the hosts. */
  readonly name: string;
  /** The packages that hosts install in the tree. */
  readonly packages: readonly TreePackages[];
}

/** The work of a host to get a tree, or the reason why it does not have the tree. */
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
      const { end } = stores;
      attached.code.endStores = end;
      CodeStores.#all.set(attached, stores);
    }
    return stores;
  }

  /**
   * Brings a tree to the hosts of a region, which fetch it from each other and from this program.
   *
   * @param arrived is called for each host that has the tree
   * @returns what each host has done, in rank order
   */
  async bring(
    { address: tree, name, packages }: BroughtTree,
    region: Region,
    arrived: () => void,
  ): Promise<HostResult[]> {
    const { actor: driver, cell } = await driverStore();
    const { key, stores } = this.#storesOn(region, cell);
    // A store whose process starts slowly would be skipped by those that fetch from it.
    await stores.release.callSettled(nothing);
    const one = async (rank: number): Promise<SyncOutcome> => {
      const store: CodeStoreMesh<never> = oneRank(stores, rank);
      const outcome = await store.receive.callOne({ tree, packages: [...packages], hosts: stores, rank, driver });
      await store.activate.callOne(tree.digest, name);
      arrived();
      return outcome;
    };
    const results = await Promise.allSettled(Array.from({ length: stores.size }, (_, rank) => one(rank)));
    // A store that has ended would fail again.
    if (results.some((result) => result.status === "rejected" && !isAnswer(result.reason))) this.#started.delete(key);
    return results;
  }

  /** Ends all stores, that of this program too. What they have stored stays. */
  readonly end = async (): Promise<void> => {
    const started = [...this.#started.values()];
    this.#started.clear();
    await Promise.all(started.map((stores) => stores.end()));
    const runtime = currentRuntime();
    const driver = driverStores.get(runtime);
    driverStores.delete(runtime);
    await (await driver)?.actor.stop();
  };

  /** Starts the stores of the hosts of a region, so that a later `bring` need not wait for them. */
  start(region: Region): void {
    // `bring` reports what fails here.
    driverStore().then(
      ({ cell }) => this.#storesOn(region, cell),
      () => {},
    );
  }

  /** Returns the stores of the hosts of a region, and starts those that are not there. */
  #storesOn(region: Region, owner: LocalActor): { readonly key: string; readonly stores: CodeStoreMesh } {
    const key = [...baseRanks(region)].map((number) => this.#attached.hostAt(number).id).join();
    let started = this.#started.get(key);
    if (started === undefined) {
      started = new HostStores(this.#attached, region, this.#quota, owner);
      this.#started.set(key, started);
    }
    return { key, stores: started.stores };
  }
}

/** Returns whether a store has answered with an error, so that its process lives. */
function isAnswer(error: unknown): boolean {
  return error instanceof ActorError && error.remoteName === "SyncError";
}
