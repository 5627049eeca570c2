/** Tests that meshes grow and shrink, with real processes, threads and inline procs. */
import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { range, SupervisionError, thisHost } from "viceroy";
import { beforeAll, describe, expect, test } from "vitest";
import { type Crew, loadCrew, moduleOf } from "../crew.js";
import { collectUnhandledFaults } from "../unhandled-faults.js";
import { gone, until } from "../until.js";

let crew: Crew;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

const folder = mkdtempSync(join(tmpdir(), "resize-"));
let files = 0;
const newFile = () => join(folder, `file-${files++}`);
/** Returns the first of consecutive TCP ports that are free. */
async function freePorts(count: number): Promise<number> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 10_000);
    const servers = Array.from({ length: count }, (_, i) => createServer().listen(first + i, "127.0.0.1"));
    const listening = await Promise.allSettled(servers.map((server) => once(server, "listening")));
    for (const server of servers) server.close();
    if (listening.every(({ status }) => status === "fulfilled")) return first;
  }
}
const five = () => new Uint8Array([5]);

describe.each(["process", "thread", "inline"] as const)("a mesh of isolation %s", (isolation) => {
  test("grows: the ranks that stay keep their actors and state, and new ones are made of the same arguments", async () => {
    await using procs = thisHost().spawnProcs({ gpus: 2 }, { isolation, bootstrap: moduleOf("bootstrap.js") });
    const workers = procs.spawn("workers", crew.SteelWorker, "init pauses");
    await workers.keep.call(five());
    const more = procs.resize({ gpus: 4 });
    const all = more.resizeActors(workers);
    expect([procs.extent, more.extent, workers.extent, all.extent]).toEqual([
      { gpus: 2 },
      { gpus: 4 },
      { gpus: 2 },
      { gpus: 4 },
    ]);
    // Calls queue behind the start of the actors.
    expect([...(await all.keep.call(five())).values()]).toEqual([5, 5, 0, 0]);
    expect([...(await all.where.call()).values()].map(({ point, actorRank }) => [point, actorRank])).toEqual([
      ["{'gpus': 0/4}", 0],
      ["{'gpus': 1/4}", 1],
      ["{'gpus': 2/4}", 2],
      ["{'gpus': 3/4}", 3],
    ]);
    expect([...(await workers.where.call()).values()].map(({ point }) => point)).toEqual([
      "{'gpus': 0/2}",
      "{'gpus': 1/2}",
    ]);
    await more.ready;
    await all.ready;
    const others = more.spawn("others", crew.SteelWorker);
    expect((await others.echo.call("x")).size).toBe(4);
    expect(faults).toEqual([]);
  });

  test("can be resized while its procs start, in both directions, and ready of each handle resolves", async () => {
    await using procs = thisHost().spawnProcs({ gpus: 2 }, { isolation });
    const workers = procs.spawn("workers", crew.SteelWorker);
    const more = procs.resize({ gpus: 3 });
    const all = more.resizeActors(workers);
    const fewer = more.resize({ gpus: 1 });
    await Promise.all([procs.ready, more.ready, fewer.ready, all.ready]);
    expect([...(await fewer.resizeActors(workers).echo.call("x")).values()]).toEqual(["x"]);
    await expect(all.echo.call("x")).rejects.toThrow("it has left the mesh");
    expect(faults).toEqual([]);
  });

  test("shrinks: ranks that leave handle what they have been sent, clean up and end, which is no failure", async () => {
    const file = newFile();
    await using procs = thisHost().spawnProcs({ gpus: 3 }, { isolation });
    const workers = procs.spawn("workers", crew.SteelWorker);
    await workers.keep.call(five());
    await workers.slice({ gpus: 2 }).cleanupInto.callOne(file, 0);
    const last = workers.slice({ gpus: 2 });
    const running = last.sleep.callOne(300);
    const queued = last.echo.callOne("queued");
    const fewer = procs.resize({ gpus: 2 });
    const kept = fewer.resizeActors(workers);
    const left = "it has left the mesh: mesh \"procs\" was resized to {'gpus': 2}";
    await expect(workers.echo.call("late")).rejects.toThrow(
      new SupervisionError("workers.echo", [2], left, { actors: ["workers[2]"] }),
    );
    await expect(last.echo.callOne("late")).rejects.toThrow(left);
    expect([await running, await queued]).toEqual([300, "queued"]);
    await fewer.ready;
    expect(readFileSync(file, "utf8")).toContain("workers");
    expect(kept.extent).toEqual({ gpus: 2 });
    expect([...(await kept.keep.call(five())).values()]).toEqual([5, 5]);
    expect([...(await workers.slice({ gpus: range(0, 2) }).echo.call("x")).values()]).toEqual(["x", "x"]);
    await expect(last.echo.callOne("late")).rejects.toThrow(left);
    for (let i = 0; i < 20; i++) expect(await workers.echo.choose("x")).toBe("x");
    expect(faults).toEqual([]);
  });

  test("grows again: a rank that returns is a new actor at the same address", async () => {
    await using procs = thisHost().spawnProcs({ gpus: 3 }, { isolation });
    const workers = procs.spawn("workers", crew.SteelWorker);
    await workers.keep.call(five());
    const fewer = procs.resize({ gpus: 1 });
    const again = fewer.resize({ gpus: 2 });
    await expect(workers.slice({ gpus: 1 }).echo.callOne("x")).rejects.toThrow("it has left the mesh");
    const two = again.resizeActors(workers);
    expect([...(await two.keep.call(five())).values()]).toEqual([5, 0]);
    expect([...(await workers.slice({ gpus: range(0, 2) }).keep.call(five())).values()]).toEqual([5, 5]);
    await expect(workers.slice({ gpus: 2 }).echo.callOne("x")).rejects.toThrow("it has left the mesh");
    expect(String((await two.slice({ gpus: 1 }).where.callOne()).name)).toBe("workers");
    await again.ready;
    await two.ready;
    expect(faults).toEqual([]);
  });

  test("of two dimensions grows and shrinks along the inner one", async () => {
    await using procs = thisHost().spawnProcs({ nodes: 2, gpus: 2 }, { isolation });
    const workers = procs.spawn("workers", crew.SteelWorker);
    const ids = async (mesh: typeof workers) => [...(await mesh.keep.call(five())).values()];
    expect(await ids(workers)).toEqual([0, 0, 0, 0]);
    const wider = procs.resize({ gpus: 3 });
    const wide = wider.resizeActors(workers);
    expect(await ids(wide)).toEqual([5, 5, 0, 5, 5, 0]);
    const points = [...(await wide.where.call()).values()].map(({ point }) => point);
    expect(points).toEqual([0, 1].flatMap((node) => [0, 1, 2].map((gpu) => `{'nodes': ${node}/2, 'gpus': ${gpu}/3}`)));
    expect(
      [...(await wide.slice({ gpus: 2 }).where.call()).values()].map(({ point, actorRank }) => [point, actorRank]),
    ).toEqual([
      ["{'nodes': 0/2}", 2],
      ["{'nodes': 1/2}", 5],
    ]);
    expect(wide.toTable()).toMatch(/workers\[4\][\s\S]*workers\[5\]/);
    // A mesh is a value: another process addresses the same actors.
    expect(
      await workers.slice({ nodes: 0, gpus: 0 }).order.callOne(wide.slice({ nodes: 1 }).flatten("rank") as never, "hi"),
    ).toEqual(["hi", "hi", "hi"]);
    const taller = wider.resize({ nodes: 3 });
    expect(await ids(taller.resizeActors(workers))).toEqual([5, 5, 5, 5, 5, 5, 0, 0, 0]);
    const narrow = taller.resize({ gpus: 1 });
    expect(await ids(narrow.resizeActors(workers))).toEqual([5, 5, 5]);
    await narrow.ready;
    await expect(workers.echo.call("x")).rejects.toThrow("it has left the mesh");
    expect(faults).toEqual([]);
  });
});

describe("processes", () => {
  test("keep their ids, and those that leave end", async () => {
    await using procs = thisHost().spawnProcs(
      { gpus: 3 },
      { env: ({ rank, extent }) => ({ WHERE: `${rank} of ${extent.gpus}` }) },
    );
    const workers = procs.spawn("workers", crew.SteelWorker);
    const pids = [...(await workers.where.call()).values()].map(({ pid }) => pid);
    const fewer = procs.resize({ gpus: 1 });
    await fewer.ready;
    expect(pids.map(gone)).toEqual([false, true, true]);
    const more = fewer.resize({ gpus: 5 });
    const all = more.resizeActors(workers);
    const now = [...(await all.where.call()).values()].map(({ pid }) => pid);
    expect(now[0]).toBe(pids[0]);
    expect(new Set(now).size).toBe(5);
    expect([...(await all.env.call("WHERE")).values()]).toEqual(["0 of 3", "1 of 5", "2 of 5", "3 of 5", "4 of 5"]);
  });

  test("that other processes hold as meshes are refused there, too, and messages sent before are handled", async () => {
    const file = newFile();
    await using procs = thisHost().spawnProcs({ gpus: 3 });
    const workers = procs.spawn("workers", crew.SteelWorker);
    const [first, last] = [workers.slice({ gpus: 0 }), workers.slice({ gpus: 2 })];
    await first.dictate.callOne(last, file, 500);
    const fewer = procs.resize({ gpus: 2 });
    await fewer.ready;
    expect(
      readFileSync(file, "utf8")
        .split("\n")
        .map((line) => line.split(" ")[0]),
    ).toEqual([...Array.from({ length: 500 }, (_, i) => `${i}`), ""]);
    await expect(first.whereIs.callOne(last)).rejects.toThrow(
      "it has left the mesh: mesh \"procs\" was resized to {'gpus': 2}",
    );
    // A process that did not exist at that time.
    const more = fewer.resize({ gpus: 3 });
    const late = more.spawn("late", crew.SteelWorker).slice({ gpus: 2 });
    await expect(late.whereIs.callOne(last)).rejects.toThrow("it has left the mesh");
    const all = more.resizeActors(workers);
    expect((await late.whereIs.callOne(all.slice({ gpus: 2 }))).pid).toBe((await late.where.callOne()).pid);
    expect((await first.whereIs.callOne(last)).pid).toBe((await late.where.callOne()).pid);
  });

  test("that leave and do not end are killed when the drain time is over", async () => {
    await using procs = thisHost().spawnProcs({ gpus: 2 });
    const workers = procs.spawn("workers", crew.SteelWorker);
    const { pid } = await workers.slice({ gpus: 1 }).where.callOne();
    const lost = workers.slice({ gpus: 1 }).spin.callOne();
    const fewer = procs.resize({ gpus: 1 }, { drain: 100 });
    await expect(lost).rejects.toThrow(SupervisionError);
    await fewer.ready;
    expect(gone(pid)).toBe(true);
    expect(faults).toEqual([]);
  });

  test("that are killed while they leave are no failure", async () => {
    await using procs = thisHost().spawnProcs({ gpus: 2 });
    const workers = procs.spawn("workers", crew.SteelWorker);
    const { pid } = await workers.slice({ gpus: 1 }).where.callOne();
    const lost = workers.slice({ gpus: 1 }).sleep.callOne(60_000);
    const fewer = procs.resize({ gpus: 1 });
    process.kill(pid, "SIGKILL");
    await expect(lost).rejects.toThrow("killed by SIGKILL");
    await fewer.ready;
    expect(await fewer.resizeActors(workers).echo.callOne("x")).toBe("x");
    expect(faults).toEqual([]);
  });

  test("that are killed while they join are failures of their ranks, and the others join", async () => {
    await using procs = thisHost().spawnProcs({ gpus: 1 }, { bootstrap: moduleOf("bootstrap.js") });
    const workers = procs.spawn("workers", crew.SteelWorker);
    await workers.ready;
    const more = procs.resize({ gpus: 3 });
    const all = more.resizeActors(workers);
    const { pid } = await all.slice({ gpus: 2 }).where.callOne();
    process.kill(pid, "SIGKILL");
    await until(() => faults.length > 0);
    expect(faults.map((each) => [each.mesh, each.ranks, each.affected])).toEqual([
      ["procs", [2], [{ mesh: "workers", ranks: [2] }]],
    ]);
    await expect(all.echo.call("x")).rejects.toThrow("killed by SIGKILL");
    expect([...(await all.slice({ gpus: range(0, 2) }).echo.call("x")).values()]).toEqual(["x", "x"]);
    // The rank can leave, and return.
    const fewer = more.resize({ gpus: 2 });
    expect([...(await fewer.resizeActors(workers).echo.call("x")).values()]).toEqual(["x", "x"]);
    const again = fewer.resize({ gpus: 3 }).resizeActors(workers);
    expect([...(await again.echo.call("x")).values()]).toEqual(["x", "x", "x"]);
  });

  test("that cannot start reject ready with the reason, and the ranks that stay go on", async () => {
    let isBroken = false;
    await using procs = thisHost().spawnProcs(
      { gpus: 1 },
      { registry: () => (isBroken ? new URL("file:///nowhere.js") : undefined) },
    );
    const workers = procs.spawn("workers", crew.SteelWorker);
    await workers.ready;
    isBroken = true;
    const more = procs.resize({ gpus: 2 });
    await expect(more.ready).rejects.toThrow('mesh "procs" is not ready: rank 1: Cannot find module');
    await until(() => faults.length > 0);
    expect(faults.map(({ mesh, ranks }) => [mesh, ranks])).toEqual([["procs", [1]]]);
    expect(await workers.echo.callOne("x")).toBe("x");
    expect(await procs.ready).toBeUndefined();
  });

  test("that join are restarted by the policy of the mesh, at their positions", async () => {
    await using procs = thisHost().spawnProcs({ gpus: 1 }, { restart: { policy: "always" } });
    const workers = procs.spawn("workers", crew.SteelWorker);
    const more = procs.resize({ gpus: 2 });
    const all = more.resizeActors(workers);
    const { pid } = await all.slice({ gpus: 1 }).where.callOne();
    process.kill(pid, "SIGKILL");
    const last = all.slice({ gpus: 1 });
    await until(() =>
      last.where.callOne().then(
        (now) => now.pid !== pid,
        () => false,
      ),
    );
    const place = await last.where.callOne();
    expect(place.pid).not.toBe(pid);
    expect(place).toMatchObject({ point: "{}", actorRank: 1 });
    expect(faults).toEqual([]);
  });

  test("that join take the next entries of a list of processors, and keep them when they are restarted", async () => {
    await using procs = thisHost().spawnProcs(
      { nodes: 2, gpus: 1 },
      { cpus: ["0", "1", "0-1", "1"], restart: { policy: "always" } },
    );
    const workers = procs.spawn("workers", crew.SteelWorker);
    const allowed = async (mesh: typeof workers) =>
      [...(await mesh.where.with({ wait: true }).call()).values()].map(
        ({ pid }) => /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1],
      );
    expect(await allowed(workers)).toEqual(["0", "1"]);
    const all = procs.resize({ gpus: 2 }).resizeActors(workers);
    expect(await allowed(all)).toEqual(["0", "0-1", "1", "1"]);
    const joined = all.slice({ nodes: 0, gpus: 1 });
    const { pid } = await joined.where.callOne();
    process.kill(pid, "SIGKILL");
    await until(() => gone(pid));
    await until(() =>
      joined.where.callOne().then(
        (now) => now.pid !== pid,
        () => false,
      ),
    );
    expect(await allowed(all)).toEqual(["0", "0-1", "1", "1"]);
    expect(faults).toEqual([]);
  });

  test("that join listen for debuggers at ports of their own", async () => {
    const ports = new Map<number, string[]>();
    const stdio = (line: string, { rank }: { readonly rank: number }) => {
      const port = /Debugger listening on ws:\/\/127.0.0.1:(\d+)/.exec(line)?.[1];
      if (port !== undefined) ports.set(Number(port), [...(ports.get(Number(port)) ?? []), `rank ${rank}`]);
    };
    const port = await freePorts(4);
    await using procs = thisHost().spawnProcs({ nodes: 2, gpus: 1 }, { inspect: { port }, stdio });
    await procs.ready;
    await procs.resize({ gpus: 2 }).ready;
    await until(() => ports.size === 4);
    expect([...ports].sort()).toEqual([
      [port, ["rank 0"]],
      [port + 1, ["rank 1"]],
      [port + 2, ["rank 1"]],
      [port + 3, ["rank 3"]],
    ]);
  });

  test("that stay can be restarted meanwhile, and actors wait for the restart of processes that they join", async () => {
    await using procs = thisHost().spawnProcs({ gpus: 2 }, { restart: { policy: "always", backoff: 300 } });
    const workers = procs.spawn("workers", crew.SteelWorker);
    const first = await workers.slice({ gpus: 0 }).where.callOne();
    process.kill(first.pid, "SIGKILL");
    await expect(workers.slice({ gpus: 0 }).echo.callOne("x")).rejects.toThrow("killed by SIGKILL");
    const more = procs.resize({ gpus: 3 });
    const others = more.spawn("others", crew.SteelWorker);
    const last = await others.slice({ gpus: 2 }).where.callOne();
    process.kill(last.pid, "SIGKILL");
    await expect(others.slice({ gpus: 2 }).echo.callOne("x")).rejects.toThrow("killed by SIGKILL");
    const all = more.resizeActors(workers);
    const places = [...(await all.where.with({ wait: true }).call()).values()];
    const pids = [...(await others.where.with({ wait: true }).call()).values()].map(({ pid }) => pid);
    expect(places.map(({ pid }) => pid)).toEqual(pids);
    expect(pids).not.toContain(first.pid);
    expect(pids).not.toContain(last.pid);
    await Promise.all([more.ready, all.ready]);
    expect(faults).toEqual([]);
  });

  test("that leave while they are being restarted do not return", async () => {
    await using procs = thisHost().spawnProcs({ gpus: 2 }, { restart: { policy: "always", backoff: 500 } });
    const workers = procs.spawn("workers", crew.SteelWorker);
    const { pid } = await workers.slice({ gpus: 1 }).where.callOne();
    process.kill(pid, "SIGKILL");
    await expect(workers.slice({ gpus: 1 }).echo.callOne("x")).rejects.toThrow("killed by SIGKILL");
    const waiting = workers.slice({ gpus: 1 }).echo.with({ wait: true }).callOne("x");
    const outcome = expect(waiting).rejects.toThrow("it has left the mesh");
    const fewer = procs.resize({ gpus: 1 });
    await fewer.ready;
    await outcome;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await expect(workers.slice({ gpus: 1 }).echo.callOne("x")).rejects.toThrow("it has left the mesh");
    expect(await workers.slice({ gpus: 0 }).echo.callOne("x")).toBe("x");
    expect(faults).toEqual([]);
  });
});
