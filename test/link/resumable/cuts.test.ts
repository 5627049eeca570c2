/** Tests that a link survives its connections, wherever they break: all bytes arrive, once and in order, with bounded memory. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Random } from "../../../runtime/link/clock.js";
import { cases, mayHang } from "../../profile.js";
import { CutWorld, type CutWorldOptions, Talker } from "./cut-world.js";

const forever = () => Number.MAX_SAFE_INTEGER;

/**
 * Exchanges bytes until all have arrived.
 * @returns the number of connections that this took
 */
async function talk(options: Pick<CutWorldOptions, "seed" | "budget" | "dumb">, bytes: number): Promise<number> {
  const limits = { resendBytes: 100_000, giveUpMs: 1_000_000_000, redialMs: 1, redialMaxMs: 10 };
  const world = new CutWorld({ ...options, limits });
  const near = await world.started();
  const a = new Talker(near, world.random, 1);
  const far = await world.met();
  a.say(world.random, bytes);
  const b = new Talker(far, world.random, bytes);
  let most = 0;
  await world.run(() => {
    most = Math.max(most, near.unconfirmedBytes, far.unconfirmedBytes);
    const heard = a.bytesHeard >= b.sent.length && b.bytesHeard >= a.sent.length;
    if (heard && far.unconfirmedBytes === 0) return near.unconfirmedBytes === 0;
    // A dialler without unacknowledged bytes does not notice that a connection has gone silent, so it sends one more
    // byte here. Links send heartbeats instead. Bytes of the other side may have arrived without an acknowledgement.
    if (near.unconfirmedBytes === 0) a.say(world.random, 1);
    return false;
  });
  expect(a.heard.equals(b.sent)).toBe(true);
  expect(b.heard.equals(a.sent)).toBe(true);
  expect(most).toBeLessThanOrEqual(limits.resendBytes);
  expect([a.ends, b.ends]).toEqual([[], []]);
  // Attempts whose answer was lost have created no links.
  expect(world.accepted).toEqual([far]);
  return world.connections.length;
}

test("bytes of both sides arrive once and in order over connections that break anywhere", async () => {
  let connections = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.integer({ min: 8, max: 19 }), async (seed, size) => {
      const budget = (random: Random) => 700 + random.number() ** 2 * 2 ** size;
      connections += await talk({ seed, budget }, 2 ** size * 4);
    }),
    { ...mayHang, numRuns: cases(25) },
  );
  // Most of the connections have broken.
  expect(connections).toBeGreaterThan(cases(25) * 5);
});

test("bytes of both sides arrive once and in order over connections that go silent and are replaced", async () => {
  let connections = 0;
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.integer({ min: 8, max: 19 }), async (seed, size) => {
      const budget = (random: Random) => 700 + random.number() ** 2 * 2 ** size;
      const dumb = (random: Random) => (["no", "dialler", "both"] as const)[Math.floor(random.number() * 3)]!;
      connections += await talk({ seed, budget, dumb }, 2 ** size * 4);
    }),
    { ...mayHang, numRuns: cases(25) },
  );
  expect(connections).toBeGreaterThan(cases(25) * 5);
});

test("bytes that still arrive over a half-dead connection during a redial are not delivered twice", async () => {
  let budget = 200;
  const world = new CutWorld({ seed: 7, budget: () => budget, dumb: () => "dialler" });
  const near = await world.started();
  const far = await world.met();
  const a = new Talker(near, world.random, 0);
  const b = new Talker(far, world.random, 0);
  budget = Number.MAX_SAFE_INTEGER;
  a.say(world.random, 1000);
  let said = 0;
  await world.run(() => {
    // The check runs in every turn of the event loop, including those of the handshake.
    if (b.bytesHeard < 1000 || said < 100) far.write([Buffer.from([said++ & 0xff])], () => {});
    return b.bytesHeard === 1000 && a.bytesHeard === said;
  });
  expect(world.connections.length).toBe(2);
  expect(world.clock.now()).toBeGreaterThanOrEqual(5000);
  expect(a.heard.equals(Buffer.alloc(said).map((_, i) => i))).toBe(true);
  expect(b.heard.equals(a.sent)).toBe(true);
  await world.run(() => far.unconfirmedBytes === 0);
});

test("a close reaches both sides after all bytes, over connections that break", async () => {
  const world = new CutWorld({ seed: 1, budget: () => 1000, limits: { redialMs: 1, redialMaxMs: 10 } });
  const near = await world.started();
  const far = await world.met();
  const a = new Talker(near, world.random, 50_000);
  const b = new Talker(far, world.random, 0);
  near.close();
  await world.run(() => a.ends.length > 0 && b.ends.length > 0);
  expect([a.ends, b.ends]).toEqual([[undefined], [undefined]]);
  expect(b.heard.equals(a.sent)).toBe(true);
  expect(world.acceptor.linkCount).toBe(0);
});

test("both sides give up a link without a connection after the time limit, and their errors say why", async () => {
  const world = new CutWorld({ seed: 2, budget: forever, limits: { giveUpMs: 5000 } });
  const near = await world.started();
  const far = await world.met();
  const a = new Talker(near, world.random, 10);
  const b = new Talker(far, world.random, 10);
  await world.run(() => a.bytesHeard === 10 && b.bytesHeard === 10);
  world.unreachable = true;
  const from = world.clock.now();
  world.connections[0]!.destroy(new Error("cable pulled"));
  await world.run(() => a.ends.length > 0 && b.ends.length > 0);
  expect(world.clock.now() - from).toBe(5000);
  expect([a.ends[0]!.message, b.ends[0]!.message]).toEqual([
    "the connection to the other side was lost and not restored within 5000 ms: nobody is there",
    "the connection to process 0000000000000002 was lost and not restored within 5000 ms: the connection was reset",
  ]);
  expect(world.acceptor.linkCount).toBe(0);
  await world.run(() => world.clock.waiting === 0);
});

test("writes without a connection wait, and arrive in order when the connection is restored", async () => {
  const world = new CutWorld({ seed: 3, budget: forever, limits: { resendBytes: 1000, giveUpMs: 60_000 } });
  const near = await world.started();
  const far = await world.met();
  const a = new Talker(near, world.random, 0);
  const b = new Talker(far, world.random, 0);
  world.unreachable = true;
  world.connections[0]!.destroy();
  await world.run(() => !near.isConnected);
  a.say(world.random, 100_000);
  await world.run(() => world.clock.now() > 10_000);
  expect([a.written, near.unconfirmedBytes, b.bytesHeard]).toEqual([0, 0, 0]);
  world.unreachable = false;
  await world.run(() => b.bytesHeard === 100_000);
  expect(b.heard.equals(a.sent)).toBe(true);
});

test("a link that the acceptor has ended meanwhile ends when its dialler reconnects", async () => {
  const world = new CutWorld({ seed: 4, budget: forever, limits: { giveUpMs: 60_000 } });
  const near = await world.started();
  const far = await world.met();
  const a = new Talker(near, world.random, 0);
  const b = new Talker(far, world.random, 0);
  world.unreachable = true;
  world.connections[0]!.destroy();
  await world.run(() => world.clock.now() > 100);
  far.destroy(new Error("it has had enough"));
  world.unreachable = false;
  await world.run(() => a.ends.length > 0 && b.ends.length > 0);
  expect(a.ends[0]!.message).toBe(
    "the connection to the other side was lost and cannot be restored: there is no such link, or not any more",
  );
  expect(world.clock.now()).toBeLessThan(10_000);
});

test("a link that one side destroys ends on the other side with the same reason", async () => {
  const world = new CutWorld({ seed: 5, budget: forever });
  const near = await world.started();
  const far = await world.met();
  const a = new Talker(near, world.random, 0);
  const b = new Talker(far, world.random, 0);
  near.destroy(new Error("cannot read frame: unknown kind 99"));
  await world.run(() => a.ends.length > 0 && b.ends.length > 0);
  expect(a.ends[0]!.message).toBe("cannot read frame: unknown kind 99");
  expect(b.ends[0]!.message).toBe("process 0000000000000002 has ended the link: cannot read frame: unknown kind 99");
});

test("connections that break at once are restored after growing pauses", async () => {
  const world = new CutWorld({ seed: 6, budget: forever, limits: { giveUpMs: 60_000 } });
  const near = await world.started();
  const far = await world.met();
  new Talker(near, world.random, 0);
  new Talker(far, world.random, 0);
  const from = world.connections.length;
  await world.run(() => {
    if (near.isConnected) world.connections.at(-1)!.destroy();
    return world.clock.now() > 20_000;
  });
  expect(world.connections.length - from).toBeLessThan(30);
  expect(world.connections.length - from).toBeGreaterThan(10);
});
