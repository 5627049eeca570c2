/** Which owner is told of which failure, with real meshes: once for each rank, and one failure at a time. */
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Channel, MeshFailureCodec, SupervisionError, thisHost, thisProc } from "viceroy";
import { beforeAll, describe, expect, test } from "vitest";
import { type Crew, loadCrew } from "../proc/crew.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { gone, until } from "../proc/until.js";

let crew: Crew;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

describe.each(["process", "inline"] as const)("an owner in a proc with isolation %s", (isolation) => {
  const spawnBoss = () => {
    const procs = thisHost().spawnProcs({}, { isolation });
    return { procs, boss: procs.spawn("boss", crew.SteelWorker) };
  };

  test("is told once of each rank that fails, and no other owner is told", async () => {
    const { procs, boss } = spawnBoss();
    await using _ = procs;
    const hired = await boss.hire.callOne(3);
    await boss.crash.callOne(1);
    await until(async () => (await boss.failures.callOne()).length > 0);
    await boss.upset.callOne(2);
    await until(async () => (await boss.failures.callOne()).length > 1);
    await expect(hired.slice({ gpus: 1 }).echo.callOne("x")).rejects.toThrow(SupervisionError);
    await expect(hired.slice({ gpus: 2 }).echo.callOne("x")).rejects.toThrow(SupervisionError);
    expect(await hired.slice({ gpus: 0 }).echo.callOne("x")).toBe("x");
    expect(await boss.failures.callOne()).toEqual(["process procs 1 [crew 1]", "message crew 2 []"]);
    expect(faults).toEqual([]);
  });

  test("is told while one of its handlers awaits, and of one failure at a time", async () => {
    const { procs, boss } = spawnBoss();
    await using _ = procs;
    const hired = await boss.hire.callOne(2);
    await hired.echo.call("ready");
    await boss.slowly.callOne(30);
    await boss.upset.callOne(0);
    await boss.upset.callOne(1);
    // This handler blocks the mailbox until then, and the failures are delivered in between.
    await boss.untilTold.callOne(4);
    expect(await boss.failures.callOne()).toHaveLength(4);
    const [first, over, second, overToo] = await boss.failures.callOne();
    expect([over, overToo]).toEqual([`over ${first!.split(" ")[2]}`, `over ${second!.split(" ")[2]}`]);
  });

  test.each(["unhandled", "throw"])("fails and stops its own meshes when its answer is: %s", async (answer) => {
    const { procs, boss } = spawnBoss();
    await using _ = procs;
    const hired = await boss.hire.callOne(2);
    const pids = [...(await hired.where.call()).values()].map(({ pid }) => pid);
    const log = join(mkdtempSync(join(tmpdir(), "viceroy-owners-")), "log");
    await boss.cleanupInto.callOne(log, 0);
    await boss.decide.callOne(answer);
    await boss.upset.callOne(1);
    await until(() => faults.length > 0);
    expect(faults).toMatchObject([{ mesh: "boss", ranks: [0], kind: "supervise" }]);
    const report = faults[0]!.report();
    const text =
      answer === "throw"
        ? "supervise threw: the boss is overwhelmed"
        : 'supervise did not handle the failure of mesh "crew"';
    expect(report).toContain(text);
    expect(report).toContain('mesh "crew" failed at rank 1 (message)');
    expect(report).toContain("caused by TypeError: worker gave up");
    expect(report).toContain("caused by Error: the root of it");
    await expect(boss.echo.callOne("x")).rejects.toThrow(SupervisionError);
    await until(() => pids.every(gone));
    await until(() => existsSync(log) && readFileSync(log, "utf8") !== "");
    expect(readFileSync(log, "utf8")).toContain(answer === "throw" ? "overwhelmed" : "did not handle");
  });
});

test("an owner of actors on the processes of another owner is told once for each of its meshes", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 2 });
  (globalThis as { crewProcs?: unknown }).crewProcs = procs;
  const tenant = thisProc().spawn("tenant", crew.SteelWorker);
  const own = procs.spawn("own", crew.SteelWorker);
  const rented = [await tenant.rent.callOne("first"), await tenant.rent.callOne("second")];
  await Promise.all([own.ready, ...rented.map((mesh) => mesh.echo.call("x"))]);
  const { pid } = await own.slice({ gpus: 1 }).where.callOne();
  process.kill(pid, "SIGKILL");
  await until(async () => faults.length > 0 && (await tenant.failures.callOne()).length > 1);
  expect(await tenant.failures.callOne()).toEqual(["process first 1 []", "process second 1 []"]);
  expect(faults).toMatchObject([{ mesh: "procs", ranks: [1], affected: [{ mesh: "own", ranks: [1] }] }]);
  // The actors of the tenant stop with it, and the processes of the other owner stay.
  await tenant.stop();
  expect(() => rented[0]!.slice({ gpus: 0 }).echo.callOne("x")).toThrow(SupervisionError);
  expect(await own.slice({ gpus: 0 }).echo.callOne("x")).toBe("x");
});

test("cleanup has at most 3 seconds, and stop does not wait longer for it", async () => {
  const log = join(mkdtempSync(join(tmpdir(), "viceroy-owners-")), "log");
  const procs = thisHost().spawnProcs({}, { isolation: "thread" });
  const worker = procs.spawn("worker", crew.SteelWorker);
  await worker.cleanupInto.callOne(log, 60_000);
  await procs.stop();
  expect(existsSync(log)).toBe(false);
});

test("a failure can be sent through a port, and survives a round trip in both binary layouts", async () => {
  await using procs = thisHost().spawnProcs({}, { isolation: "inline" });
  procs.spawn("worker", crew.SteelWorker).fail.broadcast("on its way");
  await until(() => faults.length > 0);
  const [port, receiver] = Channel.open(MeshFailureCodec);
  port.send(faults[0]!);
  const received = await receiver.recv();
  expect(received).not.toBe(faults[0]);
  expect(received.report()).toBe(faults[0]!.report());
  expect(MeshFailureCodec.decode(MeshFailureCodec.encode(faults[0]!)).record).toEqual(faults[0]!.record);
  expect(MeshFailureCodec.fromProtobuf(MeshFailureCodec.toProtobuf(faults[0]!)).record).toEqual(faults[0]!.record);
});

test("stopping a mesh is not a failure", async () => {
  const procs = thisHost().spawnProcs({ gpus: 2 });
  const workers = procs.spawn("workers", crew.SteelWorker);
  await workers.ready;
  await workers.stop();
  await procs.stop();
  expect(faults).toEqual([]);
});

test("an actor that has ended cannot spawn more processes", async () => {
  await using procs = thisHost().spawnProcs({}, { isolation: "inline" });
  const boss = procs.spawn("boss", crew.SteelWorker);
  await boss.hireLate.callOne();
  boss.fail.broadcast("the end");
  await until(() => faults.length > 0);
  const { crewLate } = globalThis as unknown as { crewLate: () => string };
  expect(crewLate()).toBe("cannot spawn procs: its owner, the actor boss[0], has ended");
});
