import { expect, test } from "vitest";
import { fetchBlobs, type Peer } from "../../../runtime/sync/transfer/fetch-blobs.js";
import { digestOf } from "../../../runtime/sync/tree/digest.js";
import { cases } from "../../profile.js";
import { withRandom } from "../../random.js";
import { rejection } from "../folder.js";
import { type Behaviour, SimulatedHost, SimulatedHosts, TREE } from "./hosts.js";

const blobs = Array.from({ length: 40 }, (_, i) => Buffer.alloc(1_000 + i, `blob ${i}`));
const total = blobs.reduce((sum, { length }) => sum + length, 0);

test("15 hosts get everything, each once, and the driver and every host send one copy at most", async () => {
  const simulated = new SimulatedHosts(15, blobs);
  const ranks = simulated.hosts.map((_, rank) => rank);
  const outcomes = await simulated.time.until(Promise.all(ranks.map((rank) => simulated.receive(rank))));
  for (const { bytes, skipped } of outcomes) expect([bytes, skipped]).toEqual([total, []]);
  expect(ranks.filter((rank) => !simulated.isComplete(rank))).toEqual([]);
  expect(simulated.driver.sent).toBe(total);
  const bound = 2 * Math.max(...[0, 1].map((stripe) => stripeBytes(stripe)));
  for (const { sent } of simulated.hosts) expect(sent).toBeLessThanOrEqual(bound);
});

/** Returns the bytes of the blobs in a stripe. */
function stripeBytes(stripe: number): number {
  const inStripe = blobs.filter((blob) => Number.parseInt(digestOf(blob).slice(-1), 16) % 2 === stripe);
  return inStripe.reduce((sum, { length }) => sum + length, 0);
}

test("a host fetches only what it lacks", async () => {
  const simulated = new SimulatedHosts(3, blobs);
  for (const blob of blobs.slice(0, 38)) simulated.hosts[2]!.blobs.put(digestOf(blob), blob);
  const all = Promise.all([0, 1, 2].map((rank) => simulated.receive(rank)));
  const outcomes = await simulated.time.until(all);
  expect(outcomes[2]?.bytes).toBe(blobs[38]!.length + blobs[39]!.length);
  expect(simulated.isComplete(2)).toBe(true);
});

test.each<readonly [Behaviour, string]>([
  ["dead", "host 0: the process has ended"],
  ["stalls", "host 0: it has said nothing for 5 s"],
  ["only says that it waits", "host 0: it has sent no blob for 10 s"],
  ["lies", "host 0: cannot store blob "],
])("a parent that is skipped (%s) costs its children one other source", async (behaviour, why) => {
  const simulated = new SimulatedHosts(7, blobs);
  simulated.hosts[0]!.behaviour = behaviour;
  for (const blob of blobs) simulated.hosts[0]!.blobs.put(digestOf(blob), blob);
  const outcomes = await simulated.time.until(Promise.all([1, 2, 3, 4, 5, 6].map((rank) => simulated.receive(rank))));
  for (const rank of [1, 2, 3, 4, 5, 6]) expect(simulated.isComplete(rank)).toBe(true);
  const skipped = outcomes.flatMap((outcome) => outcome.skipped);
  expect(skipped.length).toBe(2);
  for (const text of skipped) expect(text.startsWith(why)).toBe(true);
});

test("a host that has failed itself tells its children, who ask the next source at once", async () => {
  const simulated = new SimulatedHosts(3, blobs);
  simulated.hosts[0]!.arrivals.failed(TREE, "the disk is full");
  const [one] = await simulated.time.until(Promise.all([simulated.receive(1), simulated.receive(2)]));
  expect(one!.skipped).toContain(`host 0: cannot serve tree ${TREE.slice(0, 12)}: the disk is full`);
  expect(simulated.isComplete(1)).toBe(true);
  expect(simulated.time.now()).toBeLessThan(2_000);
});

test("when all sources fail, the error says why each of them did", async () => {
  const simulated = new SimulatedHosts(1, blobs);
  simulated.driver.behaviour = "stalls";
  const error = await rejection(simulated.time.until(simulated.receive(0)));
  expect(error).toMatchObject({ name: "SyncError", code: "transfer-failed" });
  expect(error.message).toMatch(
    /^cannot fetch tree 000000000000: no source has sent the last \d+ blobs; the driver: it has said nothing for 60 s$/,
  );
});

test.each([
  [
    "a blob that was not requested",
    { indexes: [7], blobs: [Buffer.from("a")] },
    "it has sent a blob that was not requested, or twice",
  ],
  [
    "a blob twice",
    { indexes: [0, 0], blobs: [Buffer.from("a"), Buffer.from("a")] },
    "it has sent a blob that was not requested, or twice",
  ],
  ["an index without a blob", { indexes: [0], blobs: [] }, "it has sent a blob that was not requested, or twice"],
  ["another size", { indexes: [0], blobs: [Buffer.from("ab")] }, "it has sent 2 bytes for a blob of 1 bytes"],
  ["less than everything", { indexes: [0], blobs: [Buffer.from("a")] }, "it ended with 1 blobs left"],
])("a source that sends %s is skipped", async (_what, batch, why) => {
  const { time } = new SimulatedHosts(0, []);
  const wanted = new Map(["a", "b"].map((text) => [digestOf(Buffer.from(text)), 1]));
  const peer: Peer = {
    isDriver: false,
    name: "host 1",
    async *serve() {
      yield batch;
    },
  };
  const host = { blobs: new SimulatedHost().blobs, clock: time, arrived: () => {} };
  const error = await rejection(time.until(fetchBlobs(host, TREE, wanted, [peer])));
  expect(error.message).toMatch(new RegExp(`; host 1: ${why}$`));
});

test("of 4,000 hosts, 5 % die meanwhile: all others get everything, and nobody sends much more than a copy", async () => {
  await withRandom(async (random) => {
    const count = cases(1_000, 4_000);
    const simulated = new SimulatedHosts(count, blobs);
    const ranks = simulated.hosts.map((_, rank) => rank);
    const dying = new Set(Array.from({ length: count / 20 }, () => random(count)));
    for (const rank of dying) {
      const behaviour = (["dead", "dead", "stalls", "lies"] as const)[random(4)]!;
      simulated.time.after(random(400), () => {
        simulated.hosts[rank]!.behaviour = behaviour;
      });
    }
    const outcomes = await simulated.time.until(Promise.allSettled(ranks.map((rank) => simulated.receive(rank))));
    const living = ranks.filter((rank) => !dying.has(rank));
    expect(living.filter((rank) => outcomes[rank]!.status === "rejected" || !simulated.isComplete(rank))).toEqual([]);
    const sent = living.map((rank) => simulated.hosts[rank]!.sent / total);
    // Orphans ask the grandparent, which then sends their half copies too.
    expect(Math.max(...sent)).toBeLessThan(5);
    expect(sent.reduce((sum, copies) => sum + copies, 0) / sent.length).toBeLessThan(1.2);
    expect(simulated.driver.sent / total).toBeLessThan(5);
    expect(simulated.time.now()).toBeLessThan(60_000);
  });
});
