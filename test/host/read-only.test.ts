/** Tests of drivers that only look at hosts: what they see, and that hosts refuse everything else. */
import { createServer } from "node:net";
import { attachHosts } from "viceroy";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { HostAgentMesh, StartOrder } from "../../generated/host-agent.js";
import { setMainRoot } from "../../runtime/actor/context.js";
import { AttachedHost, type HostAccess } from "../../runtime/host/attached/attached-host.js";
import { parseTargets } from "../../runtime/host/attached/host-targets.js";
import { offerLink } from "../../runtime/link/handshake/dial.js";
import type { LinkOffer } from "../../runtime/link/handshake/message.js";
import { connectTo } from "../../runtime/link/transport/connect.js";
import { parseNetworkAddress } from "../../runtime/link/transport/network-address.js";
import { FileCredentials, type TlsFiles } from "../../runtime/link/transport/tls/credentials.js";
import { makeNodePlatform } from "../../runtime/proc/platform/node-platform.js";
import { ProcessRuntime } from "../../runtime/proc/process/process-runtime.js";
import { DriverGateway } from "../../runtime/proc/remote/driver-gateway.js";
import type { HostRoute } from "../../runtime/proc/remote/host-route.js";
import { Authority } from "../link/transport/tls/certificates.js";
import { compileCrew } from "../proc/crew.js";
import { gone, until } from "../proc/until.js";
import { attachPatiently, patience } from "./attach-patiently.js";
import { startDriver } from "./ordered-driver.js";
import { type RunningHost, startHost } from "./start-host.js";

const job = "7d0f";
const authority = new Authority();
const platform = makeNodePlatform();
beforeAll(() => compileCrew());
afterAll(() => authority.remove());

function issue(name: string): TlsFiles {
  return authority.issue(name.replaceAll("/", "-"), 1, `URI:viceroy://${job}/${name}`);
}

async function secureHost(rank: number): Promise<RunningHost> {
  const { cert, key, ca } = issue(`hosts/workers/${rank}`);
  return startHost("tls://127.0.0.1:0", ["--cert", cert, "--key", key, "--ca", ca]);
}

function insecureHost(): Promise<RunningHost> {
  return startHost("tcp://127.0.0.1:0", ["--insecure"]);
}

/** Attaches a host as a driver that lies: it has the certificate of a viewer, and does not say that it only looks. */
async function attachAsLiar({ address }: RunningHost, tls: TlsFiles): Promise<AttachedHost> {
  const runtime = new ProcessRuntime(platform, undefined, () => {});
  setMainRoot(runtime.mainProc.proc.root);
  const proof = { tls: { ...tls } };
  const access: HostAccess = { ...patience, registry: undefined, proof, isSameLog: true, readOnly: false };
  const [target] = parseTargets([address], { failed: "cannot attach", hasCertificate: true });
  // Hosts that are dialled by a function are not watched by a process of their own, which the sources could not start.
  const way: HostRoute = { connect: (...to) => platform.connect(...to) };
  const host = new AttachedHost(runtime, { ...target!, dial: () => Promise.reject() }, { ...access, way });
  await host.ready;
  return host;
}

/** Offers a link to a host, as a process that has a certificate. Resolves with `open`, `redirect`, or the words of the refusal. */
async function offered(address: string, tls: TlsFiles, offer: Partial<LinkOffer>): Promise<string> {
  const pipe = await connectTo(parseNetworkAddress(address), new FileCredentials(tls));
  const { clock, random } = platform;
  const given = { universe: 1n, from: 2n, to: 3n, link: random.id(), first: true, received: 0, direct: false };
  try {
    const outcome = await offerLink(pipe, { ...given, use: "link", ...offer }, { clock, random });
    if (outcome.kind === "open") outcome.pipe.destroy();
    return outcome.kind;
  } catch (error) {
    return (error as Error).message;
  }
}

const order: StartOrder = {
  ...{ proc: 1n, maker: 2n, rank: 0, extent: [], location: "", label: "stolen", env: {}, unset: [], execArgv: [] },
  output: false,
};

test("a driver with readOnly sees the drivers, their processes and the published meshes, and hosts note that it looks", async () => {
  const host = await insecureHost();
  const driver = await startDriver([host.address]);
  const pids = await driver.order("spawn");
  await driver.order("publish", "workers");
  await using hosts = attachPatiently([host.address], { readOnly: true });
  const [described] = await hosts.describe();
  expect(described).toMatchObject({ address: host.address, pid: host.child.pid, node: process.version });
  expect(described!.published).toEqual(["workers"]);
  const [first, viewer] = described!.drivers;
  expect(first!.readOnly).toBe(false);
  expect(first!.description).toContain(`process ${driver.child.pid} of user `);
  expect(first!.processes).toMatchObject([{ rank: 0 }]);
  expect(first!.processes.map(({ pid }) => pid)).toEqual(pids);
  expect(viewer).toMatchObject({ readOnly: true, processes: [] });
  expect(viewer!.attachedAt.getTime()).toBeGreaterThanOrEqual(first!.attachedAt.getTime());
  expect(host.output.text).toContain(`\nviceroy host: attached read-only: process ${process.pid} of user `);
  await hosts.stop();
  await until(() => host.output.text.includes(`\nviceroy host: left: process ${process.pid} of user `));
  expect(await driver.order("echo", "still")).toEqual(["still"]);
});

test("a driver with readOnly is told at once what it cannot do", async () => {
  const host = await insecureHost();
  await using hosts = attachHosts([host.address], { ...patience, readOnly: true, name: "seen" });
  const why =
    'this program has attached mesh "seen" of hosts read-only, by the option readOnly or by its certificate; attach the hosts ' +
    "without the option, with the certificate of a driver";
  expect(() => hosts.spawnProcs()).toThrow(`cannot spawn procs: ${why}`);
  await expect(hosts.shutdown()).rejects.toThrow(`cannot shut hosts down: ${why}`);
  await expect(hosts.sync()).rejects.toThrow(`cannot spawn procs: ${why}`);
  const { signal } = new AbortController();
  const run = async () => {
    for await (const _ of hosts.commandsAt(0).start({ command: ["true"], env: {} }, signal));
  };
  await expect(run()).rejects.toThrow(
    "cannot run a command: this driver is read-only, because it has attached this host with readOnly; attach the host " +
      "without this option",
  );
  expect(() => attachHosts([host.address], { readOnly: "yes" as never })).toThrow(
    'cannot attach hosts: expected readOnly as true or false, got "yes"',
  );
});

test("a program with the certificate of a viewer is read-only without saying so", async () => {
  const host = await secureHost(0);
  await using hosts = attachPatiently([host.address], { tls: issue("viewer") });
  const [described] = await hosts.describe();
  expect(described!.drivers).toMatchObject([{ readOnly: true }]);
  expect(() => hosts.spawnProcs()).toThrow("cannot spawn procs: this program has attached");
  await until(() => /: attached read-only: .* as viceroy:\/\/7d0f\/viewer,/.test(host.output.text));
});

test("a host refuses a viewer that lies everything that changes something, and goes on", async () => {
  const host = await secureHost(0);
  const driver = await startDriver([host.address], { tls: issue("driver") });
  const [pid] = (await driver.order("spawn")) as number[];
  await driver.order("publish", "workers");
  const liar = await attachAsLiar(host, issue("viewer"));
  const why = "this driver is read-only, because its certificate is that of viceroy://7d0f/viewer";
  const { publication } = await liar.ask((agent) => agent.findPublication.callOne("workers", 0));
  const call = { publication: publication!.id, rank: 0, sliceRank: 0, endpoint: 1, name: "echo", isCall: true };
  const relayed = { ...call, args: new Uint8Array(0), traceparent: "" };
  const attempts: readonly (readonly [string, (agent: HostAgentMesh) => PromiseLike<unknown>])[] = [
    ["start a process", (agent) => agent.start.callOne(order)],
    ["end a process", (agent) => agent.signal.callOne(1n, "kill")],
    ["call a published mesh", (agent) => agent.relayCall.callOne(relayed)],
    ["publish a mesh", (agent) => agent.publish.callOne({ ...publication!, id: 5n, name: "mine" })],
    ["withdraw a published mesh", (agent) => agent.unpublish.callOne(publication!.id, "no")],
    ["have an actor served", (agent) => agent.serve.callOne("mine", "{}")],
    ["start a controller", (agent) => agent.startController.callOne("{}")],
    ["hand its session over to a controller", (agent) => agent.hold.callOne(1000)],
    ["shut the host down", (agent) => agent.shutdown.callOne("no")],
  ];
  for (const [what, attempt] of attempts) {
    await expect(liar.ask(attempt), what).rejects.toThrow(`cannot ${what}: ${why}`);
  }
  expect(await driver.order("echo", "still")).toEqual(["still"]);
  expect(gone(pid!)).toBe(false);
  await liar.leave("the test has ended");
});

test("a viewer reaches neither processes nor the agents of other drivers, whatever ids it knows", async () => {
  const host = await secureHost(0);
  const driver = await startDriver([host.address], { tls: issue("driver") });
  await driver.order("spawn");
  await driver.order("spawnHere");
  const universe = driver.universe();
  const [agent] = host.drivers().map((name) => BigInt(`0x${name.slice("viceroy-".length)}`));
  const viewer = issue("viewer");
  expect(await offered(host.address, viewer, { universe, to: agent!, direct: true })).toBe(
    "the agent belongs to a driver with another certificate",
  );
  expect(await offered(host.address, viewer, { universe, to: 77n, direct: true })).toBe(
    "viceroy://7d0f/viewer only looks; it reaches no processes",
  );
  expect(await offered(host.address, viewer, { universe, to: 77n, direct: true, use: "memory" })).toBe(
    "viceroy://7d0f/viewer only looks; it reaches no processes",
  );
  expect(await driver.order("echo", "still")).toEqual(["still"]);
});

test("a viewer sees hosts through a driver gateway, which leads it to hosts of the job and to nothing else", async () => {
  const [gateway, inner] = await Promise.all([secureHost(0), secureHost(1)]);
  const viewer = issue("viewer");
  await using hosts = attachPatiently([inner.address], { tls: viewer, through: gateway.address });
  expect((await hosts.describe())[0]!.address).toBe(inner.address);
  await until(() => gateway.output.text.includes("a read-only driver reaches other hosts through this one, from "));
  expect(inner.output.text).not.toContain("refused a connection");
  const server = createServer((socket) => socket.end("secret"));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const way = (tls: TlsFiles) => {
    const runtime = new ProcessRuntime(platform, undefined, () => {});
    const candidates = () => parseTargets([gateway.address], { failed: "cannot attach", hasCertificate: true });
    const proof = { tls: { ...tls } };
    const route = new DriverGateway(platform, runtime.mainProc.proc, { candidates, proof, absence: 60_000 });
    onTestFinished(() => route.close());
    return route.connect({ kind: "tcp", host: "127.0.0.1", port }, undefined, AbortSignal.timeout(60_000));
  };
  await expect(way(viewer)).rejects.toThrow(
    "no host of the job answers there, and a read-only driver reaches nothing else through this host",
  );
  (await way(issue("driver"))).destroy();
});

test("a viewer that is gone leaves nothing, and one whose host is silent for too long loses the host", async () => {
  const host = await insecureHost();
  const viewer = await startDriver([host.address], { readOnly: true, silence: 2000, keepAlive: 1500 });
  await viewer.order("ready");
  await until(() => host.output.text.includes("attached read-only"));
  viewer.child.kill("SIGKILL");
  await until(() => /left: .*its driver has sent no beat for 1500 ms/.test(host.output.text));
  await using hosts = attachHosts([host.address], { ...patience, silence: 2000, readOnly: true });
  await hosts.ready;
  host.child.kill("SIGSTOP");
  onTestFinished(() => void host.child.kill("SIGKILL"));
  await until(async () => {
    const message = await hosts.describe().then(
      () => "",
      (error: Error) => error.message,
    );
    return message.includes(`host ${host.address} is gone: it has not answered for 2000 ms`);
  });
});
