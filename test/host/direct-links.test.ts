/**
 * Tests of direct links to processes on hosts, which bypass the daemon, and of unauthorised connections to their ports.
 */
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { parseNetworkAddress } from "../../runtime/link/transport/network-address.js";
import type { Pipe } from "../../runtime/link/transport/pipe.js";
import { makeNodePlatform } from "../../runtime/proc/platform/node-platform.js";
import { DirectLinks } from "../../runtime/proc/remote/direct-links.js";
import { connectToHost } from "../../runtime/proc/remote/host-connection.js";
import { openLinkPort } from "../../runtime/proc/remote/link-port.js";
import { World } from "../actor/world.js";
import { type Crew, loadCrew } from "../proc/crew.js";
import { gone, until } from "../proc/until.js";
import { attachPatiently } from "./attach-patiently.js";
import { startHost } from "./start-host.js";
import { areConnected, tcpSocketsOf } from "./tcp-connections.js";

let crew: Crew;
beforeAll(async () => {
  crew = await loadCrew();
});

const token = "a token of more than enough characters";

/** Starts two hosts with one process each, which have not exchanged messages yet. */
async function strangers(args: readonly string[] = []) {
  const start = () => startHost("tcp://127.0.0.1:0", args, { VICEROY_TOKEN: token });
  const [one, two] = await Promise.all([start(), start()]);
  const hosts = attachPatiently([one.address, two.address], { token });
  const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
  // A process that needs more than 5 s for its first handshake is reached through the daemon. It must have started before.
  await workers.ready;
  return { hosts, asker: workers.slice({ hosts: 0 }), far: workers.slice({ hosts: 1 }), daemon: two.child };
}

/** Starts two hosts with one process each. The daemon of the second host can be stopped. */
async function pair(args: readonly string[] = []) {
  const { hosts, asker, far, daemon } = await strangers(args);
  // The first messages select the path to a process.
  expect(await asker.order.callOne(far, "hello")).toEqual(["hello"]);
  expect(await far.echo.callOne("hello")).toBe("hello");
  return { hosts, asker, far, daemon };
}

test("a process that is too busy to answer for 2.5 s is linked directly", async () => {
  const { hosts, asker, far } = await strangers();
  const [from, to] = await Promise.all([asker.where.callOne(), far.where.callOne()]);
  process.kill(to.pid, "SIGSTOP");
  const answer = asker.order.callOne(far, "hello");
  // Longer than the limit for a connection, and much shorter than that for a handshake.
  await delay(2500);
  process.kill(to.pid, "SIGCONT");
  expect(await answer).toEqual(["hello"]);
  expect(areConnected(from.pid, to.pid)).toBe(true);
  await hosts.shutdown();
});

test("a stopped daemon does not delay messages to the processes of its host", async () => {
  const { hosts, asker, far, daemon } = await pair();
  daemon.kill("SIGSTOP");
  try {
    expect(await far.echo.callOne("from the driver")).toBe("from the driver");
    expect(await asker.order.callOne(far, "from another host")).toEqual(["from another host"]);
  } finally {
    daemon.kill("SIGCONT");
  }
  const { pid } = await far.where.callOne();
  await hosts.shutdown();
  await until(() => gone(pid));
});

test("with --single-port all links go through the daemon, and processes do not listen", async () => {
  const { hosts, asker, far, daemon } = await pair(["--single-port"]);
  const { pid } = await far.where.callOne();
  expect(listeningPorts(pid)).toBe(0);
  daemon.kill("SIGSTOP");
  const answers = Promise.all([far.echo.callOne("a"), asker.order.callOne(far, "b")]);
  const answered = await Promise.race([answers, delay(300, "nothing")]);
  daemon.kill("SIGCONT");
  expect(answered).toBe("nothing");
  expect(await answers).toEqual(["a", ["b"]]);
  await hosts.shutdown();
});

test("a process listens only on request, and only at the address of its host", async () => {
  const { hosts, far } = await pair();
  const { pid } = await far.where.callOne();
  expect(listeningPorts(pid)).toBe(1);
  await hosts.shutdown();
});

test("a port refuses connections without the token, for another process, or from another tree", async () => {
  const world = new World();
  const platform = makeNodePlatform();
  const { proc } = world.proc("listening");
  const owner = { proc, accept: (pipe: Pipe) => void proc.attach(pipe), acceptMemory: (pipe: Pipe) => pipe.destroy() };
  const port = await openLinkPort(platform, owner, { token }, { kind: "tcp", host: "127.0.0.1", port: 0 });
  const from = world.root.proc;
  const dial = (to: bigint, given: string, who = from) => {
    const address = { kind: "tcp" as const, host: "127.0.0.1", port: 1 };
    return new DirectLinks(platform).connect(to, who, { agent: 9n, address, proof: { token: given } }, port);
  };
  expect(await dial(proc.id, "another token, as long as the right one")).toBeUndefined();
  expect(await dial(proc.id + 1n, token)).toBeUndefined();
  expect(await dial(proc.id, token, new World().root.proc)).toBeUndefined();
  expect([...proc.routes.allLinks()]).toEqual([]);
  const pipe = await dial(proc.id, token);
  from.attach(pipe!, proc.id);
  await until(() => proc.routes.existingLink(from.id) !== undefined);
  world.close();
});

test("a connection to an unknown agent does not create a session", async () => {
  const host = await startHost("tcp://127.0.0.1:0", [], { VICEROY_TOKEN: token });
  const platform = makeNodePlatform();
  const from = new World().root.proc;
  const target = { address: parseNetworkAddress(host.address), proof: { token }, agent: 77n };
  await expect(connectToHost(platform, from, target, 60_000)).rejects.toThrow(
    "there is no such process here, or it does not listen",
  );
  const driver = await connectToHost(platform, from, { ...target, attaches: true }, 60_000);
  const other = await connectToHost(platform, new World().root.proc, target, 60_000).catch(({ message }) => message);
  expect(other).toBe("there is no such agent for this tree of processes");
  driver.destroy();
});

test("a port cannot be opened at a Unix socket", async () => {
  const { proc } = new World().proc("listening");
  const opened = openLinkPort(makeNodePlatform(), { proc, accept() {}, acceptMemory() {} }, undefined, {
    kind: "unix",
    path: "/nowhere",
  });
  await expect(opened).rejects.toThrow("cannot open a port: a Unix socket has none");
});

/** Returns the number of listening TCP sockets of a process, and checks that all are at 127.0.0.1. */
function listeningPorts(pid: number): number {
  const listening = "0A";
  const found = tcpSocketsOf(pid).filter((row) => row[3] === listening);
  for (const row of found) expect(row[1]).toMatch(/^0100007F:/);
  return found.length;
}
