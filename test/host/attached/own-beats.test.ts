/** Tests of the beats that a read-only driver sends itself, with a clock of the test. */
import { expect, test } from "vitest";
import { OwnBeats } from "../../../runtime/host/attached/own-beats.js";
import { ManualClock } from "../../link/resumable/cut-world.js";

/** Returns a host that answers as long as it is alive, and what has happened to it. */
function beaten(clock: ManualClock) {
  const seen = { beats: [] as number[], lost: [] as string[], alive: true };
  const host = {
    beat: async () => {
      seen.beats.push(clock.now());
      return seen.alive;
    },
    markLost: (reason: string) => void seen.lost.push(reason),
  };
  return { seen, host };
}

/** Lets time pass in small steps, so that each beat is answered in its time. */
async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    // The answer to a beat comes in a later turn.
    await new Promise((resolve) => setImmediate(resolve));
    clock.pass(50);
  }
}

test("a host is asked four times in the shorter of both limits, and is lost when it has been silent for too long", async () => {
  const clock = new ManualClock();
  const { seen, host } = beaten(clock);
  new OwnBeats(clock, host, { silence: 2000, keepAlive: 800 });
  await pass(clock, 1000);
  const first = seen.beats[0]!;
  expect(seen.beats.map((at) => at - first)).toEqual([0, 200, 400, 600, 800, 1000]);
  seen.alive = false;
  await pass(clock, 1950);
  expect(seen.lost).toEqual([]);
  await pass(clock, 250);
  expect(seen.lost).toEqual(["it has not answered for 2000 ms"]);
  const count = seen.beats.length;
  await pass(clock, 2000);
  expect(seen.beats.length).toBe(count);
});

test("a host that answers again in time is not lost, and one that was left is not asked any more", async () => {
  const clock = new ManualClock();
  const { seen, host } = beaten(clock);
  const beats = new OwnBeats(clock, host, { silence: 1000, keepAlive: 10_000 });
  seen.alive = false;
  await pass(clock, 900);
  seen.alive = true;
  await pass(clock, 5000);
  expect(seen.lost).toEqual([]);
  beats.stop();
  const count = seen.beats.length;
  await pass(clock, 2000);
  expect(seen.beats.length).toBe(count);
});
