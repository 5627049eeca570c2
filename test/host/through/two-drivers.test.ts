/** Tests that two drivers with certificates of their own share hosts and a driver gateway, and nothing else. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { offerLink } from "../../../runtime/link/handshake/dial.js";
import type { LinkOffer } from "../../../runtime/link/handshake/message.js";
import { connectTo } from "../../../runtime/link/transport/connect.js";
import { parseNetworkAddress } from "../../../runtime/link/transport/network-address.js";
import type { Pipe } from "../../../runtime/link/transport/pipe.js";
import { FileCredentials, type TlsFiles } from "../../../runtime/link/transport/tls/credentials.js";
import { newTunnelFrame, numberBody, openBody, TunnelKind, textBody } from "../../../runtime/link/tunnel/frame.js";
import { makeNodePlatform } from "../../../runtime/proc/platform/node-platform.js";
import { ByteRecorder } from "../../link/transport/byte-recorder.js";
import { Authority } from "../../link/transport/tls/certificates.js";
import { compileCrew } from "../../proc/crew.js";
import { gone, until } from "../../proc/until.js";
import { type OrderedDriver, startDriver } from "../ordered-driver.js";
import { type RunningHost, startHost } from "../start-host.js";
import { listeningPortsOf } from "../tcp-connections.js";

const job = "7d0f";
const authority = new Authority();
const platform = makeNodePlatform();
const { clock, random } = platform;
let gateway: RunningHost;
let hosts: readonly RunningHost[];
let first: OrderedDriver;
let second: OrderedDriver;
/** The certificate of the second driver. */
let tls: TlsFiles;
/** The processes of the drivers on the hosts. */
let [pids, others]: [readonly number[], readonly number[]] = [[], []];

beforeAll(() => compileCrew());
afterAll(() => authority.remove());

beforeEach(async () => {
  const issue = (file: string, name: string) => authority.issue(file, 1, `URI:viceroy://${job}/${name}`);
  const start = (rank: number) => {
    const { cert, key, ca } = issue(`host-${rank}`, `hosts/workers/${rank}`);
    return startHost("tls://127.0.0.1:0", ["--cert", cert, "--key", key, "--ca", ca]);
  };
  [gateway, ...hosts] = await Promise.all([start(0), start(1), start(2)]);
  tls = issue("second", "driver");
  const addresses = hosts.map(({ address }) => address);
  const through = gateway.address;
  [first, second] = await Promise.all([
    startDriver(addresses, { tls: issue("first", "driver"), through }),
    startDriver(addresses, { tls, through }),
  ]);
  [pids, others] = (await Promise.all([first.order("spawn"), second.order("spawn")])) as [number[], number[]];
  await first.order("spawnHere");
});

/** Returns the numbers of the agents of both drivers on a host, and of the processes that they have started: the names of directories and sockets. */
function numbersOn({ folder, drivers }: RunningHost): { readonly agents: bigint[]; readonly processes: bigint[] } {
  const names = drivers();
  const numberIn = (name: string) => BigInt(`0x${/[\da-f]{16}/.exec(name)![0]}`);
  const sockets = names.flatMap((name) => readdirSync(join(folder, name)).filter((file) => file.endsWith(".sock")));
  return { agents: names.map(numberIn), processes: sockets.map(numberIn) };
}

/** Offers a link over a connection. Resolves with its kind, or the words of the refusal. */
async function offered(pipe: Pipe, offer: Partial<LinkOffer>): Promise<string> {
  const own = { universe: random.id(), from: random.id(), to: random.id(), link: random.id() };
  const given: LinkOffer = { ...own, first: true, received: 0, direct: false, use: "link", ...offer };
  try {
    const outcome = await offerLink(pipe, given, { clock, random });
    if (outcome.kind === "open") outcome.pipe.destroy();
    return outcome.kind;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Makes a tunnel to the gateway as the second driver. */
async function openTunnel(): Promise<{ readonly pipe: Pipe }> {
  const offer: LinkOffer = {
    ...{ universe: random.id(), from: random.id(), to: 0n, link: random.id() },
    ...{ first: true, received: 0, direct: true, use: "tunnel" },
  };
  const outcome = await offerLink(await connectAs(gateway.address, tls), offer, { clock, random });
  if (outcome.kind !== "open") throw new Error("the gateway has redirected a tunnel");
  return outcome;
}

const connectAs = (address: string, files: TlsFiles) =>
  connectTo(parseNetworkAddress(address), new FileCredentials(files));

const stranger = "the agent belongs to a driver with another certificate";

test("the certificate of another driver opens no session, continues no link and reaches no process, whatever numbers it knows", async () => {
  const universe = first.universe();
  for (const [rank, host] of hosts.entries()) {
    await until(() => numbersOn(host).processes.length === 2);
    const { agents, processes } = numbersOn(host);
    expect(agents).toHaveLength(2);
    const offers = [
      {},
      { direct: true },
      { first: false },
      { first: false, received: 100 },
      { direct: true, use: "memory" },
    ] as const;
    for (const offer of offers) {
      // One of the agents is that of the second driver itself, which is not in the tree of the first.
      const answers = await Promise.all(
        agents.map(async (to) => offered(await connectAs(host.address, tls), { universe, to, ...offer })),
      );
      expect(answers).toContain(stranger);
      expect(answers.filter((answer) => answer === "open" || answer === "redirect")).toEqual([]);
    }
    // The process of the first driver listens itself.
    const [port] = listeningPortsOf(pids[rank]!);
    const address = host.address.replace(/:\d+#/, `:${port}#`);
    for (const to of processes) {
      for (const use of ["link", "memory"] as const) {
        const answer = await offered(await connectAs(address, tls), { universe, to, direct: true, use });
        expect(answer).toBe("this process belongs to a driver with another certificate");
      }
    }
  }
  expect(await first.order("echo", "untouched")).toEqual(["untouched", "untouched"]);
});

test("hostile frames over the tunnel of one driver reach no channel of the other", async () => {
  const attacks: readonly ((channel: number) => Uint8Array)[] = [
    (channel) => newTunnelFrame(TunnelKind.data, channel, new Uint8Array(1000).fill(7)),
    (channel) => newTunnelFrame(TunnelKind.reset, channel, textBody("stolen")),
    (channel) => newTunnelFrame(TunnelKind.end, channel),
    (channel) => newTunnelFrame(TunnelKind.credit, channel, numberBody(1000)),
    (channel) => newTunnelFrame(TunnelKind.opened, channel, numberBody(65_536)),
    (channel) => newTunnelFrame(TunnelKind.open, channel, openBody(65_536, "not an address")),
    (channel) => newTunnelFrame(99, channel),
  ];
  for (const attack of attacks) {
    const { pipe } = await openTunnel();
    const recorder = new ByteRecorder(pipe);
    for (let channel = 1; channel <= 64; channel++) pipe.write([attack(channel)], () => {});
    expect(await first.order("echo", "untouched")).toEqual(["untouched", "untouched"]);
    pipe.destroy();
    await recorder.end;
  }
  expect(await second.order("echo", "mine")).toEqual(["mine", "mine"]);
  expect([...pids, ...others].filter(gone)).toEqual([]);
});

test("a driver sees that the other one uses the hosts, and learns no number by which it could reach it", async () => {
  const text = JSON.stringify(await second.order("describe"));
  for (const pid of pids) expect(text).toContain(`"pid":${pid},`);
  const numbers = hosts.flatMap((host) => Object.values(numbersOn(host)).flat());
  for (const number of [first.universe(), ...numbers]) {
    expect(text).not.toContain(`${number}`);
    expect(text).not.toContain(number.toString(16).padStart(16, "0"));
  }
  await expect(second.order("callPublished", "workers")).rejects.toThrow(
    "no program has published a mesh by this name",
  );
});

test("the death of one driver ends its own processes, and touches neither calls nor processes of the other", async () => {
  const slow = first.order("slowEcho", "answered");
  second.child.kill("SIGKILL");
  await until(() => others.every(gone));
  expect(pids.filter(gone)).toEqual([]);
  expect(await slow).toEqual(["answered", "answered"]);
  expect(await first.order("echo", "alive")).toEqual(["alive", "alive"]);
});
