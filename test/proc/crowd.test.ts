/** Tests of many small actors in one process. The memory of an actor is printed and not asserted. */
import { thisHost, thisProc } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "./crew.js";

let crew: Crew;
beforeAll(async () => {
  crew = await loadCrew();
});

const many = 100_000;

test("100,000 actors live in one process, and each answers", async () => {
  await using procs = thisHost().spawnProcs({}, { execArgv: ["--import", "tsx", "--expose-gc"] });
  const boss = procs.spawn("boss", crew.SteelWorker);
  const [crowd, bytes] = await boss.crowd.callOne(many);
  expect(crowd).toBe(many);
  console.log(`${many} actors in one process: ${Math.round(bytes! / many)} bytes of heap each`);
  expect(await boss.roll.callOne()).toBe((many * (many - 1)) / 2);
});

test("thousands of actors live in a process on which another one spawns them", async () => {
  await using procs = thisHost().spawnProcs({});
  const grains = Array.from({ length: 2000 }, (_, i) => procs.spawn(`grain-${i}`, crew.SmallGrain, i));
  const numbers = await Promise.all(grains.map((grain) => grain.number.callOne()));
  expect(numbers.reduce((a, b) => a + b, 0)).toBe((2000 * 1999) / 2);
});

test("an ended actor leaves no memory behind", async () => {
  for (let i = 0; i < 100; i++) {
    const grain = thisProc().spawn("grain", crew.SmallGrain, i);
    expect(await grain.number.callOne()).toBe(i);
    await grain.stop();
  }
});
