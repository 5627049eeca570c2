/** Tests that a driver that reaches a URL alone works with all hosts behind it. What ingresses do is in `ingress.test.ts`. */
import { attachHosts } from "viceroy";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Authority } from "../../link/transport/tls/certificates.js";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { gone, until } from "../../proc/until.js";
import { attachPatiently } from "../attach-patiently.js";
import { startProxy } from "../proxy.js";
import { runHost, startHost } from "../start-host.js";
import { areConnected } from "../tcp-connections.js";
import { startWebSocketHost } from "./websocket-hosts.js";

let crew: Crew;
let authority: Authority;
const faults = collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
  authority = new Authority();
});
afterAll(() => authority.remove());

const token = "a token of more than enough characters";
const env = { VICEROY_TOKEN: token };

function tlsArgs(by = authority): string[] {
  const { cert, key, ca } = by.issue("host");
  return ["--cert", cert, "--key", key, "--ca", ca];
}

/** Sends numbered calls while connections are cut, and checks that each is handled once and in order. */
async function countWhileCut(hosts: ReturnType<typeof attachHosts>, cut: () => void): Promise<void> {
  const worker = hosts.spawnProcs().spawn("workers", crew.SteelWorker).slice({ hosts: 0 });
  await worker.keep.callOne(new Uint8Array([0]));
  const answers: Promise<number>[] = [];
  for (let i = 1; i <= 200; i++) {
    answers.push(Promise.resolve(worker.keep.callOne(new Uint8Array([i]))));
    if (i % 50 === 0) cut();
    if (i % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(await Promise.all(answers)).toEqual(Array.from({ length: 200 }, (_, i) => i));
  expect(faults).toEqual([]);
}

test("all connections of the driver are WebSockets to the gateway, and hosts reach each other as without one", async () => {
  const [gateway, one, two] = await Promise.all([
    startWebSocketHost("tcp://127.0.0.1:0", [], env),
    startHost("tcp://127.0.0.1:0", [], env),
    startHost("tcp://127.0.0.1:0", [], env),
  ]);
  await using hosts = attachPatiently([one.address, two.address], { token, through: `${gateway.url}/any/path` });
  const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
  const places = [...(await workers.where.call()).values()];
  for (const { pid } of places) expect(areConnected(process.pid, pid)).toBe(false);
  for (const { child } of [one, two]) expect(areConnected(process.pid, child.pid!)).toBe(false);
  expect(areConnected(process.pid, gateway.child.pid!)).toBe(true);
  const [asker, far] = [workers.slice({ hosts: 0 }), workers.slice({ hosts: 1 })];
  expect(await asker.order.callOne(far, "hello")).toEqual(["hello"]);
  expect(areConnected(places[0]!.pid, places[1]!.pid)).toBe(true);
  await hosts.stop();
  await until(() => places.every(({ pid }) => gone(pid)));
  await until(() => !areConnected(process.pid, gateway.child.pid!));
});

test("the gateway can be one of the hosts, whose processes never get its URL", async () => {
  const gateway = await startWebSocketHost("tcp://127.0.0.1:0", [], env);
  await using hosts = attachPatiently([gateway.address], { token, through: gateway.url });
  const workers = hosts.spawnProcs({ gpus: 2 }).spawn("workers", crew.SteelWorker);
  const [asker, far] = [workers.slice({ gpus: 0 }), workers.slice({ gpus: 1 })];
  expect(await asker.order.callOne(far, "hello")).toEqual(["hello"]);
  await hosts.shutdown();
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
});

test("calls are handled once and in order while WebSockets are cut", async () => {
  const [gateway, one] = await Promise.all([
    startWebSocketHost("tcp://127.0.0.1:0", [], env),
    startHost("tcp://127.0.0.1:0", [], env),
  ]);
  const proxy = await startProxy(gateway.url);
  await using hosts = attachPatiently([one.address], { token, through: proxy.address.replace("tcp", "ws") });
  await countWhileCut(hosts, () => proxy.cut());
});

test("with TLS inside, calls are handled once and in order while WebSockets are cut", async () => {
  const [gateway, one] = await Promise.all([
    startWebSocketHost("tls://127.0.0.1:0", tlsArgs()),
    startHost("tls://127.0.0.1:0", tlsArgs()),
  ]);
  const proxy = await startProxy(gateway.url);
  const tls = authority.issue("driver");
  await using hosts = attachPatiently([one.address], { tls, through: proxy.address.replace("tcp", "ws") });
  await countWhileCut(hosts, () => proxy.cut());
});

test("a gateway of another authority is refused by the driver, and the driver by the gateway", async () => {
  const strangers = new Authority();
  const [gateway, one] = await Promise.all([
    startWebSocketHost("tls://127.0.0.1:0", tlsArgs(strangers)),
    startHost("tls://127.0.0.1:0", tlsArgs()),
  ]);
  const attach = (tls: ReturnType<Authority["issue"]>) => attachPatiently([one.address], { tls, through: gateway.url });
  const refused = `cannot attach host ${one.address}: cannot reach the driver gateway ${gateway.url}: `;
  await using first = attach(authority.issue("driver"));
  await expect(first.ready).rejects.toThrow(
    `${refused}this process does not trust the certificate of the host: self-signed certificate in certificate chain`,
  );
  await using second = attach({ ...authority.issue("driver"), ca: strangers.issue("x").ca });
  await expect(second.ready).rejects.toThrow(
    `${refused}the host does not trust the certificate of this process: UNABLE_TO_VERIFY_LEAF_SIGNATURE`,
  );
  strangers.remove();
});

test("a host of a job proves its identity inside of the WebSocket, and another one is refused", async () => {
  const identity = "viceroy://job/hosts/mesh/0";
  const { cert, key, ca } = authority.issue("member", 1, `URI:${identity}`);
  const gateway = await startWebSocketHost("tls://127.0.0.1:0", ["--cert", cert, "--key", key, "--ca", ca]);
  expect(gateway.output.text).toContain(`listens at ${gateway.url}#${identity}\n`);
  const tls = authority.issue("leader", 1, "URI:viceroy://job/driver");
  await using hosts = attachPatiently([gateway.address], { tls, through: `${gateway.url}#${identity}` });
  const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
  expect(await workers.echo.callOne("hello")).toBe("hello");
  await using other = attachPatiently([gateway.address], { tls, through: `${gateway.url}#viceroy://job/hosts/mesh/1` });
  await expect(other.ready).rejects.toThrow(`expected viceroy://job/hosts/mesh/1, got ${identity}`);
});

test("a driver with another token is refused, and the gateway notes it with the address of the peer", async () => {
  const gateway = await startWebSocketHost("tcp://127.0.0.1:0", [], env);
  await using hosts = attachPatiently([gateway.address], { token: `${token}!`, through: gateway.url });
  await expect(hosts.ready).rejects.toThrow(
    `cannot reach the driver gateway ${gateway.url}: the token is not that of this process`,
  );
  const noted = /viceroy host: refused a connection from 127\.0\.0\.1:\d+: the token is not that of this process/;
  await until(() => noted.test(gateway.output.text));
});

test("a driver waits for a gateway that is not there yet, within its time limit", async () => {
  await using hosts = attachHosts(["tcp://127.0.0.1:9"], { token, timeout: 1500, through: "ws://127.0.0.1:9/viceroy" });
  await expect(hosts.ready).rejects.toThrow(
    "cannot attach host tcp://127.0.0.1:9: cannot reach the driver gateway ws://127.0.0.1:9/viceroy: connect ECONNREFUSED 127.0.0.1:9; tried for 1500 ms",
  );
});

test("a gateway that ends is named by its URL", async () => {
  const [gateway, one] = await Promise.all([
    startWebSocketHost("tcp://127.0.0.1:0", [], env),
    startHost("tcp://127.0.0.1:0", [], env),
  ]);
  await using hosts = attachPatiently([one.address], { token, through: gateway.url, absence: 2000, keepAlive: 2000 });
  const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
  await workers.echo.callOne("hello");
  gateway.child.kill("SIGKILL");
  const calls = async () => {
    for (;;) await workers.echo.callOne("still there?");
  };
  await expect(calls()).rejects.toThrow(`the driver gateway ${gateway.url} is gone`);
  await until(() => faults.length > 0);
  faults.length = 0;
});

test.each([
  [
    ["--listen", "ws://127.0.0.1:0"],
    "cannot start a host: only drivers reach ws:// addresses; give another address with --listen, by which other hosts reach this one",
  ],
  [
    ["--listen", "unix:///tmp/never/host.sock", "--listen", "ws://0.0.0.0:0"],
    "cannot listen at ws://0.0.0.0:0: anyone who reaches it could run programs here; give a certificate (--cert, --key and --ca), " +
      "give a token (--token-file or VICEROY_TOKEN), or say --insecure",
  ],
  [["--listen", "ws://127.0.0.1"], 'cannot read address "ws://127.0.0.1": expected ws://host:port'],
  [["--listen", "ws://127.0.0.1:80/path"], 'cannot read address "ws://127.0.0.1:80/path": expected ws://host:port'],
  [
    ["--listen", "wss://127.0.0.1:80"],
    'cannot read address "wss://127.0.0.1:80": a host listens at ws://host:port, and what is in front of it ends the TLS of wss://',
  ],
])("viceroy host %j is refused", async (args, why) => {
  const { exited, output } = runHost("/tmp", args);
  expect((await exited).code).not.toBe(0);
  expect(output.text).toContain(why);
});

test.each([
  [
    { through: "https://gateway.example.com" },
    'cannot attach hosts: expected through as the address of a host, or as the URL of a WebSocket, wss://host/path, got "https://gateway.example.com"',
  ],
  [{ through: "ws://a b" }, 'cannot read the URL "ws://a b": expected wss://host/path or ws://host:port/path'],
  [
    { through: "wss://h#viceroy://job/hosts/mesh/0" },
    "cannot attach hosts: wss://h#viceroy://job/hosts/mesh/0 says who must answer, and to check that needs a certificate, its key and an authority; give their files as tls",
  ],
])("options that cannot be used are refused: %j", (options, expected) => {
  expect(() => attachHosts(["tcp://n2"], { token, ...options })).toThrow(expected);
});
