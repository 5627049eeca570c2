/** Tests that a driver that reaches one host alone works with all hosts through it. The network is in `network.test.ts`. */
import { attachHosts } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { gone, until } from "../../proc/until.js";
import { attachPatiently } from "../attach-patiently.js";
import { startProxy } from "../proxy.js";
import { startHost } from "../start-host.js";
import { areConnected } from "../tcp-connections.js";

let crew: Crew;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

const token = "a token of more than enough characters";
const start = () => startHost("tcp://127.0.0.1:0", [], { VICEROY_TOKEN: token });

test("all connections of the driver go to the gateway, which connects to hosts and their processes", async () => {
  const [gateway, one, two] = await Promise.all([start(), start(), start()]);
  await using hosts = attachPatiently([one.address, two.address], { token, through: gateway.address });
  const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
  const places = [...(await workers.where.call()).values()];
  for (const { pid } of places) {
    await until(() => areConnected(gateway.child.pid!, pid));
    expect(areConnected(process.pid, pid)).toBe(false);
  }
  for (const { child } of [one, two]) expect(areConnected(process.pid, child.pid!)).toBe(false);
  expect(areConnected(process.pid, gateway.child.pid!)).toBe(true);
  // Processes of the hosts connect to each other.
  const [asker, far] = [workers.slice({ hosts: 0 }), workers.slice({ hosts: 1 })];
  expect(await asker.order.callOne(far, "hello")).toEqual(["hello"]);
  expect(areConnected(places[0]!.pid, places[1]!.pid)).toBe(true);
  await hosts.stop();
  await until(() => places.every(({ pid }) => gone(pid)));
  await until(() => !areConnected(process.pid, gateway.child.pid!));
});

test("the gateway can be one of the hosts, and all of them can be shut down through it", async () => {
  const [gateway, one] = await Promise.all([start(), start()]);
  // Without the answer of the gateway to the request to shut down, the driver would wait for it as long as that.
  const options = { token, through: gateway.address, absence: 600_000 };
  await using hosts = attachPatiently([gateway.address, one.address], options);
  const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
  expect([...(await workers.echo.call("both")).values()]).toEqual(["both", "both"]);
  await hosts.shutdown();
  expect(await Promise.all([gateway.exited, one.exited])).toEqual([
    { code: 0, signal: null },
    { code: 0, signal: null },
  ]);
});

test("calls are handled once and in order while the connections to the gateway are cut", async () => {
  const [gateway, one] = await Promise.all([start(), start()]);
  const proxy = await startProxy(gateway.address);
  await using hosts = attachPatiently([one.address], { token, through: proxy.address });
  const worker = hosts.spawnProcs().spawn("workers", crew.SteelWorker).slice({ hosts: 0 });
  await worker.keep.callOne(new Uint8Array([0]));
  const answers: Promise<number>[] = [];
  for (let i = 1; i <= 200; i++) {
    answers.push(Promise.resolve(worker.keep.callOne(new Uint8Array([i]))));
    if (i % 50 === 0) proxy.cut();
    if (i % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(await Promise.all(answers)).toEqual(Array.from({ length: 200 }, (_, i) => i));
  expect(faults).toEqual([]);
});

test("a driver that is cut off for longer than hosts wait for others loses nothing", async () => {
  const [gateway, one] = await Promise.all([start(), start()]);
  const proxy = await startProxy(gateway.address);
  const options = { token, through: proxy.address, keepAlive: 500, silence: 60_000, absence: 60_000 };
  await using hosts = attachPatiently([one.address], options);
  const worker = hosts.spawnProcs().spawn("workers", crew.SteelWorker).slice({ hosts: 0 });
  await worker.keep.callOne(new Uint8Array([0]));
  proxy.freeze();
  const answers = Array.from({ length: 50 }, (_, i) => worker.keep.callOne(new Uint8Array([i + 1])));
  await new Promise((resolve) => setTimeout(resolve, 3000));
  proxy.cut();
  proxy.thaw();
  expect(await Promise.all(answers)).toEqual(Array.from({ length: 50 }, (_, i) => i));
  expect(faults).toEqual([]);
});

test("a host that is not there, and a gateway that is not there, are named in the reason", async () => {
  const gateway = await start();
  const options = { token, timeout: 1000 };
  await using hosts = attachHosts(["tcp://127.0.0.1:9"], { ...options, through: gateway.address });
  await expect(hosts.ready).rejects.toThrow(
    `cannot attach host tcp://127.0.0.1:9: the driver gateway ${gateway.address} cannot connect to tcp://127.0.0.1:9: ` +
      "connect ECONNREFUSED 127.0.0.1:9",
  );
  await using lost = attachHosts([gateway.address], { ...options, through: "tcp://127.0.0.1:9" });
  await expect(lost.ready).rejects.toThrow(
    `cannot attach host ${gateway.address}: cannot reach the driver gateway tcp://127.0.0.1:9: connect ECONNREFUSED 127.0.0.1:9`,
  );
});

test("a driver with another token gets no tunnel", async () => {
  const [gateway, one] = await Promise.all([start(), start()]);
  await using hosts = attachPatiently([one.address], { token: `${token}!`, through: gateway.address });
  await expect(hosts.ready).rejects.toThrow(
    `cannot attach host ${one.address}: cannot reach the driver gateway ${gateway.address}: the token is not that of this process`,
  );
});

test("a gateway that is away for longer than the absence takes its hosts from the driver, and the reason says so", async () => {
  const [gateway, one] = await Promise.all([start(), start()]);
  await using hosts = attachPatiently([one.address], {
    token,
    through: gateway.address,
    absence: 2000,
    keepAlive: 2000,
  });
  const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
  const { pid } = await workers.where.callOne();
  gateway.child.kill("SIGKILL");
  const calls = async () => {
    for (;;) await workers.echo.callOne("still there?");
  };
  await expect(calls()).rejects.toThrow(
    `the driver gateway ${gateway.address} is gone, and none took its place within 2000 ms: connect ECONNREFUSED`,
  );
  await until(() => gone(pid));
  await until(() => faults.length > 0);
  faults.length = 0;
});

test.each([
  [
    { absence: 5000 },
    "cannot attach hosts: absence is for hosts that are reached through another one; give its address as through",
  ],
  [
    { through: "tcp://n1", absence: 10 },
    "cannot attach hosts: expected absence in milliseconds, from 1000 to 600000, got 10",
  ],
  [
    { through: "http://n1" },
    'cannot attach hosts: expected through as the address of a host, or as the URL of a WebSocket, wss://host/path, got "http://n1"',
  ],
  [
    { through: "tls://n1" },
    "cannot attach hosts: tls:// needs a certificate, its key and an authority; give their files as tls",
  ],
])("options that cannot be used are refused: %j", (options, expected) => {
  expect(() => attachHosts(["tcp://n2"], { token, ...options })).toThrow(expected);
});
