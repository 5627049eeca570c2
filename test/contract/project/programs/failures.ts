/** Failures as contract.md promises them, with real processes. */
import { Channel, codec, type MeshFailure, onUnhandledFault, SupervisionError, thisHost } from "viceroy";
import "../generated/registry.js";
import { RealBoss } from "../src/boss.js";
import { MemoryCounter } from "../src/memory-counter.js";
import { RealProbe } from "../src/probe.js";
import { check, done, equal, rejection } from "./check.js";

const faults: MeshFailure[] = [];
onUnhandledFault((failure) => {
  faults.push(failure);
});
async function until(what: string, test: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 30_000;
  while (!(await test())) {
    if (Date.now() > end) throw new Error(`never came true: ${what}`);
    await new Promise((r) => setTimeout(r, 10));
  }
}
const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

await check("a killed process fails its rank, slices without it go on, pending calls reject at once", async () => {
  const procs = thisHost().spawnProcs({ gpus: 3 });
  const probes = procs.spawn("probes", RealProbe);
  const pids = [...(await probes.pid.call()).values()];
  const pending = probes.slice({ gpus: 1 }).sleep.callOne(60_000);
  const all = probes.sleep.call(60_000);
  process.kill(pids[1]!, "SIGKILL");
  equal((await rejection(pending)) instanceof SupervisionError, true);
  equal((await rejection(all)) instanceof SupervisionError, true);
  equal((await rejection(probes.echo.call("x"))) instanceof SupervisionError, true);
  await until("the root was told", () => faults.length > 0);
  equal(faults[0]!.ranks, [1]);
  equal(/SIGKILL/.test(faults[0]!.report()), true);
  equal(faults.length, 1);
  equal(await procs.slice({ gpus: 0 }).spawn("other", MemoryCounter, 1).value.callOne(), 1);
  await procs.stop();
  await until("all processes are gone", () => pids.every((p) => !alive(p)));
  faults.length = 0;
});
await check("an exception in a broadcast fails the actor, not the process", async () => {
  const procs = thisHost().spawnProcs({ gpus: 2 });
  const probes = procs.spawn("probes", RealProbe);
  const others = procs.spawn("others", MemoryCounter, 5);
  await probes.ready;
  probes.slice({ gpus: 1 }).fail.broadcast("fatal");
  await until("the root was told", () => faults.length > 0);
  equal(faults[0]!.ranks, [1]);
  equal(/fatal/.test(faults[0]!.report()), true);
  equal((await rejection(probes.slice({ gpus: 1 }).echo.callOne("x"))) instanceof SupervisionError, true);
  equal(await probes.slice({ gpus: 0 }).echo.callOne("x"), "x");
  equal([...(await others.value.call()).values()], [5, 5]);
  await procs.stop();
  faults.length = 0;
});
await check("a constructor that throws fails the mesh: ready rejects, calls reject, the owner is told", async () => {
  const procs = thisHost().spawnProcs({ gpus: 1 });
  const bad = procs.spawn("bad", RealProbe, "throw");
  equal(/no such mode/.test((await rejection(bad.ready)).message), true);
  equal((await rejection(bad.echo.call("x"))) instanceof SupervisionError, true);
  const worse = procs.spawn("worse", RealProbe, "init-throws");
  equal(/init refused/.test((await rejection(worse.ready)).message), true);
  await until("the root was told of both", () => faults.length === 2);
  await procs.stop();
  faults.length = 0;
});
await check("supervise: handled stays with the owner; other workers go on", async () => {
  const procs = thisHost().spawnProcs({ hosts: 1 });
  const boss = procs.spawn("boss", RealBoss, "handled").slice({ hosts: 0 });
  const pids = await boss.hire.callOne(3);
  await boss.crash.callOne(1);
  await until("supervised", async () => (await boss.failures.callOne()).length > 0);
  equal((await boss.failures.callOne()).length, 1);
  equal(await boss.order.callOne("hi"), ["hi", "SupervisionError", "hi"]);
  equal(faults.length, 0);
  await procs.stop();
  await until("grandchildren are gone", () => pids.every((p) => !alive(p)));
});
await check("supervise runs while the owner's handler awaits", async () => {
  const procs = thisHost().spawnProcs({ hosts: 1 });
  const boss = procs.spawn("boss", RealBoss, "handled").slice({ hosts: 0 });
  await boss.hire.callOne(2);
  boss.failWorker.broadcast(0);
  equal((await boss.untilTold.callOne(1)).length, 1);
  await procs.stop();
});
for (const answer of ["unhandled", "throw"]) {
  await check(`supervise: ${answer} fails the owner too, with the chain of causes`, async () => {
    const procs = thisHost().spawnProcs({ hosts: 1 });
    const boss = procs.spawn("boss", RealBoss, answer).slice({ hosts: 0 });
    const pids = await boss.hire.callOne(2);
    await boss.failWorker.callOne(1);
    await until("the root was told", () => faults.length > 0);
    equal(/worker gave up/.test(faults[0]!.report()), true);
    if (answer === "throw") equal(/the boss is overwhelmed/.test(faults[0]!.report()), true);
    equal((await rejection(boss.failures.callOne())) instanceof SupervisionError, true);
    await until("what the owner owned is gone", () => pids.every((p) => !alive(p)));
    await procs.stop();
    faults.length = 0;
  });
}
await check("a receiver whose only sender died rejects instead of waiting for ever", async () => {
  const procs = thisHost().spawnProcs({ gpus: 1 });
  const probe = procs.spawn("probe", RealProbe).slice({ gpus: 0 });
  const [port, receiver] = Channel.open(codec.int32);
  await probe.feed.callOne(port, 3);
  equal([await receiver.recv(), await receiver.recv(), await receiver.recv()], [0, 1, 2]);
  const waiting = receiver.recv();
  process.kill(await probe.pid.callOne(), "SIGKILL");
  await rejection(waiting);
  await until("the root was told", () => faults.length > 0);
  await procs.stop();
  faults.length = 0;
});
await check("a process that exits by itself fails its rank with the exit code", async () => {
  const procs = thisHost().spawnProcs({ gpus: 1 });
  const probe = procs.spawn("probe", RealProbe).slice({ gpus: 0 });
  equal((await rejection(probe.exit.callOne(3))) instanceof SupervisionError, true);
  await until("the root was told", () => faults.length > 0);
  if (!/code 3\b/.test(faults[0]!.report())) throw new Error(faults.map((f) => f.report()).join("\n"));
  await procs.stop();
});
done();
