/** Brings a tree to this host: first the chunks of its manifest, then the blobs of its files, then its folder. */
import type { TreeAddress, TreeManifest } from "../../../generated/sync.js";
import { checkAddons } from "../store/check-addons.js";
import type { CodeStoreFiles } from "../store/code-store-files.js";
import { SyncError } from "../sync-error.js";
import type { Digest } from "../tree/digest.js";
import { checkAddress, chunksIn, chunksOfManifest } from "../tree/manifest.js";
import type { Arrivals } from "./arrivals.js";
import { fetchBlobs, type Peer, type Received } from "./fetch-blobs.js";
import { DRIVER, STRIPES, sourcesOf, stripeOf } from "./plan-sources.js";
import type { TransferClock } from "./transfer-clock.js";

/** The number of attempts. Each one fetches the blobs that the store has lost meanwhile. */
const ATTEMPTS = 3;

/** This host, among those that get the tree. */
export interface ReceivingHost {
  readonly store: CodeStoreFiles;
  readonly arrivals: Arrivals;
  readonly clock: TransferClock;
  readonly rank: number;
  /** The number of hosts. */
  readonly hosts: number;
  /** Returns the store of a host, or of the driver for {@link DRIVER}. */
  peer(rank: number): Peer;
}

/** A tree that has arrived. */
export interface ReceivedTree {
  readonly folder: string;
  readonly received: Received;
}

/**
 * Fetches what this host lacks of a tree, and writes the tree into a folder.
 *
 * @throws {SyncError} if the manifest is refused, no source has a blob, or the store cannot be written
 */
export async function receiveTree(host: ReceivingHost, address: TreeAddress): Promise<ReceivedTree> {
  const tree = checkAddress(address);
  const { store, arrivals } = host;
  const received: Received = { blobs: 0, bytes: 0, driverBytes: 0, skipped: [] };
  const fetch = async (chunks: ReadonlyMap<Digest, number>, missing: ReadonlyMap<Digest, number>): Promise<void> => {
    const stripes = Array.from({ length: STRIPES }, () => new Map<Digest, number>());
    for (const [digest, size] of missing) stripes[stripeOf(digest)]?.set(digest, size);
    for (const digest of chunks.keys()) if (!missing.has(digest)) arrivals.arrived(tree, digest);
    const fetches = stripes.map(async (wanted, stripe) => {
      const peers = sourcesOf(host.rank, host.hosts, stripe).map((rank) => host.peer(rank));
      const { blobs, bytes, driverBytes, skipped } = await fetchBlobs(fetching, tree, wanted, peers);
      received.blobs += blobs;
      received.bytes += bytes;
      received.driverBytes += driverBytes;
      received.skipped.push(...skipped);
    });
    // Both have ended before the host says that it has failed.
    for (const result of await Promise.allSettled(fetches)) if (result.status === "rejected") throw result.reason;
  };
  const fetching = {
    blobs: store.blobs,
    clock: host.clock,
    arrived: (id: Digest, digest: Digest) => arrivals.arrived(id, digest),
  };
  arrivals.begin(tree);
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        const parts = new Map(chunksIn(address).map(({ digest, size }) => [digest, size]));
        await fetch(parts, store.missing(parts));
        const manifest = manifestOf(store, tree, address);
        const chunks = chunksOfManifest(manifest);
        const missing = attempt === 1 ? store.missingBesideLatest(chunks) : store.missing(chunks);
        store.makeRoom(tree, manifest, missing);
        await fetch(chunks, missing);
        const folder = await store.write(tree, manifest);
        store.blobs.forgetRecent();
        checkAddons(
          folder,
          manifest.entries.filter(({ link }) => link === undefined).map(({ path }) => path),
        );
        return { folder, received };
      } catch (error) {
        const isLost = error instanceof SyncError && error.code === "blob-missing";
        if (!isLost || attempt === ATTEMPTS) throw error;
      }
    }
  } catch (error) {
    arrivals.failed(tree, (error as Error).message);
    throw error;
  }
}

function manifestOf(store: CodeStoreFiles, tree: Digest, address: TreeAddress): TreeManifest {
  const manifest = store.manifest(tree, address);
  if (manifest !== undefined) return manifest;
  throw new SyncError(
    "blob-missing",
    `cannot read the manifest of tree ${tree.slice(0, 12)}: the store lacks a chunk of it`,
  );
}
