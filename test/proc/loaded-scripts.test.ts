/** Tests that processes load code and modules of Node.js that few processes need when they are first used. */
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

test("a child process that answers calls has loaded none of the modules of Node.js that few processes use", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 1 });
  const builtins = await procs.spawn("observers", crew.StillObserver).builtins.callOne();
  // `child_process` is not in the list: a process listens 100 ms after its start, for which Node.js loads that module.
  const needless = ["crypto", "http", "perf_hooks", "tls", "worker_threads", "zlib"];
  expect(builtins.filter((name) => needless.includes(name))).toEqual([]);
  // The list would be empty if Node.js gave its entries other names.
  expect(builtins).toContain("net");
});
