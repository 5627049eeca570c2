/** Bugs that the simulator has found, each with the smallest program that shows it. */
import { expect, test } from "vitest";
import { attachHosts, onUnhandledFault, thisHost } from "../../runtime/index.js";
import { currentRuntime } from "../../runtime/proc/process/current-runtime.js";
import { range } from "../../runtime/shape/index.js";
import { type SimulateOptions, type Simulation, simulate } from "../../runtime/testing/index.js";
import { Counter, type CounterMesh } from "../actor/counter.js";
import { Ledger, type LedgerMesh } from "./ledger.js";
import { openBook } from "./message-book.js";

/** Casts to more than one actor use trees. */
const trees: SimulateOptions = { limits: { treeAbove: 1, treeFanout: 2, creditMessages: 16 } };

function counters(count: number): CounterMesh<"gpus"> {
  const procs = thisHost().spawnProcs({ gpus: count });
  return procs.spawn("counters", Counter as never, ...([0] as never)) as unknown as CounterMesh<"gpus">;
}

/** Rejects if a promise takes longer than one minute of virtual time. */
async function soon<T>(simulation: Simulation, promise: PromiseLike<T>): Promise<T> {
  const late = simulation.sleep(60_000).then(() => {
    throw new Error("it has never ended");
  });
  return await Promise.race([promise, late]);
}

test("cancelled casts give their credit back, also casts that were waiting for credit", async () => {
  const { value } = await simulate(async (simulation) => {
    const mesh = counters(3);
    await mesh.value.call();
    for (let i = 0; i < 100; i++) {
      const call = mesh.sleep.callSettled(50);
      call.then(undefined, () => {});
      setTimeout(() => call.cancel(), 5);
      if (i % 10 === 9) await simulation.sleep(20);
    }
    return [...(await soon(simulation, mesh.value.call())).values()];
  }, trees);
  expect(value).toEqual([0, 0, 0]);
});

test("trees are closed when processes are told to stop, and not rebuilt after each exit", async () => {
  const { value } = await simulate(async (simulation) => {
    const { casts } = currentRuntime().mainProc.proc;
    const procs = thisHost().spawnProcs({ gpus: 8 });
    const mesh = procs.spawn("counters", Counter as never, ...([7] as never)) as unknown as CounterMesh<"gpus">;
    await mesh.value.call();
    const planted = casts.nextTreeNumber();
    const asked = mesh.sleep.call(50);
    await simulation.sleep(10);
    // Casts in progress are still answered.
    const stopped = procs.stop({ drain: 1000 });
    const answers = [...(await soon(simulation, asked)).values()];
    const left = casts.senders.size;
    await soon(simulation, stopped);
    return { answers, left, planted: casts.nextTreeNumber() - planted - 1 };
  }, trees);
  expect(value).toEqual({ answers: Array(8).fill(50), left: 0, planted: 0 });
});

test("casts on many trees do not exhaust the credit together", async () => {
  const { value } = await simulate(async (simulation) => {
    const mesh = counters(9);
    for (let low = 0; low < 8; low++) {
      const two = mesh.slice({ gpus: range(low, low + 2) });
      for (let i = 0; i < 3; i++) two.increment.broadcast(1);
    }
    return [...(await soon(simulation, mesh.value.call())).values()];
  }, trees);
  expect(value).toEqual([3, 6, 6, 6, 6, 6, 6, 6, 3]);
});

test("a lost host is also lost for actors on other hosts, whichever side has opened the link", async () => {
  const { value } = await simulate(async (simulation) => {
    const book = openBook(simulation);
    onUnhandledFault(() => {});
    for (const host of ["n0", "n1"]) simulation.startHost(host);
    const procs = attachHosts(["tcp://n0", "tcp://n1"]).spawnProcs();
    const ledgers = procs.spawn("ledgers", Ledger) as unknown as LedgerMesh<"gpus">;
    const at = (rank: number) => ledgers.slice({ hosts: rank } as never) as unknown as LedgerMesh<never>;
    await ledgers.meet.call(ledgers.flatten("gpus") as never, "ledgers");
    await at(0).gossip.callOne(1, 4);
    simulation.crashHost("n0");
    const { now } = simulation;
    await soon(simulation, at(1).gossip.callOne(0, 1));
    return { took: simulation.now - now, violations: book.violations };
  });
  expect(value.violations).toEqual([]);
  expect(value.took).toBeGreaterThan(2000);
  expect(value.took).toBeLessThan(5000);
});

test("each process is told once that an actor has moved, also beside inline procs", async () => {
  const run = await simulate(async (simulation) => {
    onUnhandledFault(() => {});
    const inline = thisHost().spawnProcs({ extras: 3 }, { name: "extras", isolation: "inline" });
    await (inline.spawn("others", Counter as never, ...([0] as never)) as unknown as CounterMesh).value.call();
    const procs = thisHost().spawnProcs({ gpus: 2 });
    const mesh = procs.spawn("counters", Counter as never, ...([0] as never)) as unknown as CounterMesh<"gpus">;
    await mesh.value.call();
    await procs.slice({ gpus: 0 }).replace({ drain: 100 });
    await simulation.sleep(1000);
    return [...(await mesh.value.call()).values()];
  });
  expect(run.value).toEqual([0, 0]);
  expect(run.arrivals).toBeLessThan(200);
});

test("calls of stopped actors that their processes have forgotten fail", async () => {
  const scenario = async (simulation: Simulation) => {
    openBook(simulation);
    onUnhandledFault(() => {});
    const procs = thisHost().spawnProcs({ gpus: 3 });
    const spawn = (name: string) => procs.spawn(name, Ledger) as unknown as LedgerMesh<"gpus">;
    const [callers, called] = [spawn("callers"), spawn("called")];
    await Promise.all([callers.ready, called.ready]);
    // Until the process answers, the mesh exists for its owner.
    simulation.pause(simulation.processes.find(({ name }) => name.startsWith("gpus=2@"))!, 5000);
    void called.stop({ drain: 1 });
    await simulation.sleep(100);
    const first = called.slice({ gpus: 0 }) as unknown as LedgerMesh;
    await soon(simulation, callers.slice({ gpus: 1 }).visit.callOne(first, 3));
    return simulation.now;
  };
  const { value } = await simulate(scenario, { limits: { endedActors: 0 } });
  expect(value).toBeLessThan(5000);
});
