/** Tests of trees over real processes, one of which is killed while it forwards casts. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { range, thisHost } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "../proc/crew.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { until } from "../proc/until.js";

const size = 66;
let crew: Crew;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

test("casts reach all 66 processes, and if one process is killed, only its rank fails", async () => {
  await using procs = thisHost().spawnProcs({ gpus: size });
  const workers = procs.spawn("workers", crew.SteelWorker);
  await workers.ready;
  const pids = [...(await workers.where.call()).values()].map(({ pid }) => pid);
  expect(new Set(pids).size).toBe(size);
  const slept = workers.sleep.callSettled(300);
  const echoed = workers.echo.callSettled("behind it");
  process.kill(pids[0]!, "SIGKILL");
  const ends = [...(await slept).values()];
  expect(ends.map(({ status }) => status)).toEqual([
    "rejected",
    ...Array.from({ length: size - 1 }, () => "fulfilled"),
  ]);
  expect([...(await echoed).values()].filter(({ status }) => status === "fulfilled")).toHaveLength(size - 1);
  // The exit status of the process may be known later than the end of its link.
  await until(() => faults.length > 0);
  await expect(workers.echo.call("x")).rejects.toThrow(
    `cannot call workers.echo on rank 0: process ${pids[0]} was killed by SIGKILL`,
  );
});

test("a mesh that was resized casts by trees to its living ranks, and a killed process inside of a tree fails only its rank", async () => {
  await using procs = thisHost().spawnProcs({ gpus: size - 1 });
  const workers = procs.spawn("workers", crew.SteelWorker);
  const more = procs.resize({ gpus: size + 2 });
  const all = more.resizeActors(workers);
  // Another process casts to ranks that have joined, too.
  const caller = all.slice({ gpus: size + 1 });
  const others = all.slice({ gpus: range(0, size + 1) });
  for (const text of ["first", "second"]) {
    expect([...(await all.echo.call(text)).values()]).toEqual(Array.from({ length: size + 2 }, () => text));
    expect(await caller.order.callOne(others as never, text)).toEqual(Array.from({ length: size + 1 }, () => text));
  }
  const fewer = more.resize({ gpus: size });
  const kept = fewer.resizeActors(all);
  await fewer.ready;
  const places = [...(await kept.where.call()).values()];
  const slept = all.sleep.callSettled(300);
  process.kill(places[0]!.pid, "SIGKILL");
  const ends = [...(await slept).values()].map((end) =>
    end.status === "fulfilled" ? end.value : String(end.reason).includes("it has left the mesh") ? "left" : "lost",
  );
  expect(ends).toEqual(["lost", ...Array.from({ length: size - 1 }, () => 300), "left", "left"]);
  await until(() => faults.some(({ cause }) => cause.message.includes(`process ${places[0]!.pid} `)));
  const again = fewer.resize({ gpus: size + 1 }).resizeActors(all);
  const echoed = [...(await again.echo.callSettled("again")).values()].map(({ status }) => status);
  expect(echoed).toEqual(["rejected", ...Array.from({ length: size }, () => "fulfilled")]);
});

test("a broadcast that was sent before the mesh is stopped is handled by all actors", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "viceroy-cast-")), "cleaned");
  await using procs = thisHost().spawnProcs({ gpus: size }, { isolation: "inline" });
  const workers = procs.spawn("workers", crew.SteelWorker);
  workers.cleanupInto.broadcast(file, 0);
  await workers.stop({ drain: 60_000 });
  expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(size);
});
