/** Tests that a process loads the code that few processes need when it is first used. */
import { thisHost } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "./crew.js";

let crew: Crew;
beforeAll(async () => {
  crew = await loadCrew();
});

test.each(["process", "thread"] as const)(
  "a %s that answers calls does not load the code for other work",
  async (isolation) => {
    await using procs = thisHost().spawnProcs({ gpus: 2 }, { isolation });
    const grains = procs.spawn("grains", crew.SmallGrain, 7);
    const observers = procs.spawn("observers", crew.StillObserver);
    const asking = observers.slice({ gpus: 0 });
    expect(await asking.scripts.callOne()).toEqual(["runtime.cjs"]);
    expect(await asking.numbersOf.callOne(grains)).toEqual([7, 7]);
    expect(await asking.scripts.callOne()).toEqual(["runtime-rest.cjs", "runtime.cjs"]);
    expect(await observers.slice({ gpus: 1 }).scripts.callOne()).toEqual(["runtime.cjs"]);
  },
);
