/** Tests of concurrency limits of endpoints (`@concurrent 2`), from the schema to the process that enforces them. */
import { thisHost } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "./crew.js";

let crew: Crew;
beforeAll(async () => {
  crew = await loadCrew();
});

test.each(["process", "thread", "inline"] as const)(
  "isolation %s: two messages are handled at a time, and the others in order",
  async (isolation) => {
    await using procs = thisHost().spawnProcs({ gpus: 2 }, { isolation });
    const workers = procs.spawn("workers", crew.SteelWorker);
    // A call to all ranks and calls to one of them count together.
    const calls = [
      workers.wait.call(),
      workers.wait.call(),
      ...[1, 2, 3].map(() => workers.slice({ gpus: 0 }).wait.callOne()),
    ];
    const released: number[] = [];
    // A release may be answered, and the next one arrive, before the released handlers have ended and others have
    // started.
    while (released.reduce((sum, count) => sum + count, 0) < 5) {
      released.push(await workers.slice({ gpus: 0 }).release.callOne());
    }
    expect(released[0]).toBe(2);
    expect(Math.max(...released)).toBe(2);
    expect(await workers.slice({ gpus: 1 }).release.callOne()).toBe(2);
    await Promise.all(calls);
  },
);
