/**
 * Tests of processes that die: each death is one failure, reported with its cause, and no call waits for a dead
 * process.
 */
import { SupervisionError, thisHost } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "./crew.js";
import { collectUnhandledFaults } from "./unhandled-faults.js";
import { gone, until } from "./until.js";

let crew: Crew;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

test("SIGKILL: pending and later calls of every kind end, and other processes are not affected", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 3 });
  const workers = procs.spawn("workers", crew.SteelWorker);
  const others = procs.spawn("others", crew.SteelWorker);
  const pids = [...(await workers.where.call()).values()].map(({ pid }) => pid);
  const doomed = workers.slice({ gpus: 1 });
  const pending = [
    doomed.sleep.callOne(60_000),
    doomed.echo.callOne("queued behind it"),
    workers.echo.call("to all"),
    others.slice({ gpus: 1 }).sleep.callOne(60_000),
    doomed.sleep.choose(60_000),
    (async () => {
      for await (const _ of doomed.echo.stream("never")) break;
    })(),
  ];
  const settled = workers.sleep.callSettled(50);
  process.kill(pids[1]!, "SIGKILL");
  const reasons = await Promise.all(pending.map((call) => Promise.resolve(call).catch((error) => error)));
  for (const reason of reasons) expect(reason).toBeInstanceOf(SupervisionError);
  // Calls wait 250 ms for the exit status. On an overloaded machine it may arrive later, and is then in the fault below.
  const known = `process ${pids[1]} was killed by SIGKILL|its process has closed its link`;
  expect(reasons[0].message).toMatch(
    new RegExp(`^cannot call workers.sleep on rank 0 \\(workers\\[1\\]\\): (${known})$`),
  );
  expect([...(await settled).values()].map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  await until(() => faults.length > 0);
  expect(faults).toMatchObject([
    {
      mesh: "procs",
      ranks: [1],
      kind: "process",
      affected: [
        { mesh: "workers", ranks: [1] },
        { mesh: "others", ranks: [1] },
      ],
    },
  ]);
  expect(faults[0]!.cause.message).toBe(`process ${pids[1]} was killed by SIGKILL`);
  await expect(workers.echo.call("x")).rejects.toThrow(SupervisionError);
  await expect(doomed.echo.callOne("x")).rejects.toThrow("was killed by SIGKILL");
  expect(await workers.slice({ gpus: 2 }).echo.callOne("x")).toBe("x");
  expect(await procs.slice({ gpus: 0 }).spawn("more", crew.SteelWorker).echo.callOne("x")).toBe("x");
  const none = procs.slice({ gpus: 1 }).spawn("on the dead", crew.SteelWorker);
  await expect(none.echo.callOne("x")).rejects.toThrow(SupervisionError);
});

test("a process that runs out of memory is reported with this cause", async () => {
  await using procs = thisHost().spawnProcs(
    {},
    { execArgv: ["--import", "tsx", "--max-old-space-size=64"], stdio: () => {} },
  );
  const worker = procs.spawn("worker", crew.SteelWorker);
  await expect(worker.exhaustMemory.callOne()).rejects.toThrow(
    /ended because of "Reached heap limit.*JavaScript heap out of memory"/,
  );
  await until(() => faults.length > 0);
  expect(faults[0]!.report()).toContain("was killed by SIGABRT");
});

test("a stopped or busy process counts as alive: calls wait, and the procs can be stopped", async () => {
  const procs = thisHost().spawnProcs({ gpus: 2 });
  const workers = procs.spawn("workers", crew.SteelWorker);
  const pids = [...(await workers.where.call()).values()].map(({ pid }) => pid);
  process.kill(pids[0]!, "SIGSTOP");
  const call = workers.slice({ gpus: 0 }).echo.callOne("patience");
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect([call.settled, faults.length]).toEqual([false, 0]);
  process.kill(pids[0]!, "SIGCONT");
  expect(await call).toBe("patience");
  process.kill(pids[0]!, "SIGSTOP");
  const lost = workers
    .slice({ gpus: 0 })
    .echo.callOne("lost")
    .catch((error) => error);
  await procs.stop({ drain: 0 });
  expect(await lost).toBeInstanceOf(SupervisionError);
  expect(pids.every(gone)).toBe(true);
  expect(faults).toEqual([]);
});

test("the report contains the exit code and the last lines of standard error", async () => {
  await using procs = thisHost().spawnProcs({}, { stdio: () => {}, name: "talkers" });
  const worker = procs.spawn("worker", crew.SteelWorker);
  await worker.throwLater.callOne("what a pity");
  await until(() => faults.length > 0);
  const report = faults[0]!.report();
  expect(report).toMatch(/^mesh "talkers" failed at rank 0: process \d+ exited with code 1\n {2}kind: process\n/);
  expect(report).toContain("caused by its standard error:");
  expect(report).toContain("Error: what a pity");
});

test("the child processes of a process end with it", async () => {
  await using procs = thisHost().spawnProcs({});
  const boss = procs.spawn("boss", crew.SteelWorker);
  const crewPids = [...(await (await boss.hire.callOne(2)).where.call()).values()].map(({ pid }) => pid);
  const { pid } = await boss.where.callOne();
  process.kill(pid, "SIGKILL");
  await until(() => crewPids.every(gone));
  // The failure is awaited here, so that it is not reported during the next test.
  await until(() => faults.length > 0);
});

test("a process that cannot be started is reported as a failure", async () => {
  const procs = thisHost().spawnProcs({}, { env: { TOO_LONG: "x".repeat(4_000_000) } });
  const worker = procs.spawn("worker", crew.SteelWorker);
  await expect(procs.ready).rejects.toThrow("the process could not be started");
  await expect(worker.echo.callOne("x")).rejects.toThrow(SupervisionError);
  await until(() => faults.length > 0);
  expect(faults[0]).toMatchObject({ kind: "spawn" });
  expect(faults[0]!.report()).toContain("E2BIG");
  await procs.stop();
});
