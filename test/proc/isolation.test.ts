/** One suite of tests for all isolations, with a list of the abilities that threads and inline procs lack. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ActorError,
  type Isolation,
  type ProcMesh,
  range,
  type SpawnProcsOptions,
  SupervisionError,
  thisHost,
  thisProc,
} from "viceroy";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Crew, loadCrew, moduleOf } from "./crew.js";
import { collectUnhandledFaults } from "./unhandled-faults.js";
import { limitUnderLoad, until } from "./until.js";

/** The abilities that a thread and an inline proc lack. */
const missing: Readonly<Record<Isolation, readonly string[]>> = {
  process: [],
  thread: ["be bound to processors", "have options of Node.js of its own", "be killed by a signal"],
  inline: [
    "be bound to processors",
    "have options of Node.js of its own",
    "be killed by a signal",
    "have an environment of its own",
    "have its output forwarded",
    "exit without the program",
    "spin without the program",
  ],
};

let crew: Crew;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

describe.each(["process", "thread", "inline"] as const)("with isolation %s", (isolation) => {
  const can = (what: string) => test.skipIf(missing[isolation].includes(what));
  const meshes: ProcMesh[] = [];
  function spawnProcs<D extends string>(extent: { readonly [K in D]: number }, options: SpawnProcsOptions<D> = {}) {
    const procs = thisHost().spawnProcs(extent, { isolation, ...options });
    meshes.push(procs as unknown as ProcMesh);
    return procs;
  }
  afterEach(async () => {
    await Promise.all(meshes.splice(0).map((procs) => procs.stop({ drain: 0 })));
  });

  test("calls before the processes are ready are answered in order", async () => {
    const workers = spawnProcs({ gpus: 3 }).spawn("workers", crew.SteelWorker);
    const [first, second] = [workers.echo.call("first"), workers.echo.call("second")];
    expect([...(await second).values()]).toEqual(["second", "second", "second"]);
    expect(first.settled).toBe(true);
    await workers.ready;
  });

  test("actors know their rank and position, also in slices", async () => {
    const procs = spawnProcs({ hosts: 2, gpus: 2 });
    const workers = procs.slice({ hosts: 1 }).spawn("workers", crew.SteelWorker);
    expect(workers.extent).toEqual({ gpus: 2 });
    const places = [...(await workers.slice({ gpus: range(1, 2) }).where.call()).values()];
    expect(places).toMatchObject([{ rank: 0, point: "{'gpus': 0/1}", name: "workers", actorRank: 1 }]);
    const pids = new Set([...(await workers.where.call()).values()].map(({ pid }) => pid));
    expect(pids.size).toBe(isolation === "process" ? 2 : 1);
    expect(places[0]!.mainThread).toBe(isolation !== "thread");
  });

  test("sent values are copies, which the sender may change", async () => {
    const worker = spawnProcs({}).spawn("worker", crew.SteelWorker);
    const bytes = new Uint8Array([1, 2, 3]);
    await worker.keep.callOne(bytes);
    bytes.fill(100);
    expect(await worker.keep.callOne(bytes)).toBe(6);
  });

  test("the bootstrap module runs first, and its default export gets the position", async () => {
    const procs = spawnProcs({ gpus: 2 }, { bootstrap: moduleOf("bootstrap.js") });
    const said = [...(await procs.spawn("workers", crew.SteelWorker).bootstrapped.call()).values()];
    if (isolation === "inline") expect(said.every((text) => text.startsWith("prepared {"))).toBe(true);
    else expect(said).toEqual(["prepared {'gpus': 0/2}", "prepared {'gpus': 1/2}"]);
    await procs.ready;
  });

  test("a failing bootstrap module is a failure of its process", async () => {
    const procs = spawnProcs({ gpus: 1 }, { name: "lazy", bootstrap: moduleOf("bootstrap-fails.js") });
    const workers = procs.spawn("workers", crew.SteelWorker);
    await expect(procs.ready).rejects.toThrow('mesh "lazy" is not ready: rank 0: not in the mood');
    await expect(workers.echo.call("x")).rejects.toThrow(SupervisionError);
    await until(() => faults.length > 0);
    expect(faults).toMatchObject([{ mesh: "lazy", ranks: [0], kind: "spawn" }]);
    expect(faults[0]!.report()).toContain("RangeError: not in the mood");
  });

  test("actors spawn processes, and meshes of them can be sent, also before they are ready", async () => {
    const boss = spawnProcs({}).spawn("boss", crew.SteelWorker);
    const hired = await boss.hire.callOne(2);
    expect(hired.extent).toEqual({ gpus: 2 });
    expect([...(await hired.echo.call("from the root")).values()]).toEqual(["from the root", "from the root"]);
    const fresh = spawnProcs({ gpus: 3 }).spawn("fresh", crew.SteelWorker);
    expect(await boss.order.callOne(fresh.slice({ gpus: range(1, 3) }), "hi")).toEqual(["hi", "hi"]);
  });

  test("actors spawn actors in their own process", async () => {
    const boss = spawnProcs({}).spawn("boss", crew.SteelWorker);
    const [neighbour, own] = [await boss.hireHere.callOne("neighbour"), await boss.where.callOne()];
    expect(await neighbour.where.callOne()).toMatchObject({ pid: own.pid, name: "neighbour" });
  });

  test("many actors live in one proc", async () => {
    const boss = spawnProcs({}).spawn("boss", crew.SteelWorker);
    expect((await boss.crowd.callOne(500))[0]).toBe(500);
    expect(await boss.roll.callOne()).toBe((500 * 499) / 2);
  });

  test("a constructor or init that throws rejects ready and calls, and is reported to the owner", async () => {
    const procs = spawnProcs({ gpus: 2 });
    for (const [mode, kind, text] of [
      ["throws", "constructor", "no such mode"],
      ["init throws", "init", "init refused"],
    ] as const) {
      faults.length = 0;
      const bad = procs.spawn("bad", crew.SteelWorker, mode);
      await expect(bad.ready).rejects.toThrow(`mesh "bad" is not ready: rank 0 failed: ${text}`);
      await expect(bad.slice({ gpus: 1 }).echo.callOne("x")).rejects.toThrow(
        `cannot call bad.echo on rank 0 (bad[1]): the actor bad[1] has failed: RangeError: ${text}`,
      );
      await until(() => faults.length === 2);
      expect(faults.map(({ mesh, kind }) => [mesh, kind])).toEqual([
        ["bad", kind],
        ["bad", kind],
      ]);
      expect(faults.map(({ ranks }) => ranks[0]).sort()).toEqual([0, 1]);
    }
    expect(await procs.slice({ gpus: 0 }).spawn("good", crew.SteelWorker).echo.callOne("x")).toBe("x");
  });

  test("an exception in a call rejects the call; in a broadcast it ends the actor", async () => {
    const procs = spawnProcs({ gpus: 2 });
    const workers = procs.spawn("workers", crew.SteelWorker);
    const others = procs.spawn("others", crew.SteelWorker);
    await expect(workers.fail.call("oops")).rejects.toThrow(ActorError);
    workers.slice({ gpus: 1 }).fail.broadcast("fatal");
    await until(() => faults.length > 0);
    expect(faults).toMatchObject([{ mesh: "workers", ranks: [1], kind: "message", affected: [] }]);
    expect(faults[0]!.report()).toContain("TypeError: fatal");
    expect(faults[0]!.report()).toContain("caused by Error: the root of it");
    await expect(workers.slice({ gpus: 1 }).echo.callOne("x")).rejects.toThrow(SupervisionError);
    expect(await workers.slice({ gpus: 0 }).echo.callOne("x")).toBe("x");
    expect((await others.echo.call("x")).size).toBe(2);
  });

  test("a name can be reused when its actors have failed or were stopped", async () => {
    const procs = spawnProcs({ gpus: 1 });
    const bad = procs.spawn("name", crew.SteelWorker, "throws");
    expect(() => procs.spawn("name", crew.SteelWorker)).toThrow(
      'cannot spawn "name": mesh "procs" has actors of that name; stop them first, or take another name',
    );
    await bad.ready.catch(() => {});
    const good = procs.spawn("name", crew.SteelWorker);
    expect(() => procs.slice({ gpus: 0 }).spawn("name", crew.SteelWorker)).toThrow("of that name");
    await good.stop();
    expect(await procs.spawn("name", crew.SteelWorker).echo.call("x")).toMatchObject({ size: 1 });
  });

  test("stop handles queued messages, runs cleanup once, and ends everything", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "viceroy-cleanup-")), "log");
    const procs = spawnProcs({ gpus: 2 });
    const workers = procs.spawn("workers", crew.SteelWorker);
    await workers.cleanupInto.call(file, 5);
    const last = [workers.sleep.call(30), workers.echo.call("last")] as const;
    await Promise.all([procs.stop({ reason: "enough", drain: 60_000 }), procs.stop(), procs[Symbol.asyncDispose]()]);
    expect([...(await last[1]).values()]).toEqual(["last", "last"]);
    expect(readFileSync(file, "utf8")).toBe("workers in order\nworkers in order\n");
    expect(() => workers.echo.call("x")).toThrow('mesh "workers" was stopped: enough');
    expect(() => procs.spawn("late", crew.SteelWorker)).toThrow(
      'cannot spawn "late": mesh "procs" was stopped: enough',
    );
    expect(faults).toEqual([]);
  });

  test("procs can be stopped before they are ready", async () => {
    const procs = spawnProcs({ gpus: 2 });
    const workers = procs.spawn("workers", crew.SteelWorker);
    const call = workers.echo.call("x").then(
      () => "answered",
      () => "refused",
    );
    await procs.stop({ drain: 0 });
    expect(["answered", "refused"]).toContain(await call);
    expect(faults).toEqual([]);
  });

  test.each([
    ["a bootstrap module", { bootstrap: moduleOf("bootstrap-waits.js") }, "ok"],
    ["an init", {}, "init waits"],
  ])("actors that wait for %s are never ready when their procs are stopped", async (_what, options, mode) => {
    const procs = spawnProcs({ gpus: 2 }, options);
    const workers = procs.spawn("workers", crew.SteelWorker, mode);
    const ready = expect(workers.ready).rejects.toThrow('mesh "workers" was stopped before it was ready: enough');
    await procs.stop({ drain: 0, reason: "enough" });
    await ready;
    await expect(workers.ready).rejects.toThrow('mesh "workers" was stopped before it was ready: enough');
    expect(faults).toEqual([]);
  });

  test("invalid arguments are refused at once", () => {
    const procs = spawnProcs({ gpus: 1 });
    const spawn = procs.spawn as unknown as (...args: unknown[]) => unknown;
    const refused = (...args: unknown[]) => expect(() => spawn.apply(procs, args));
    refused("x", class {}).toThrow(
      "cannot spawn an actor: expected a class that extends a generated actor, got class ",
    );
    refused("", crew.SteelWorker).toThrow('cannot spawn an actor: expected a name, got ""');
    refused("x", crew.SteelWorker, "a", "b").toThrow('cannot spawn "x": expected 0 to 1 argument, got 2');
    refused("x", crew.SmallGrain).toThrow('cannot spawn "x": expected 1 argument, got 0');
    refused("x", crew.SmallGrain, -1).toThrow("cannot encode Grain(id): invalid uint32");
    refused("x", crew.SmallGrain, 1.5).toThrow("cannot encode Grain(id): invalid uint32");
  });

  can("have an environment of its own")(
    "the environment is inherited with changes, which may depend on the position",
    async () => {
      const env = ({ rank }: { rank: number }) => ({ CREW: `number ${rank}`, PATH: undefined });
      const workers = spawnProcs({ gpus: 2 }, { env }).spawn("workers", crew.SteelWorker);
      expect([...(await workers.env.call("CREW")).values()]).toEqual(["number 0", "number 1"]);
      expect([...(await workers.env.call("PATH")).values()]).toEqual(["unset", "unset"]);
      expect([...(await workers.env.call("NODE_ENV")).values()]).toEqual(["test", "test"]);
    },
  );

  can("have options of Node.js of its own")("Node.js gets the given options", async () => {
    const procs = spawnProcs({}, { execArgv: ["--import", "tsx", "--max-old-space-size=100"] });
    const argv = await procs.spawn("worker", crew.SteelWorker).argv.callOne();
    expect(argv).toContain("--max-old-space-size=100");
  });

  can("have its output forwarded")("the output is forwarded with its origin", async () => {
    const lines: unknown[] = [];
    const stdio: SpawnProcsOptions["stdio"] = (line, { stream, label, rank }) =>
      lines.push([line, stream, label, rank]);
    const procs = spawnProcs({ gpus: 2 }, { name: "crew", stdio });
    await procs.spawn("workers", crew.SteelWorker).slice({ gpus: 1 }).print.callOne("one\ntwo");
    await procs.stop();
    expect(lines).toEqual([
      ["one", "stdout", "crew gpus=1", 1],
      ["two", "stdout", "crew gpus=1", 1],
    ]);
  });

  can("exit without the program")(
    "a process that exits by itself fails its rank, and other ranks continue",
    async () => {
      const procs = spawnProcs({ gpus: 2 });
      const workers = procs.spawn("workers", crew.SteelWorker);
      const one = workers.slice({ gpus: 0 });
      const [exit, queued] = [one.exit.callOne(7), one.echo.callOne("too late")];
      // On a busy machine the exit status may arrive after the end of the link. The failure below contains the status in
      // any case.
      await expect(exit).rejects.toThrow(/exited with code 7|has closed its link/);
      await expect(queued).rejects.toThrow(SupervisionError);
      await until(() => faults.length > 0);
      expect(faults).toMatchObject([
        { mesh: "procs", ranks: [0], kind: "process", affected: [{ mesh: "workers", ranks: [0] }] },
      ]);
      expect(await workers.slice({ gpus: 1 }).echo.callOne("x")).toBe("x");
      await expect(workers.echo.call("x")).rejects.toThrow(SupervisionError);
    },
  );

  const left = [
    "a timer",
    "a promise",
    "a call that nobody awaits",
    "a listener",
    "a listener of its signal",
    "a getter of what it threw",
  ];
  // Vitest handles rejections in the process of these tests.
  const ours = left.filter((what) => isolation !== "inline" || !/promise|call/.test(what));
  test.each(ours)("code that an actor has left running throws (%s): only this actor fails", async (what) => {
    const procs = spawnProcs({});
    const worker = procs.spawn("worker", crew.SteelWorker);
    const neighbour = procs.spawn("neighbour", crew.SteelWorker);
    const here = await neighbour.where.callOne();
    const asked = worker.leaveRunning.with({ timeout: limitUnderLoad(500) }).callOne(what, "left behind");
    await asked.catch(() => {});
    await until(() => faults.length > 0);
    const message = what.startsWith("a getter") ? "threw an error that cannot be read" : "left behind";
    expect(faults.filter(({ mesh }) => mesh === "worker")).toMatchObject([
      { mesh: "worker", ranks: [0], kind: "message", cause: { message } },
    ]);
    await expect(worker.echo.callOne("x")).rejects.toThrow(`the actor worker[0] has failed:`);
    expect(await neighbour.where.callOne()).toEqual(here);
    expect(faults).toHaveLength(1);
  });

  test("a listener of a call signal has the context of the call", async () => {
    const worker = spawnProcs({}).spawn("worker", crew.SteelWorker);
    await worker.ready;
    const given = new AbortController();
    const call = worker.leaveRunning.with({ signal: given.signal }).callOne("a look at the context", "worker");
    call.catch(() => {});
    // The call is concurrent, so it has started when the next call is answered.
    await worker.echo.callOne("x");
    given.abort();
    await until(async () => (await worker.failures.callOne()).length > 0);
    expect(await worker.failures.callOne()).toEqual(["root called worker"]);
    expect(faults).toEqual([]);
  });

  test("a result with a `then` that throws rejects the call", async () => {
    const worker = spawnProcs({}).spawn("worker", crew.SteelWorker);
    const [error, next] = await Promise.all([
      worker.pretend.callOne("pretended").catch((error) => error),
      worker.echo.callOne("next"),
    ]);
    expect(error).toBeInstanceOf(ActorError);
    expect(error).toMatchObject({ message: "pretended", remoteName: "RangeError" });
    expect(next).toBe("next");
    expect(faults).toEqual([]);
  });

  can("exit without the program")(
    "exit code 0 during calls is a failure, reported with the trigger of the exit",
    async () => {
      const lines: string[] = [];
      const restart = { policy: "on-failure", backoff: 1 } as const;
      const procs = spawnProcs({}, { restart, stdio: (line) => void lines.push(line) });
      const worker = procs.spawn("worker", crew.SteelWorker);
      const { pid, mainThread } = await worker.where.callOne();
      const exit = worker.exit.callOne(0).catch((error) => error);
      const queued = worker.echo.callOne("too late").catch((error) => error);
      expect(await exit).toBeInstanceOf(SupervisionError);
      expect(await queued).toBeInstanceOf(SupervisionError);
      // The process is restarted, as after a failure.
      await until(async () => (await worker.where.callOne().catch(() => undefined)) !== undefined);
      expect(faults).toEqual([]);
      if (mainThread) {
        expect((await worker.where.callOne()).pid).not.toBe(pid);
        const why = /^FATAL ERROR: process\.exit\(0\) was called with (a call|calls) to worker\[0\]\.exit/;
        expect(lines.some((line) => why.test(line))).toBe(true);
        expect(lines.some((line) => /^\s+at SteelWorker\.exit /.test(line))).toBe(true);
      }
    },
  );

  can("exit without the program")("exit code 0 during a call is reported to the owner with the reason", async () => {
    const worker = spawnProcs({}, { stdio: "ignore" }).spawn("worker", crew.SteelWorker);
    await worker.ready;
    await worker.exit.callOne(0).catch(() => {});
    await until(() => faults.length > 0);
    expect(faults[0]!.cause.message).toMatch(
      /^(process|thread) \d+ ended because of "process\.exit\(0\) was called with a call to worker\[0\]\.exit not answered" and exited with code 1$/,
    );
  });

  can("exit without the program")("an error outside of all actors ends the process, and is in the report", async () => {
    const stdio = isolation === "process" ? ("prefix" as const) : ("ignore" as const);
    const worker = spawnProcs({}, { stdio }).spawn("worker", crew.SteelWorker);
    await worker.throwLater.callOne("nobody catches this");
    await until(() => faults.length > 0);
    expect(faults[0]!.report()).toContain("nobody catches this");
  });

  can("spin without the program")("an endless loop delays no other process, and can be stopped", async () => {
    const procs = spawnProcs({ gpus: 2 });
    const workers = procs.spawn("workers", crew.SteelWorker);
    await workers.ready;
    workers.slice({ gpus: 1 }).spin.broadcast();
    expect(await workers.slice({ gpus: 0 }).echo.callOne("x")).toBe("x");
    await procs.stop({ drain: 0 });
    expect(faults).toEqual([]);
  });
});

test("a class that no registry exports is refused after the modules of its schema were loaded", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 1 });
  const unlisted = procs.spawn("unlisted", crew.Unlisted, 1);
  const text = "cannot spawn Unlisted: not registered;";
  await expect(unlisted.ready).rejects.toThrow(text);
  await expect(unlisted.number.call()).rejects.toThrow(text);
  await until(() => faults.length > 0);
  expect(faults).toMatchObject([{ mesh: "unlisted", ranks: [0], kind: "spawn" }]);
  expect(() => procs.spawn("again", crew.Unlisted, 1)).toThrow(text);
});

test("options that an isolation does not support are refused", () => {
  const spawn = (isolation: Isolation, options: SpawnProcsOptions) => () =>
    thisHost().spawnProcs({ gpus: 1 }, { isolation, ...options } as SpawnProcsOptions<"gpus">);
  expect(spawn("thread", { cpus: ["0"] })).toThrow(
    'cannot spawn procs: isolation "thread" has no cpus, got an array of 1',
  );
  expect(spawn("thread", { execArgv: [] })).toThrow('isolation "thread" has no execArgv, got an array of 0');
  expect(spawn("inline", { cpus: ["0"] })).toThrow('isolation "inline" has no cpus, got an array of 1');
  expect(spawn("inline", { execArgv: [] })).toThrow('isolation "inline" has no execArgv, got an array of 0');
  expect(spawn("inline", { env: {} })).toThrow('isolation "inline" has no env, got an object');
  expect(spawn("inline", { stdio: "ignore" })).toThrow('isolation "inline" has no stdio, got "ignore"');
});

test("invalid options are refused", () => {
  const spawn = (options: unknown) => () => thisHost().spawnProcs({ gpus: 2 }, options as SpawnProcsOptions<"gpus">);
  expect(spawn({ isolation: "container" })).toThrow(
    'cannot spawn procs: expected isolation "process", "thread" or "inline", got "container"',
  );
  expect(spawn({ evn: {} })).toThrow(
    "cannot spawn procs: expected one of the options name, isolation, cpus, stdio, inspect, restart, spares, registry, bootstrap, env, " +
      'execArgv, got "evn"',
  );
  expect(spawn(null)).toThrow("cannot spawn procs: expected options like { name }, got null");
  expect(spawn({ restart: { policy: "always", maxRestart: 3 } })).toThrow(
    'cannot spawn procs: invalid restart: expected one of the options policy, maxRestarts, within, backoff, from, every, store, got "maxRestart"',
  );
  for (const [extent, got] of [
    [3, "3"],
    [null, "null"],
    [[], "an array"],
  ] as const) {
    expect(() => thisHost().spawnProcs(extent as never)).toThrow(
      `cannot make a mesh: expected an extent like { gpus: 4 }, got ${got}`,
    );
  }
  expect(spawn({ name: "" })).toThrow('cannot spawn procs: expected a name, got ""');
  expect(spawn({ cpus: ["0"] })).toThrow("cannot spawn procs: expected cpus for each of 2 processes, got 1 entries");
  expect(spawn({ cpus: ["0", "a"] })).toThrow("cannot bind a process to processors: expected a list");
  expect(spawn({ bootstrap: "./setup.js" })).toThrow(
    'cannot spawn procs: expected a URL or an absolute path as bootstrap, got "./setup.js"',
  );
  expect(spawn({ stdio: "pipe" })).toThrow(
    'cannot spawn procs: expected stdio "prefix", "inherit", "ignore" or a function, got "pipe"',
  );
});

test("actors can be spawned in the own process; neither this process nor a slice can be stopped", async () => {
  const grains = thisProc().spawn("grain", crew.SmallGrain, 7);
  expect(await grains.number.callOne()).toBe(7);
  expect(() => thisProc().stop()).toThrow("cannot stop the own process: it was not spawned from here");
  await grains.stop();
  const procs = thisHost().spawnProcs({ gpus: 2 }, { isolation: "inline" });
  expect(() => procs.slice({ gpus: 0 }).stop()).toThrow('cannot stop a slice of mesh "procs": stop the whole mesh');
  expect(() => procs.stop({ drain: -1 })).toThrow(
    'cannot stop mesh "procs": expected drain in milliseconds, at least 0, got -1',
  );
  await procs.stop();
});
