/** Tests what `resize` and `resizeActors` refuse, and what stops a mesh that was resized. Inline procs are enough for it. */
import { type ProcMesh, range, thisHost, thisProc } from "viceroy";
import { beforeAll, describe, expect, test } from "vitest";
import { type Crew, loadCrew } from "../crew.js";
import { collectUnhandledFaults } from "../unhandled-faults.js";

let crew: Crew;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

const inline = { isolation: "inline" } as const;
const spawn = () => thisHost().spawnProcs({ nodes: 2, gpus: 2 }, inline);

describe("resize refuses", () => {
  test.each([
    [{ gpus: -1 }, RangeError, "expected an integer of at least 1 for gpus, got -1"],
    [{ gpus: 0 }, RangeError, "expected an integer of at least 1 for gpus, got 0; to end all ranks, stop the mesh"],
    [{ gpus: 1.5 }, RangeError, "expected an integer of at least 1 for gpus, got 1.5"],
    [{ gpus: Number.NaN }, RangeError, "expected an integer of at least 1 for gpus, got NaN"],
    [{ gpus: "4" }, TypeError, 'expected an integer of at least 1 for gpus, got "4"'],
    [{ gpus: undefined }, TypeError, "expected an integer of at least 1 for gpus, got undefined"],
    [{ gpu: 4 }, TypeError, 'expected one of the dimensions nodes, gpus, got dimension "gpu"'],
    [{ nodes: 3, gpus: 4 }, TypeError, "expected one dimension with its new size, got nodes, gpus"],
    [{}, TypeError, "expected one dimension with its new size, got none"],
    [8, TypeError, "expected dimensions, each with a size, got 8"],
    [null, TypeError, "expected dimensions, each with a size, got null"],
  ])("the sizes %o", async (sizes, kind, text) => {
    await using procs = spawn();
    const resize = () => procs.resize(sizes as never);
    expect(resize).toThrow(kind);
    expect(resize).toThrow(`cannot resize mesh "procs": ${text}`);
    expect(procs.spawn("workers", crew.SteelWorker).size).toBe(4);
  });

  test("more ranks than a mesh can have, and wrong options", async () => {
    await using procs = spawn();
    expect(() => procs.resize({ gpus: 2 ** 32 })).toThrow("cannot make a mesh: expected at most 4294967296 ranks");
    expect(() => procs.resize({ gpus: 1 }, { drian: 5 } as never)).toThrow(
      'cannot resize mesh "procs": expected the option drain, got "drian"',
    );
    expect(() => procs.resize({ gpus: 1 }, { drain: -1 })).toThrow(
      'cannot resize mesh "procs": expected drain in milliseconds, at least 0, got -1',
    );
  });

  test("slices, other dimensions, and handles of an earlier extent", async () => {
    await using procs = spawn();
    const whole = "expected the whole mesh \"procs\", {'nodes': 2, 'gpus': 2}, got a slice or other dimensions";
    expect(() => procs.slice({ nodes: 0 }).resize({ gpus: 4 })).toThrow(`cannot resize mesh "procs": ${whole}`);
    expect(() => procs.slice({ gpus: range(0, 1) }).resize({ gpus: 4 })).toThrow(whole);
    expect(() => procs.rename({ gpus: "tp" }).resize({ tp: 4 })).toThrow(whole);
    expect(() => procs.flatten("all").resize({ all: 8 })).toThrow(whole);
    const more = procs.resize({ gpus: 3 });
    expect(() => procs.resize({ gpus: 4 })).toThrow(
      "cannot resize mesh \"procs\": mesh \"procs\" was resized to {'nodes': 2, 'gpus': 3} since; use the mesh that the last resize returned",
    );
    // Back at the first extent, the first handle is that of the whole mesh again.
    more.resize({ gpus: 2 });
    expect(procs.resize({ gpus: 2 }).extent).toEqual({ nodes: 2, gpus: 2 });
    expect(procs.resize({ nodes: 1 }).extent).toEqual({ nodes: 1, gpus: 2 });
  });

  test("the own process, and a mesh that was stopped", async () => {
    expect(() => thisProc().resize({} as never)).toThrow("expected one dimension with its new size, got none");
    expect(() => thisProc().resize({ gpus: 2 } as never)).toThrow(
      'cannot resize mesh "this process": expected no dimension, got dimension "gpus"',
    );
    const procs = spawn();
    await procs.stop({ reason: "done" });
    expect(() => procs.resize({ gpus: 3 })).toThrow('cannot resize mesh "procs": it was stopped: done');
  });

  test("a list of processors that has no entries for new processes", async () => {
    const cpus = thisHost().spawnProcs({ nodes: 1, gpus: 2 }, { cpus: ["0", "0", "0", "0"] });
    const failed = 'cannot resize mesh "procs": expected an entry of its option cpus for each of';
    const hint = "got a list of 4; spawn it with a longer list, or a function";
    expect(() => cpus.resize({ gpus: 5 })).toThrow(`${failed} 5 processes, ${hint}`);
    expect(() => cpus.resize({ nodes: 3 })).toThrow(`${failed} 6 processes, ${hint}`);
    // What was refused has used no entries.
    const more = cpus.resize({ nodes: 2 });
    expect(more.resize({ gpus: 2 }).extent).toEqual({ nodes: 2, gpus: 2 });
    expect(() => more.resize({ gpus: 3 })).toThrow(`${failed} 6 processes, ${hint}`);
    await cpus.stop();
  });

  test("a mesh whose processes are being replaced", async () => {
    await using procs = thisHost().spawnProcs({ gpus: 2 }, inline);
    procs.spawn("workers", crew.SteelWorker);
    const replaced = procs.replace();
    expect(() => procs.resize({ gpus: 3 })).toThrow(
      'cannot resize mesh "procs": its processes are being replaced; await `replace` first',
    );
    await replaced;
    const more = procs.resize({ gpus: 3 });
    await more.replace();
    const fewer = more.resize({ gpus: 1 });
    await expect(procs.replace()).rejects.toThrow(
      'cannot replace processes of "procs": rank 1 of mesh "procs" left when the mesh was resized to {\'gpus\': 1}; use the mesh that the last resize returned',
    );
    await fewer.ready;
  });

  test("an actor that does not own the mesh", async () => {
    await using procs = thisHost().spawnProcs({ gpus: 1 }, inline);
    (globalThis as { crewProcs?: ProcMesh }).crewProcs = procs as unknown as ProcMesh;
    const [boss] = [procs.spawn("boss", crew.SteelWorker)];
    const rented = await boss.rent.callOne("rented");
    const more = procs.resize({ gpus: 2 });
    expect(() => more.resizeActors(rented)).toThrow(
      'cannot resize mesh "rented": only its owner can, which is the actor boss[0], got a call from code outside of actors',
    );
  });

  test("functions among the options that throw, and then nothing has changed", async () => {
    let fails = false;
    const host = thisHost();
    const procs = host.spawnProcs(
      { gpus: 1 },
      {
        isolation: "thread",
        env: ({ rank }) => {
          if (fails) throw new Error(`no environment for ${rank}`);
          return {};
        },
      },
    );
    const workers = procs.spawn("workers", crew.SteelWorker);
    fails = true;
    expect(() => procs.resize({ gpus: 2 })).toThrow("no environment for 1");
    fails = false;
    const more = procs.resize({ gpus: 3 });
    expect([...(await more.resizeActors(workers).echo.call("x")).values()]).toEqual(["x", "x", "x"]);
    await procs.stop();
  });
});

describe("resizeActors refuses", () => {
  test("what is no mesh of actors of these procs", async () => {
    await using procs = spawn();
    const elsewhere = thisProc().spawn("elsewhere", crew.SteelWorker);
    expect(() => procs.resizeActors(5 as never)).toThrow("cannot resize actors: expected a mesh of actors, got 5");
    expect(() => procs.resizeActors(elsewhere as never)).toThrow(
      'cannot resize mesh "elsewhere": it does not live on mesh "procs"',
    );
    await elsewhere.stop();
    const boss = procs.slice({ nodes: 0, gpus: 0 }).spawn("boss", crew.SteelWorker);
    const inner = await boss.hireInline.callOne(1);
    expect(() => procs.resizeActors(inner as never)).toThrow('cannot resize mesh "inline": only its owner can');
    await boss.stop();
    expect(() => procs.resizeActors(boss as never)).toThrow('cannot resize mesh "boss": it was stopped');
  });

  test("meshes that live on a part of the procs, slices, and a mesh of procs that was resized since", async () => {
    await using procs = spawn();
    const workers = procs.spawn("workers", crew.SteelWorker);
    const part = procs.slice({ gpus: range(0, 1) }).spawn("part", crew.SteelWorker);
    const renamed = procs.rename({ gpus: "tp" }).spawn("renamed", crew.SteelWorker);
    const more = procs.resize({ gpus: 3 });
    const text = 'it was spawned on a slice of mesh "procs", or with other dimensions';
    expect(() => more.resizeActors(part)).toThrow(`cannot resize mesh "part": ${text}`);
    expect(() => more.resizeActors(renamed as never)).toThrow(`cannot resize mesh "renamed": ${text}`);
    expect(() => more.resizeActors(workers.slice({ gpus: range(0, 1) }))).toThrow(
      'cannot resize a slice of mesh "workers": resize the whole mesh, with its own dimensions',
    );
    expect(() => more.resizeActors(workers.rename({ gpus: "tp" }) as never)).toThrow("cannot resize a slice of mesh");
    expect(() => procs.resizeActors(workers)).toThrow(
      "cannot resize mesh \"workers\": mesh \"procs\" was resized to {'nodes': 2, 'gpus': 3} since",
    );
    expect(more.resizeActors(more.resizeActors(workers)).extent).toEqual({ nodes: 2, gpus: 3 });
    expect((await part.echo.call("x")).size).toBe(2);
  });
});

test("actors cannot be spawned on processes that have left", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 3 }, inline);
  const fewer = procs.resize({ gpus: 1 });
  expect(() => procs.spawn("workers", crew.SteelWorker)).toThrow(
    'cannot spawn "workers": ranks 1, 2 of mesh "procs" left when the mesh was resized to {\'gpus\': 1}; use the mesh that the last resize returned',
  );
  expect(procs.slice({ gpus: 0 }).spawn("workers", crew.SteelWorker).size).toBe(1);
  await fewer.ready;
});

describe("stop", () => {
  test.each(["the first handle", "the last handle"])("by %s stops all ranks, and a slice cannot", async (which) => {
    const procs = thisHost().spawnProcs({ gpus: 2 }, inline);
    const workers = procs.spawn("workers", crew.SteelWorker);
    const more = procs.resize({ gpus: 4 });
    const all = more.resizeActors(workers);
    await all.ready;
    expect(() => more.slice({ gpus: range(2, 4) }).stop()).toThrow("cannot stop a slice");
    expect(() => all.slice({ gpus: range(2, 4) }).stop()).toThrow("cannot stop a slice");
    await (which === "the first handle" ? workers : all).stop({ reason: "enough" });
    expect(() => all.echo.call("x")).toThrow('mesh "workers" was stopped: enough');
    expect(() => workers.echo.call("x")).toThrow('mesh "workers" was stopped: enough');
    await (which === "the first handle" ? procs : more).stop({ reason: "closed" });
    expect(() => more.spawn("others", crew.SteelWorker)).toThrow('mesh "procs" was stopped: closed');
    expect(() => procs.spawn("others", crew.SteelWorker)).toThrow('mesh "procs" was stopped: closed');
    expect(faults).toEqual([]);
  });

  test("waits for ranks that are leaving, and ready of a mesh that was stopped meanwhile rejects", async () => {
    const procs = thisHost().spawnProcs({ gpus: 2 }, { isolation: "thread" });
    const workers = procs.spawn("workers", crew.SteelWorker);
    await workers.ready;
    const running = workers.slice({ gpus: 1 }).sleep.callOne(200);
    const fewer = procs.resize({ gpus: 1 });
    const more = fewer.resize({ gpus: 2 });
    const refused = expect(more.ready).rejects.toThrow('mesh "procs" was stopped before it was ready: over');
    await procs.stop({ reason: "over" });
    await refused;
    expect(await running).toBe(200);
    expect(faults).toEqual([]);
  });
});
