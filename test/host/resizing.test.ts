/** Tests that meshes of attached hosts, and meshes on them, grow and shrink. The daemons are processes of their own. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { range, SupervisionError, thisHost } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "../proc/crew.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { gone, until } from "../proc/until.js";
import { attachPatiently, lossSilence } from "./attach-patiently.js";
import { type RunningHost as Started, startHost } from "./start-host.js";

let crew: Crew;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

test("processes join and leave on each host, and no process can add a host", async () => {
  const [one, two] = await Promise.all([startHost(), startHost("tcp://127.0.0.1:0")]);
  await using hosts = attachPatiently([one.address, two.address]);
  const procs = hosts.spawnProcs({ gpus: 1 });
  const workers = procs.spawn("workers", crew.SteelWorker);
  await workers.keep.call(new Uint8Array([7]));
  expect(() => procs.resize({ hosts: 3 })).toThrow(
    'cannot resize mesh "procs": mesh "hosts" of hosts is {\'hosts\': 2} and has no host 2; resize it first',
  );
  expect(procs.resize({ hosts: 2 }).extent).toEqual({ hosts: 2, gpus: 1 });

  const more = procs.resize({ gpus: 2 });
  const all = more.resizeActors(workers);
  expect([...(await all.env.call("TMPDIR")).values()]).toEqual([one.folder, one.folder, two.folder, two.folder]);
  expect([...(await all.keep.call(new Uint8Array([7]))).values()]).toEqual([7, 0, 7, 0]);
  await more.ready;
  // A process on one host calls an actor that has joined on the other.
  const far = all.slice({ hosts: 1, gpus: 1 });
  const place = await all.slice({ hosts: 0, gpus: 1 }).whereIs.callOne(far);
  expect(place.pid).toBe((await far.where.callOne()).pid);

  const fewer = more.resize({ gpus: 1 });
  await expect(workers.slice({ hosts: 0, gpus: 0 }).whereIs.callOne(far)).rejects.toThrow("it has left the mesh");
  await fewer.ready;
  expect(gone(place.pid)).toBe(true);
  expect([...(await fewer.resizeActors(workers).keep.call(new Uint8Array([7]))).values()]).toEqual([7, 7]);
  expect(faults).toEqual([]);
});

test("processes that join on a host that is killed are failures of their ranks", async () => {
  const [one, two] = await Promise.all([startHost(), startHost()]);
  await using hosts = attachPatiently([one.address, two.address]);
  const procs = hosts.spawnProcs({ gpus: 1 });
  const workers = procs.spawn("workers", crew.SteelWorker);
  await workers.ready;
  two.child.kill("SIGKILL");
  const more = procs.resize({ gpus: 2 });
  const all = more.resizeActors(workers);
  await expect(more.ready).rejects.toThrow('mesh "procs" is not ready: rank');
  await until(() => faults.filter(({ mesh }) => mesh === "procs").length === 2);
  expect(faults.flatMap(({ mesh, ranks }) => (mesh === "procs" ? ranks : [])).sort()).toEqual([1, 3]);
  expect([...(await all.slice({ hosts: 0 }).echo.call("x")).values()]).toEqual(["x", "x"]);
});

/** Starts daemons: the first at a Unix socket, the others at TCP ports. */
const startHosts = (count: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => startHost(i === 0 ? undefined : "tcp://127.0.0.1:0")));
const seven = () => new Uint8Array([7]);

test("a mesh of hosts gains a host, and the meshes that are passed on get processes and actors there", async () => {
  const [one, two, three] = (await startHosts(3)) as [Started, Started, Started];
  await using hosts = attachPatiently([one.address, two.address]);
  const procs = hosts.spawnProcs({ gpus: 2 }, { env: (point) => ({ PLACE: `${point}` }) });
  const workers = procs.spawn("workers", crew.SteelWorker);
  await workers.keep.call(seven());
  const moreHosts = hosts.resize({ hosts: 3 }, { addresses: [three.address] });
  expect([hosts.extent, moreHosts.extent, procs.extent]).toEqual([{ hosts: 2 }, { hosts: 3 }, { hosts: 2, gpus: 2 }]);
  expect(moreHosts.toTable()).toContain(three.address);
  const moreProcs = procs.resize({ hosts: 3 });
  const all = moreProcs.resizeActors(workers);
  const { folder } = three;
  expect([...(await all.env.call("TMPDIR")).values()].slice(4)).toEqual([folder, folder]);
  expect([...(await all.keep.call(seven())).values()]).toEqual([7, 7, 7, 7, 0, 0]);
  expect(await all.slice({ hosts: 2, gpus: 1 }).env.callOne("PLACE")).toBe("{'hosts': 2/3, 'gpus': 1/2}");
  await Promise.all([moreHosts.ready, moreProcs.ready, all.ready]);
  // Each host gets processes along the other dimension, too, and new meshes use all hosts.
  const wide = moreProcs.resize({ gpus: 3 });
  expect([...(await wide.resizeActors(workers).env.call("TMPDIR")).values()]).toEqual(
    [one, two, three].flatMap(({ folder: at }) => [at, at, at]),
  );
  expect(moreHosts.spawnProcs({ cpus: 1 }).extent).toEqual({ hosts: 3, cpus: 1 });
  expect(hosts.spawnProcs({ cpus: 1 }).extent).toEqual({ hosts: 2, cpus: 1 });
  await moreHosts.stop();
  expect(() => hosts.spawnProcs()).toThrow('mesh "hosts" of hosts was stopped');
  expect(faults).toEqual([]);
});

test("a host that leaves is drained first, older handles keep their extents, and its daemon goes on running", async () => {
  const [one, two] = (await startHosts(2)) as [Started, Started];
  const file = join(mkdtempSync(join(tmpdir(), "leaving-")), "cleanup");
  await using hosts = attachPatiently([one.address, two.address]);
  const procs = hosts.spawnProcs({ gpus: 1 });
  const workers = procs.spawn("workers", crew.SteelWorker);
  const others = procs.spawn("others", crew.SteelWorker);
  await workers.keep.call(seven());
  const last = workers.slice({ hosts: 1 });
  await last.cleanupInto.call(file, 0);
  const { pid } = [...(await last.where.call()).values()][0]!;
  const running = last.sleep.call(300);
  const queued = last.echo.call("queued");
  const fewer = hosts.resize({ hosts: 1 });
  const left = "it has left the mesh: mesh \"hosts\" was resized to {'hosts': 1}";
  await expect(workers.echo.call("late")).rejects.toThrow(
    new SupervisionError("workers.echo", [1], left, { actors: ["workers[1]"] }),
  );
  expect([...(await running).values(), ...(await queued).values()]).toEqual([300, "queued"]);
  await fewer.ready;
  expect(gone(pid)).toBe(true);
  expect(readFileSync(file, "utf8")).toContain("workers");
  expect([hosts.extent, fewer.extent, procs.extent]).toEqual([{ hosts: 2 }, { hosts: 1 }, { hosts: 2, gpus: 1 }]);
  expect([...(await workers.slice({ hosts: 0 }).echo.call("x")).values()]).toEqual(["x"]);
  // The mesh of processes has the old extent until it is resized, and nothing can be put on the host that has left.
  expect(() => hosts.spawnProcs()).toThrow(
    "cannot spawn procs: mesh \"hosts\" of hosts is {'hosts': 1} and has no host 1; resize it first",
  );
  const first = 'rank 1 of mesh "procs" left with its host; resize mesh "procs" along its hosts first';
  expect(() => procs.spawn("late", crew.SteelWorker)).toThrow(`cannot spawn "late": ${first}`);
  expect(() => procs.resizeActors(workers)).toThrow(`cannot resize mesh "workers": ${first}`);
  expect(() => procs.resize({ gpus: 2 })).toThrow(
    'cannot resize mesh "procs": mesh "hosts" of hosts is {\'hosts\': 1} and has no host 1; resize it first',
  );
  const less = procs.resize({ hosts: 1 });
  await less.ready;
  expect([...(await less.resizeActors(workers).keep.call(seven())).values()]).toEqual([7]);
  expect(less.spawn("late", crew.SteelWorker).size).toBe(1);
  // The daemon takes the driver again, and the position has a new actor.
  const again = fewer.resize({ hosts: 2 }, { addresses: [two.address] });
  const back = less.resize({ hosts: 2 });
  expect([...(await back.resizeActors(workers).keep.call(seven())).values()]).toEqual([7, 0]);
  expect([...(await workers.keep.call(seven())).values()]).toEqual([7, 7]);
  await expect(others.echo.call("x")).rejects.toThrow(left);
  await Promise.all([again.ready, back.ready]);
  expect(faults).toEqual([]);
});

test("a host that is killed while it is drained is no failure, and another one takes its position", async () => {
  const [one, two, three] = (await startHosts(3)) as [Started, Started, Started];
  await using hosts = attachPatiently([one.address, two.address], { silence: lossSilence() });
  const procs = hosts.spawnProcs();
  const workers = procs.spawn("workers", crew.SteelWorker);
  await workers.ready;
  const last = workers.slice({ hosts: 1 });
  const lost = last.sleep.callOne(60_000);
  const caught = lost.catch((error) => error);
  await last.echo.broadcast("behind it");
  const fewer = hosts.resize({ hosts: 1 }, { drain: 60_000 });
  two.child.kill("SIGKILL");
  expect(await caught).toBeInstanceOf(SupervisionError);
  await fewer.ready;
  const less = procs.resize({ hosts: 1 });
  expect(await less.resizeActors(workers).echo.callOne("x")).toBe("x");
  fewer.resize({ hosts: 2 }, { addresses: [three.address] });
  const all = less.resize({ hosts: 2 }).resizeActors(workers);
  expect([...(await all.env.call("TMPDIR")).values()]).toEqual([one.folder, three.folder]);
  expect(faults).toEqual([]);
});

test("a host that was lost can leave, and so can one that could not be attached", async () => {
  const [one, two, three] = (await startHosts(3)) as [Started, Started, Started];
  const hosts = attachPatiently([one.address, two.address], { timeout: 10_000, silence: lossSilence() });
  const procs = hosts.spawnProcs();
  const workers = procs.spawn("workers", crew.SteelWorker);
  await workers.ready;
  two.child.kill("SIGKILL");
  await until(() => faults.length > 0);
  expect(faults.map(({ mesh, ranks }) => [mesh, ranks])).toEqual([["procs", [1]]]);
  const fewer = hosts.resize({ hosts: 1 });
  await fewer.ready;
  const less = procs.resize({ hosts: 1 });
  // Nobody listens at this address any more.
  const bad = fewer.resize({ hosts: 2 }, { addresses: [two.address] });
  await expect(bad.ready).rejects.toThrow(`cannot attach host ${two.address}`);
  await bad.resize({ hosts: 1 }).ready;
  const good = fewer.resize({ hosts: 2 }, { addresses: [three.address] });
  const all = less.resize({ hosts: 2 }).resizeActors(workers);
  expect([...(await all.echo.call("x")).values()]).toEqual(["x", "x"]);
  await good.ready;
  expect(faults).toHaveLength(1);
  await hosts.stop();
});

test("resize of hosts refuses what is wrong, and then nothing has changed", async () => {
  const [one, two] = (await startHosts(2)) as [Started, Started];
  const hosts = attachPatiently([one.address]);
  const failed = 'cannot resize mesh "hosts" of hosts';
  const join = { addresses: [two.address] };
  expect(() => thisHost().resize({} as never)).toThrow("cannot resize the own host: it was not attached");
  expect(() => hosts.resize({ hosts: 2 })).toThrow(
    `${failed}: expected one address for each host that joins at {'hosts': 2}, 1 in all, got 0`,
  );
  expect(() => hosts.resize({ hosts: 1 }, join)).toThrow(
    `${failed}: expected one address for each host that joins at {'hosts': 1}, 0 in all, got 1`,
  );
  expect(() => hosts.resize({ hosts: 2 }, { addresses: two.address as never })).toThrow(
    `${failed}: expected a list of addresses, got "${two.address}"`,
  );
  expect(() => hosts.resize({ hosts: 2 }, { addresses: [one.address] })).toThrow(
    `${failed}: ${one.address} is attached already`,
  );
  expect(() => hosts.resize({ hosts: 3 }, { addresses: [two.address, two.address] })).toThrow(
    `${failed}: ${two.address} is named twice`,
  );
  expect(() => hosts.resize({ hosts: 2 }, { addresses: ["tls://localhost:1"] })).toThrow(
    `${failed}: tls:// needs a certificate, its key and an authority; give their files as tls`,
  );
  expect(() => hosts.resize({ hosts: 2 }, { addresses: [7 as never] })).toThrow(
    `${failed}: expected addresses as text, got 7`,
  );
  expect(() => hosts.resize({ hosts: 0 })).toThrow(`${failed}: expected an integer of at least 1 for hosts, got 0`);
  expect(() => hosts.resize({ hosts: Number.NaN })).toThrow(
    `${failed}: expected an integer of at least 1 for hosts, got NaN`,
  );
  expect(() => hosts.resize({ gpus: 2 } as never)).toThrow(
    `${failed}: expected the dimension hosts, got dimension "gpus"`,
  );
  expect(() => hosts.resize({ hosts: 1 }, { address: "x" } as never)).toThrow(
    `${failed}: expected one of the options addresses, drain, got "address"`,
  );
  expect(() => hosts.resize({ hosts: 1 }, { drain: -1 })).toThrow(
    `${failed}: expected drain in milliseconds, at least 0, got -1`,
  );
  const both = hosts.resize({ hosts: 2 }, join);
  expect(() => hosts.resize({ hosts: 1 })).toThrow(
    `${failed}: mesh "hosts" was resized to {'hosts': 2} since; use the mesh that the last resize returned`,
  );
  expect(() => both.slice({ hosts: range(1, 2) }).resize({ hosts: 1 })).toThrow(
    `${failed}: expected the whole mesh "hosts", {'hosts': 2}, got a slice or other dimensions`,
  );
  expect(() => both.slice({ hosts: range(1, 2) }).stop()).toThrow("cannot stop a slice");
  const part = both.slice({ hosts: range(1, 2) }).spawnProcs();
  expect(() => part.resize({ hosts: 2 })).toThrow(
    'cannot resize mesh "procs" along hosts: its processes were spawned on a slice of a mesh of hosts, or with other dimensions',
  );
  const replaced = part.replace();
  expect(() => both.resize({ hosts: 1 })).toThrow(
    `${failed}: processes of mesh "procs" are being replaced; await \`replace\` first`,
  );
  await replaced;
  const fewer = both.resize({ hosts: 1 });
  expect(() => fewer.resize({ hosts: 2 }, join)).toThrow(
    `${failed}: ${two.address} is still being left; await \`ready\` of the mesh that the last resize returned`,
  );
  await fewer.ready;
  await fewer.resize({ hosts: 2 }, join).ready;
  await hosts.stop({ reason: "done" });
  expect(() => hosts.resize({ hosts: 1 })).toThrow(`${failed}: it was stopped: done`);
  expect(faults).toEqual([]);
});
