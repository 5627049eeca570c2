/**
 * A driver that publishes meshes on hosts. It does what the lines of its standard input say, each an array as JSON: the
 * name of an order and its arguments. It prints one line for each: the result, or the error.
 */
import { createInterface } from "node:readline";
import { attachHosts, lookup, onUnhandledFault, type PublishedMesh, publish, thisHost } from "viceroy";
import "../generated/registry.js";
import type { IndexMesh } from "../generated/index.js";
import { WordIndex } from "../src/word-index.js";

// The default is longer than a busy machine takes to answer.
const silence = Number(process.env["VICEROY_TEST_SILENCE"] ?? 60_000);
const hosts = process.argv
  .slice(2)
  .map((address) => attachHosts([address], { silence, timeout: 60_000, keepAlive: 60_000 }));
let procs = thisHost().spawnProcs({ shards: 3 }, { name: "shelves" });
const phoenix = thisHost().spawnProcs({ shards: 2 }, { name: "nests", restart: { policy: "always", maxRestarts: 9 } });
const meshes = new Map<string, IndexMesh<"shards">>([
  ["shelves", procs.spawn("shelves", WordIndex)],
  ["nests", phoenix.spawn("nests", WordIndex)],
]);
const published = new Map<string, PublishedMesh>();
onUnhandledFault(() => {});
await Promise.all(hosts.map(({ ready }) => ready));

const orders: Record<string, (...args: string[]) => unknown> = {
  async publish(name, mesh) {
    published.set(name!, await publish(name!, meshes.get(mesh!)!));
  },
  unpublish: (name) => published.get(name!)!.unpublish(),
  stop: (mesh) => meshes.get(mesh!)!.stop({ reason: "not needed" }),
  leave: (host = "0") => hosts[Number(host)]!.stop(),
  async introduce(mesh, name) {
    await meshes.get(mesh!)!.introduce.call(await lookup<IndexMesh>(name!));
  },
  pids: async (mesh) => [...(await meshes.get(mesh!)!.where.call()).values()].map(({ pid }) => pid),
  /** Resizes a mesh of "shelves", and keeps the handle by the name "resized". */
  async resize(mesh, size) {
    procs = procs.resize({ shards: Number(size) });
    const resized = procs.resizeActors(meshes.get(mesh!)!);
    await resized.ready;
    meshes.set("resized", resized);
  },
  async call(name, word) {
    const index = await lookup<IndexMesh<"shards">>(name!);
    return [...(await index.add.call(word!)).values()];
  },
  /** Leaves a call under way, which has reached all actors. */
  async leaveCalling(name) {
    const index = await lookup<IndexMesh<"shards">>(name!);
    index.sleep.call(3_600_000).catch(() => {});
    await index.square.call(1);
  },
};

console.log(JSON.stringify({ pid: process.pid }));
for await (const line of createInterface({ input: process.stdin })) {
  const [order, ...args] = JSON.parse(line) as [string, ...string[]];
  try {
    console.log(JSON.stringify({ result: (await orders[order]!(...args)) ?? null }));
  } catch (error) {
    console.log(JSON.stringify({ error: `${(error as Error).name}: ${(error as Error).message}` }));
  }
}
