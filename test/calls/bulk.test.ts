/** Large and small messages between the same two processes: small ones do not wait for large ones, and order is kept. */
import { thisHost } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { type Guild, loadGuild } from "../supervise/guild.js";

let IronSmith: Guild["IronSmith"];
beforeAll(async () => {
  ({ IronSmith } = await loadGuild());
});

const MIB = 1024 * 1024;

test("calls to another actor are answered during a large transfer, in either direction", async () => {
  await using procs = thisHost().spawnProcs();
  const [busy, other] = [procs.spawn("busy", IronSmith), procs.spawn("other", IronSmith)];
  await Promise.all([busy.ready, other.ready]);
  const order: string[] = [];
  const note = (what: string) => (answer: unknown) => {
    order.push(what);
    return answer;
  };
  const up = busy.weigh.callOne(new Uint8Array(200 * MIB)).then(note("up"));
  await other.add.callOne(1).then(note("beside up"));
  await up;
  const down = busy.load.callOne(200 * MIB).then(note("down"));
  await other.add.callOne(1).then(note("beside down"));
  expect(await down).toHaveLength(200 * MIB);
  // A later message to the same actor stays behind the large one.
  const large = busy.weigh.callOne(new Uint8Array(50 * MIB)).then(note("large"));
  const small = busy.add.callOne(1).then(note("behind it"));
  await Promise.all([large, small]);
  expect(order).toEqual(["beside up", "up", "beside down", "down", "large", "behind it"]);
});

test("messages of all sizes arrive complete, and in order for each actor", async () => {
  await using procs = thisHost().spawnProcs();
  const smiths = Array.from({ length: 4 }, (_, i) => procs.spawn(`smith-${i}`, IronSmith));
  const sizes = [0, 1, 32_767, 32_768, 100_003, 262_143, 262_144, 262_145, 1_000_003, 3_000_000];
  const sent = smiths.map(() => 0);
  const calls: Promise<void>[] = [];
  for (let i = 0; i < 120; i++) {
    const which = (i * 7) % smiths.length;
    const load = new Uint8Array(sizes[(i * 13) % sizes.length]!).fill(i + 1);
    const number = sent[which]!++;
    const sum = Math.ceil(load.length / 997) * (i + 1);
    calls.push(smiths[which]!.weigh.callOne(load).then((answer) => expect(answer).toEqual([number, sum])));
  }
  await Promise.all(calls);
});

test("large messages that were sent before a stop are handled", async () => {
  await using procs = thisHost().spawnProcs();
  const smith = procs.spawn("smith", IronSmith);
  // These are as many messages as have credit; a message that waits for credit has not been sent.
  const loads = Array.from({ length: 2 }, (_, i) => smith.weigh.callOne(new Uint8Array(3 * MIB).fill(i)));
  const stopped = smith.stop({ drain: 60_000 });
  const answers = await Promise.all(loads);
  expect(answers.map(([number]) => number)).toEqual([0, 1]);
  await stopped;
});
