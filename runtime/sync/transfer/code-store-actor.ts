/** The code store of a host as an actor: it fetches trees from the stores of other hosts, and serves its blobs to them. */
import {
  type BlobBatch,
  type BlobRequest,
  CodeStoreActor,
  type CodeStoreMesh,
  type CodeStoreOptions,
  type SyncOrder,
  type SyncOutcome,
} from "../../../generated/sync.js";
import { context } from "../../index.js";
import { oneRank } from "../../shape/one-rank.js";
import { currentCell, type LocalActor } from "../kernel.js";
import { installInTree } from "../packages/install-in-tree.js";
import { CodeStoreFiles, defaultStoreFolder, type TreeUse } from "../store/code-store-files.js";
import { SyncError } from "../sync-error.js";
import { DIGEST_BYTES, type Digest, digestsIn } from "../tree/digest.js";
import { checkAddress } from "../tree/manifest.js";
import { Arrivals } from "./arrivals.js";
import type { Peer } from "./fetch-blobs.js";
import { DRIVER } from "./plan-sources.js";
import { receiveTree } from "./receive-tree.js";
import { serveBlobs } from "./serve-blobs.js";
import type { TransferClock } from "./transfer-clock.js";

const clock: TransferClock = {
  now: () => performance.now(),
  after: (ms, task) => {
    const timer = setTimeout(task, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** A store of this process. */
export interface LocalStore {
  readonly cell: LocalActor;
  readonly arrivals: Arrivals;
}

/** The stores of this process, by their folders. */
const localStores = new Map<string, LocalStore>();

/** Returns the store of this process that was spawned last with this folder. */
export function localStore(folder: string): LocalStore {
  return localStores.get(folder)!;
}

export class HostCodeStore extends CodeStoreActor {
  readonly #store: CodeStoreFiles;
  readonly #arrivals = new Arrivals();
  /** The trees that this process has received, with their folders. */
  readonly #trees = new Map<Digest, { readonly folder: string; readonly use: TreeUse }>();

  constructor({ folder, quota }: CodeStoreOptions) {
    super();
    localStores.set(folder, { cell: currentCell(), arrivals: this.#arrivals });
    this.#store = new CodeStoreFiles(folder === "" ? defaultStoreFolder() : folder, quota);
  }

  async receive(order: SyncOrder): Promise<SyncOutcome> {
    const tree = checkAddress(order.tree);
    const { rank } = order;
    const hosts = order.hosts.size;
    const use = this.#store.use(tree);
    try {
      const host = { store: this.#store, arrivals: this.#arrivals, clock, rank, hosts, peer: peersOf(order) };
      const { folder, received } = await receiveTree(host, order.tree);
      await installInTree(folder, order.packages ?? []);
      this.#trees.get(tree)?.use.end();
      this.#trees.set(tree, { folder, use });
      const { blobs, bytes, driverBytes, skipped } = received;
      return { folder, blobs, bytes, driverBytes, skipped: skipped.length };
    } catch (error) {
      use.end();
      throw error;
    }
  }

  serve({ tree, digests }: BlobRequest): AsyncGenerator<BlobBatch, void> {
    const host = { blobs: this.#store.blobs, arrivals: this.#arrivals, clock };
    return serveBlobs(host, idOf(tree), digests, context().signal);
  }

  activate(tree: Uint8Array, name: string): string {
    const id = idOf(tree);
    const received = this.#trees.get(id);
    if (received === undefined) {
      throw new SyncError("store-failed", `cannot activate tree ${id.slice(0, 12)}: this store has not received it`);
    }
    return this.#store.activate(name, received.folder);
  }

  release(tree: Uint8Array): void {
    const id = idOf(tree);
    this.#trees.get(id)?.use.end();
    this.#trees.delete(id);
  }

  /** Stores on hosts can end with their hosts. Whoever waits for one of them is told. */
  override supervise(): boolean {
    return true;
  }

  override cleanup(): void {
    for (const { use } of this.#trees.values()) use.end();
  }
}

function idOf(tree: Uint8Array): Digest {
  const [id] = digestsIn(tree);
  if (id !== undefined && tree.length === DIGEST_BYTES) return id;
  throw new SyncError(
    "manifest-refused",
    `cannot use a tree: its id must have ${DIGEST_BYTES} bytes, got ${tree.length}`,
  );
}

/** Returns the stores from which a host can fetch. */
function peersOf({ hosts, driver }: SyncOrder): (rank: number) => Peer {
  return (rank) => {
    const store: CodeStoreMesh<never> = rank === DRIVER ? driver : oneRank(hosts, rank);
    return {
      isDriver: rank === DRIVER,
      name: rank === DRIVER ? "the driver" : `host ${rank}`,
      serve: async function* (tree, digests) {
        const request = { tree: Buffer.from(tree, "hex"), digests };
        for await (const [, batch] of store.serve.stream(request)) yield batch;
      },
    };
  };
}
