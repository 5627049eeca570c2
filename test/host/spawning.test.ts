/** Tests that features of this host work on attached hosts, too. */
import { SupervisionError } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew, project } from "../proc/crew.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { gone, until } from "../proc/until.js";
import { attachPatiently } from "./attach-patiently.js";
import { startHost } from "./start-host.js";

let crew: Crew;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

async function twoHosts() {
  const [one, two] = await Promise.all([startHost(), startHost("tcp://127.0.0.1:0")]);
  return { one, two, addresses: [one.address, two.address] };
}

test("a bootstrap module uses another host, and leaves it, before its process gets actors", async () => {
  const { one, two } = await twoHosts();
  await using hosts = attachPatiently([one.address]);
  const bootstrap = new URL("../fixtures/crew/programs/hosts-first.ts", import.meta.url);
  const worker = hosts.spawnProcs({}, { env: { NEXT: two.address }, bootstrap }).spawn("workers", crew.SteelWorker);
  const [used, { pid }] = [await worker.env.callOne("USED"), await worker.where.callOne()];
  expect(Number(used)).toBeGreaterThan(0);
  expect(used).not.toBe(String(pid));
});

test("procs are started on their hosts in rank order, also for slices of hosts", async () => {
  const { one, two, addresses } = await twoHosts();
  await using hosts = attachPatiently(addresses);
  await hosts.ready;
  expect([hosts.extent, hosts.size, hosts.name, String(hosts)]).toEqual([{ hosts: 2 }, 2, "hosts", 'hosts{"hosts":2}']);
  expect(hosts.toTable()).toContain(two.address);
  const procs = hosts.spawnProcs({ gpus: 2 });
  expect(procs.extent).toEqual({ hosts: 2, gpus: 2 });
  const workers = procs.spawn("workers", crew.SteelWorker);
  const places = [...(await workers.where.call()).values()];
  expect(places.map(({ point }) => point)).toEqual([
    "{'hosts': 0/2, 'gpus': 0/2}",
    "{'hosts': 0/2, 'gpus': 1/2}",
    "{'hosts': 1/2, 'gpus': 0/2}",
    "{'hosts': 1/2, 'gpus': 1/2}",
  ]);
  expect(new Set(places.map(({ pid }) => pid)).size).toBe(4);
  const folders = await Promise.all([0, 1].map((at) => workers.slice({ hosts: at, gpus: 0 }).env.callOne("TMPDIR")));
  expect(folders).toEqual([one.folder, two.folder]);

  const second = hosts.slice({ hosts: 1 });
  expect(second.extent).toEqual({});
  const alone = second.spawnProcs({}, { name: "alone" }).spawn("alone", crew.SteelWorker);
  expect(await alone.env.callOne("TMPDIR")).toBe(two.folder);
});

test("the dimension can have another name", async () => {
  const host = await startHost();
  await using hosts = attachPatiently([host.address], { dimension: "machines", name: "lab" });
  expect(hosts.slice({ machines: 0 }).extent).toEqual({});
  const workers = hosts.spawnProcs({ gpus: 1 }).spawn("workers", crew.SteelWorker);
  const { point } = await workers.where.callOne();
  expect(point).toBe("{'machines': 0/1, 'gpus': 0/1}");
  expect(hosts.name).toBe("lab");
});

test("processes get environment, options of Node.js, bootstrap module and registry", async () => {
  const host = await startHost(undefined, [], { FROM_HOST: "host", BOTH: "host", UNWANTED: "host" });
  await using hosts = attachPatiently([host.address], { registry: `${project}generated/registry.ts` });
  const procs = hosts.spawnProcs(
    { gpus: 2 },
    {
      env: ({ rank }) => ({ BOTH: `driver ${rank}`, UNWANTED: undefined }),
      execArgv: ["--import", "tsx", "--max-old-space-size=123"],
      bootstrap: new URL("../fixtures/crew/bootstrap.js", import.meta.url),
    },
  );
  const workers = procs.spawn("workers", crew.SteelWorker);
  const variables = async (name: string) => [...(await workers.env.call(name)).values()];
  expect(await variables("FROM_HOST")).toEqual(["host", "host"]);
  expect(await variables("BOTH")).toEqual(["driver 0", "driver 1"]);
  expect(await variables("UNWANTED")).toEqual(["unset", "unset"]);
  expect(await workers.slice({ hosts: 0, gpus: 1 }).bootstrapped.callOne()).toBe(
    "prepared {'hosts': 0/1, 'gpus': 1/2}",
  );
  expect(await workers.slice({ hosts: 0, gpus: 1 }).argv.callOne()).toContain("--max-old-space-size=123");
});

test("the driver gets the output of processes in order, with its origin", async () => {
  const { addresses } = await twoHosts();
  await using hosts = attachPatiently(addresses);
  const lines: string[] = [];
  const procs = hosts.spawnProcs(
    {},
    { stdio: (line, { label, rank, stream }) => void lines.push(`${label} ${rank} ${stream} ${line}`) },
  );
  const workers = procs.spawn("workers", crew.SteelWorker);
  await workers.print.call(Array.from({ length: 1000 }, (_, i) => `${i}\n`).join(""));
  await until(() => lines.length === 2000);
  for (const rank of [0, 1]) {
    const own = lines.filter((line) => line.startsWith(`hosts=${rank} `));
    expect(own).toEqual(Array.from({ length: 1000 }, (_, i) => `hosts=${rank} ${rank} stdout ${i}`));
  }
  await workers.print.call("the last words");
  await procs.stop();
  expect(lines.slice(2000).sort()).toEqual(["hosts=0 0 stdout the last words", "hosts=1 1 stdout the last words"]);
});

test("a killed process is one failure of its rank, calls to it reject, and other ranks continue", async () => {
  const { addresses } = await twoHosts();
  await using hosts = attachPatiently(addresses);
  const procs = hosts.spawnProcs({ gpus: 2 });
  const workers = procs.spawn("workers", crew.SteelWorker);
  const places = [...(await workers.where.call()).values()];
  const doomed = workers.slice({ hosts: 1, gpus: 0 });
  const pending = doomed.sleep.callOne(60_000).then(undefined, (error) => error);
  process.kill(places[2]!.pid, "SIGKILL");
  const error = await pending;
  expect(error).toBeInstanceOf(SupervisionError);
  await until(() => faults.length > 0);
  const text = `process ${places[2]!.pid} was killed by SIGKILL on host ${addresses[1]}`;
  expect(faults).toMatchObject([
    { mesh: "procs", ranks: [2], kind: "process", affected: [{ mesh: "workers", ranks: [2] }] },
  ]);
  expect(faults[0]!.cause.message).toBe(text);
  await expect(doomed.echo.callOne("x")).rejects.toThrow(text);
  expect(await workers.slice({ hosts: 1, gpus: 1 }).echo.callOne("x")).toBe("x");
  expect(await workers.slice({ hosts: 0, gpus: 0 }).echo.callOne("x")).toBe("x");
});

test("an uncaught exception is reported with the last lines of standard error", async () => {
  const host = await startHost();
  await using hosts = attachPatiently([host.address]);
  const procs = hosts.spawnProcs({}, { stdio: "ignore" });
  const workers = procs.spawn("workers", crew.SteelWorker);
  await workers.throwLater.call("nobody catches this");
  await until(() => faults.length > 0);
  expect(faults[0]!.cause.message).toMatch(/^process \d+ exited with code 1 on host unix:/);
  expect(faults[0]!.report()).toContain("nobody catches this");
});

test("actors on different hosts and on the same host call each other, and the end of one is an error for the other", async () => {
  const { addresses } = await twoHosts();
  await using hosts = attachPatiently(addresses);
  const procs = hosts.spawnProcs({ gpus: 3 });
  const workers = procs.spawn("workers", crew.SteelWorker);
  await workers.ready;
  const [one, two, near] = [0, 1, 2].map((at) => workers.slice({ hosts: 0, gpus: at }));
  const far = workers.slice({ hosts: 1, gpus: 1 });
  expect(await one!.order.callOne(workers.slice({ hosts: 1 }), "hello")).toEqual(["hello", "hello", "hello"]);
  expect(await two!.order.callOne(near!, "hello")).toEqual(["hello"]);
  const pids = await Promise.all([far, near!].map(async (worker) => (await worker.where.callOne()).pid));
  far.spin.broadcast();
  near!.spin.broadcast();
  const asked = [one!.order.callOne(far, "?"), two!.order.callOne(near!, "?")];
  const errors = Promise.all(asked.map((call) => call.then(undefined, (error: Error) => error.message)));
  await new Promise((resolve) => setTimeout(resolve, 200));
  for (const pid of pids) process.kill(pid, "SIGKILL");
  for (const message of await errors)
    expect(message).toMatch(/^cannot call workers\.echo on rank 0( \(workers\[\d\]\))?: /);
  await until(() => faults.length === 2);
});

test("processes of an actor on a host run there, are reachable from all processes, and end with the actor", async () => {
  const { one, addresses } = await twoHosts();
  await using hosts = attachPatiently(addresses);
  const workers = hosts.spawnProcs({ gpus: 2 }).spawn("workers", crew.SteelWorker);
  const boss = workers.slice({ hosts: 0, gpus: 0 });
  const hired = await boss.hire.callOne(2);
  expect([...(await hired.env.call("TMPDIR")).values()]).toEqual([one.folder, one.folder]);
  const [near, far] = [workers.slice({ hosts: 0, gpus: 1 }), workers.slice({ hosts: 1, gpus: 0 })];
  expect(await near.order.callOne(hired, "from beside it")).toEqual(["from beside it", "from beside it"]);
  expect(await far.order.callOne(hired, "from afar")).toEqual(["from afar", "from afar"]);
  const pids = [...(await hired.where.call()).values()].map(({ pid }) => pid);
  process.kill((await boss.where.callOne()).pid, "SIGKILL");
  await until(() => pids.every(gone));
  await until(() => faults.length === 1);
  await expect(far.order.callOne(hired, "too late")).rejects.toThrow("cannot call crew.echo on rank");
});

test("a process is replaced on the same host", async () => {
  const { addresses, two } = await twoHosts();
  await using hosts = attachPatiently(addresses);
  const procs = hosts.spawnProcs();
  const workers = procs.spawn("workers", crew.SteelWorker);
  const far = workers.slice({ hosts: 1 });
  const before = await far.where.callOne();
  await procs.slice({ hosts: 1 }).replace({ env: { REPLACED: "yes" } });
  const after = await far.where.callOne();
  expect(after.pid).not.toBe(before.pid);
  expect(await far.env.callOne("REPLACED")).toBe("yes");
  expect(await far.env.callOne("TMPDIR")).toBe(two.folder);
  expect(await workers.slice({ hosts: 0 }).order.callOne(far, "found")).toEqual(["found"]);
  await until(() => gone(before.pid));
  expect(faults).toEqual([]);
});

test("a process that cannot be started is a failure of its rank", async () => {
  const host = await startHost();
  await using hosts = attachPatiently([host.address]);
  const procs = hosts.spawnProcs({}, { execArgv: ["--no-such-option"], name: "odd" });
  await expect(procs.ready).rejects.toThrow(
    new RegExp(
      `^mesh "odd" is not ready: rank 0: process \\d+ exited with code 9: Node\\.js ${process.versions.node} does not know ` +
        "the option --no-such-option \\(execArgv\\) on host ",
    ),
  );
  await until(() => faults.length > 0);
  expect(faults).toMatchObject([{ mesh: "odd", ranks: [0], kind: "process" }]);
});
