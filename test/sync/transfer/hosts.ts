/** Simulated hosts that fetch blobs from each other, with the code of real ones: only stores, links and time are simulated. */
import type { BlobBatch } from "../../../generated/sync.js";
import type { BlobSink } from "../../../runtime/sync/store/blob-files.js";
import { wrongBytes } from "../../../runtime/sync/store/blob-files.js";
import { Arrivals } from "../../../runtime/sync/transfer/arrivals.js";
import { fetchBlobs, type Peer } from "../../../runtime/sync/transfer/fetch-blobs.js";
import { DRIVER, STRIPES, sourcesOf, stripeOf } from "../../../runtime/sync/transfer/plan-sources.js";
import { serveBlobs } from "../../../runtime/sync/transfer/serve-blobs.js";
import { type Digest, digestOf } from "../../../runtime/sync/tree/digest.js";
import { SimulatedTime } from "./simulated-time.js";

/** The time that a batch needs from one host to another, in milliseconds. */
const LINK_MS = 10;
/** The id of the tree. It does not matter here. */
export const TREE = "0".repeat(64);

/** The blobs of a host in memory. All hosts share the bytes, and verify them. */
class MemoryBlobs implements BlobSink {
  readonly #blobs = new Map<Digest, Uint8Array>();
  /** Digests of bytes that were verified already, because thousands of hosts verify the same ones. */
  static readonly #verified = new WeakMap<Uint8Array, Digest>();

  has(digest: Digest): boolean {
    return this.#blobs.has(digest);
  }
  get(digest: Digest): Uint8Array | undefined {
    return this.#blobs.get(digest);
  }
  put(digest: Digest, bytes: Uint8Array): void {
    const actual = MemoryBlobs.#verified.get(bytes) ?? digestOf(bytes);
    MemoryBlobs.#verified.set(bytes, actual);
    if (actual !== digest) throw wrongBytes(digest, actual);
    this.#blobs.set(digest, bytes);
  }
}

export type Behaviour = "honest" | "lies" | "stalls" | "dead" | "only says that it waits";

export class SimulatedHost {
  readonly blobs = new MemoryBlobs();
  readonly arrivals = new Arrivals();
  behaviour: Behaviour = "honest";
  /** The number of bytes that the host has sent. */
  sent = 0;
  /** How often another host has asked it. */
  asked = 0;
}

export class SimulatedHosts {
  readonly time = new SimulatedTime();
  readonly driver = new SimulatedHost();
  readonly hosts: readonly SimulatedHost[];
  readonly #wanted: ReadonlyMap<Digest, number>;

  constructor(count: number, blobs: readonly Uint8Array[]) {
    this.hosts = Array.from({ length: count }, () => new SimulatedHost());
    for (const blob of blobs) this.driver.blobs.put(digestOf(blob), blob);
    this.#wanted = new Map(blobs.map((blob) => [digestOf(blob), blob.length]));
  }

  /** Brings all blobs to a host. */
  async receive(rank: number): Promise<{ bytes: number; skipped: string[] }> {
    const host = this.hosts[rank]!;
    const stripes = Array.from({ length: STRIPES }, () => new Map<Digest, number>());
    for (const [digest, size] of this.#wanted)
      if (!host.blobs.has(digest)) stripes[stripeOf(digest)]!.set(digest, size);
    const fetching = {
      blobs: host.blobs,
      clock: this.time,
      arrived: (tree: Digest, digest: Digest) => host.arrivals.arrived(tree, digest),
    };
    const received = await Promise.all(
      stripes.map((wanted, stripe) =>
        fetchBlobs(
          fetching,
          TREE,
          wanted,
          sourcesOf(rank, this.hosts.length, stripe).map((source) => this.#peer(source)),
        ),
      ),
    );
    return {
      bytes: received.reduce((sum, { bytes }) => sum + bytes, 0),
      skipped: received.flatMap(({ skipped }) => skipped),
    };
  }

  isComplete(rank: number): boolean {
    return [...this.#wanted.keys()].every((digest) => this.hosts[rank]!.blobs.has(digest));
  }

  #peer(rank: number): Peer {
    const host = rank === DRIVER ? this.driver : this.hosts[rank]!;
    const name = rank === DRIVER ? "the driver" : `host ${rank}`;
    return { isDriver: rank === DRIVER, name, serve: (tree, digests) => this.#serve(host, tree, digests) };
  }

  async *#serve(host: SimulatedHost, tree: Digest, digests: Uint8Array): AsyncGenerator<BlobBatch, void> {
    host.asked++;
    await this.time.sleep(LINK_MS);
    const leave = new AbortController();
    const serving = { blobs: host.blobs, arrivals: host.arrivals, clock: this.time };
    try {
      for await (const batch of serveBlobs(serving, tree, digests, leave.signal)) {
        await this.time.sleep(LINK_MS);
        if (host.behaviour === "dead") throw new Error("the process has ended");
        while (host.behaviour === "stalls") await this.time.sleep(1e6);
        if (host.behaviour === "only says that it waits") {
          for (;;) {
            yield { indexes: [], blobs: [] };
            await this.time.sleep(500);
          }
        }
        host.sent += batch.blobs.reduce((sum, { length }) => sum + length, 0);
        yield host.behaviour === "lies"
          ? { ...batch, blobs: batch.blobs.map((blob) => blob.map((byte) => byte ^ 1)) }
          : batch;
      }
    } finally {
      leave.abort();
    }
  }
}
