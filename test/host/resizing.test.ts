/** Tests that meshes on attached hosts grow and shrink. */
import { attachHosts } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "../proc/crew.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { gone, until } from "../proc/until.js";
import { startHost } from "./start-host.js";

let crew: Crew;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

test("processes join and leave on each host, and no process can add a host", async () => {
  const [one, two] = await Promise.all([startHost(), startHost("tcp://127.0.0.1:0")]);
  await using hosts = attachHosts([one.address, two.address]);
  const procs = hosts.spawnProcs({ gpus: 1 });
  const workers = procs.spawn("workers", crew.SteelWorker);
  await workers.keep.call(new Uint8Array([7]));
  expect(() => procs.resize({ hosts: 3 })).toThrow(
    'cannot resize mesh "procs" along hosts: it is a dimension of the hosts; attach other hosts, and spawn processes on them',
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
  await using hosts = attachHosts([one.address, two.address], { silence: 2000 });
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
