/**
 * Simulates the session between a driver and a host behind a gateway: all bytes arrive, once and in order, with bounded
 * memory, wherever connections break, fall silent or are replaced. The simulation must find the bugs that are planted.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Random } from "../../../runtime/link/clock.js";
import { ResendBuffer } from "../../../runtime/link/resumable/resend-buffer.js";
import { Channel } from "../../../runtime/link/tunnel/channel.js";
import { ReceiveWindow } from "../../../runtime/link/tunnel/receive-window.js";
import { cases, mayHang } from "../../profile.js";
import { call, type Replacement, replaceMethod, skipEvery } from "../../testing/plant-bug.js";
import { type CutWorldOptions, Talker } from "../resumable/cut-world.js";
import { TunnelWorld } from "./tunnel-world.js";

type Silence = NonNullable<CutWorldOptions["dumb"]>;

interface Effort {
  readonly tunnels: number;
  readonly channels: number;
  /** Simulated time in ms. */
  readonly ms: number;
}

/** Exchanges bytes until all have arrived. Returns what this took. @param breaks whether connections break */
async function talk(seed: number, size: number, dumb?: Silence, breaks = true): Promise<Effort> {
  const limits = { resendBytes: 100_000, giveUpMs: 600_000, redialMs: 1, redialMaxMs: 10 };
  const budget = (random: Random) => (breaks ? 1500 + random.number() ** 2 * 2 ** size : Number.MAX_SAFE_INTEGER / 8);
  const world = new TunnelWorld({ seed, budget, limits, ...(dumb === undefined ? {} : { dumb }) });
  const near = await world.started();
  const a = new Talker(near, world.random, 1);
  const far = await world.met();
  a.say(world.random, 2 ** size * 2);
  const b = new Talker(far, world.random, 2 ** size * 2);
  let most = 0;
  await world.run(() => {
    most = Math.max(most, near.unconfirmedBytes, far.unconfirmedBytes);
    if (a.bytesHeard > b.sent.length || b.bytesHeard > a.sent.length) throw new Error("bytes came twice");
    const heard = a.bytesHeard >= b.sent.length && b.bytesHeard >= a.sent.length;
    if (heard && far.unconfirmedBytes === 0) return near.unconfirmedBytes === 0;
    // A dialler without unacknowledged bytes does not notice that a connection has gone silent.
    if (near.unconfirmedBytes === 0) a.say(world.random, 1);
    return false;
  });
  expect(a.heard.equals(b.sent)).toBe(true);
  expect(b.heard.equals(a.sent)).toBe(true);
  expect(most).toBeLessThanOrEqual(limits.resendBytes);
  expect([a.ends, b.ends]).toEqual([[], []]);
  expect(world.accepted).toEqual([far]);
  return { tunnels: world.tunnels, channels: world.channels, ms: world.clock.now() };
}

const sizes = fc.integer({ min: 8, max: 17 });
const silent: Silence = (random) => (["no", "dialler", "both"] as const)[Math.floor(random.number() * 3)]!;

test("bytes of both sides arrive once and in order through tunnels that break anywhere", async () => {
  let tunnels = 0;
  const property = fc.asyncProperty(fc.integer(), sizes, async (seed, size) => {
    tunnels += (await talk(seed, size)).tunnels;
  });
  await fc.assert(property, { ...mayHang, numRuns: cases(20) });
  expect(tunnels).toBeGreaterThan(cases(20) * 2);
});

test("bytes of both sides arrive once and in order through tunnels that fall silent and are replaced", async () => {
  let tunnels = 0;
  const property = fc.asyncProperty(fc.integer(), sizes, async (seed, size) => {
    tunnels += (await talk(seed, size, silent)).tunnels;
  });
  await fc.assert(property, { ...mayHang, numRuns: cases(20) });
  expect(tunnels).toBeGreaterThan(cases(20) * 2);
});

test("one tunnel and one channel carry all bytes while nothing breaks, without waiting for time limits", async () => {
  const { tunnels, channels, ms } = await talk(1, 17, undefined, false);
  expect([tunnels, channels]).toEqual([1, 1]);
  expect(ms).toBeLessThan(2500);
});

const bugs: readonly (readonly [string, Replacement])[] = [
  [
    "bytes of a channel come twice",
    replaceMethod(Channel, "dataReceived", (original, every) => {
      return function (this: Channel, bytes: Uint8Array) {
        call(original, this, [bytes]);
        if (every(20)) call(original, this, [bytes]);
      } as never;
    }),
  ],
  ["bytes of a channel are lost", skipEvery(Channel, "dataReceived", 20)],
  ["credit is lost", skipEvery(Channel, "creditReceived", 5)],
  ["credit is never returned", replaceMethod(ReceiveWindow, "taken", () => (() => 0) as never)],
  [
    "a new connection continues at a wrong byte",
    replaceMethod(ResendBuffer, "rewind", (original, every) => {
      return function (this: ResendBuffer, offset: number) {
        call(original, this, [every(3) && offset < this.end ? offset + 1 : offset]);
      } as never;
    }),
  ],
];

test.each(bugs)("the simulation finds that %s", async (_, { plant }) => {
  const remove = plant();
  let found: unknown;
  try {
    for (let seed = 1; seed <= 40 && found === undefined; seed++) {
      const breaks = seed % 3 !== 0;
      const effort = talk(seed, 12 + (seed % 5), seed % 2 === 0 && breaks ? silent : undefined, breaks);
      // Links recover from lost credit by another connection, so it shows in the number of connections.
      const checked = effort.then(({ channels }) => {
        if (!breaks && channels > 1) throw new Error("the only connection was replaced");
      });
      await checked.catch((error: unknown) => {
        found = error;
      });
    }
  } finally {
    remove();
  }
  expect(found).toBeDefined();
});
