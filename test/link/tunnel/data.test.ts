/** Tests of data connections: the tunnel announces them, and their bytes go beside it. All connections are real. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { systemClock, systemRandom } from "../../../runtime/link/clock.js";
import { connectSocket, connectVia, type ListenOptions, listenAt } from "../../../runtime/link/transport/connect.js";
import { inProcessPipePair } from "../../../runtime/link/transport/in-process/pipe.js";
import type { SocketAddress } from "../../../runtime/link/transport/network-address.js";
import type { Pipe } from "../../../runtime/link/transport/pipe.js";
import { openingOf } from "../../../runtime/link/transport/socket/data-connection.js";
import type { Credentials } from "../../../runtime/link/transport/tls/credentials.js";
import { FileCredentials } from "../../../runtime/link/transport/tls/credentials.js";
import { ArrivedConnections } from "../../../runtime/link/tunnel/arrived-connections.js";
import { TunnelDialler } from "../../../runtime/link/tunnel/dial.js";
import { newTunnelFrame, openDataBody, TunnelKind } from "../../../runtime/link/tunnel/frame.js";
import { TunnelServer } from "../../../runtime/link/tunnel/serve.js";
import { Tunnel } from "../../../runtime/link/tunnel/tunnel.js";
import { until } from "../../proc/until.js";
import { ManualClock } from "../resumable/cut-world.js";
import { Authority } from "../transport/tls/certificates.js";
import { Counter, settled, sumOf } from "./joined.js";

const never = () => new AbortController().signal;
const bytes = Uint8Array.from({ length: 3_000_001 }, (_, i) => (i * 13) & 0xff);
const echo = () => createServer((socket) => void socket.on("error", () => {}).pipe(socket));

/** Starts a TCP server, and counts its connections. */
async function listening(server: Server): Promise<{ readonly address: SocketAddress; readonly sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { address: { kind: "tcp", host: "127.0.0.1", port: (server.address() as AddressInfo).port }, sockets };
}

interface GatewayOptions {
  readonly kind?: "tcp" | "tls";
  readonly listen?: ListenOptions;
  /** The address at which drivers look for data connections. Default: that of the gateway. */
  readonly door?: SocketAddress;
  readonly credentials?: Credentials;
}

/** A gateway that listens, and a driver that has a tunnel to it. The tunnel does not pass the listener, so that all its connections are for data. */
async function startGateway({ kind = "tcp", listen, door, credentials }: GatewayOptions = {}) {
  const clock = systemClock;
  const arrived = new ArrivedConnections(clock);
  const server = new TunnelServer({ clock, connect: connectSocket, arrived });
  const others: Pipe[] = [];
  let data = 0;
  const listener = await listenAt({ kind, host: "127.0.0.1", port: 0 }, (pipe) => others.push(pipe), {
    ...listen,
    takeData(...came) {
      data++;
      arrived.arrived(...came);
    },
  });
  onTestFinished(() => listener.close());
  const gateway = door ?? (listener.address as SocketAddress);
  const tunnels: Pipe[] = [];
  const make = async () => {
    const [near, far] = inProcessPipePair();
    tunnels.push(near);
    server.accept(far);
    return near;
  };
  const dialler = new TunnelDialler({ clock, gateways: () => [{ name: "tcp://gateway:26600", connect: make }] });
  onTestFinished(() => dialler.close());
  const dialTo = (address: SocketAddress, signal = never()) =>
    dialler.connectData(
      address,
      () => (opening, ended, lifetime) => connectVia({ gateway, opening, lifetime }, address, credentials, ended),
      systemRandom,
      signal,
    );
  return { server, dialler, dialTo, tunnels, others, address: listener.address as SocketAddress, came: () => data };
}

test("bytes reach a server and come back, and none of them pass the tunnel", async () => {
  const { server, dialTo, came, others, tunnels } = await startGateway();
  const { address, sockets } = await listening(echo());
  const pipes = (await Promise.all([1, 2, 3].map(() => dialTo(address)))) as Pipe[];
  const heard = pipes.map((pipe) => new Counter(pipe));
  for (const pipe of pipes) pipe.write([bytes], () => {});
  await until(() => heard.every((each) => each.bytes === bytes.length));
  expect(heard.map(({ sum }) => sum)).toEqual(pipes.map(() => sumOf(bytes)));
  expect([came(), others.length, tunnels.length, server.channelCount]).toEqual([3, 0, 1, 3]);
  pipes[0]!.close();
  await until(() => sockets.size === 2 && server.channelCount === 2);
  expect(heard.map(({ end }) => end)).toEqual(["in order", undefined, undefined]);
});

test("many at once come all", async () => {
  const { server, dialTo, came } = await startGateway();
  const { address } = await listening(echo());
  const pipes = await Promise.all(Array.from({ length: 300 }, () => dialTo(address)));
  expect([pipes.includes(undefined), came(), server.channelCount]).toEqual([false, 300, 300]);
});

test("a data connection ends with its tunnel, on both sides", async () => {
  const { server, dialler, dialTo } = await startGateway();
  const { address, sockets } = await listening(echo());
  const heard = new Counter((await dialTo(address))!);
  dialler.close();
  await until(() => heard.end !== undefined && sockets.size === 0);
  expect([heard.end, server.channelCount]).toEqual(["the tunnel has ended", 0]);
});

test("a server that ends its connection ends the data connection", async () => {
  const { server, dialTo } = await startGateway();
  const { address } = await listening(createServer((socket) => void socket.on("error", () => {}).end(bytes)));
  const heard = new Counter((await dialTo(address))!);
  await until(() => heard.end !== undefined);
  expect([heard.bytes, heard.sum, heard.end]).toEqual([bytes.length, sumOf(bytes), "in order"]);
  await until(() => server.channelCount === 0);
});

test("a peer that does not read makes the writer wait", async () => {
  const { dialTo } = await startGateway();
  const { address } = await listening(createServer((socket) => void socket.on("error", () => {}).pause()));
  const pipe = (await dialTo(address))!;
  new Counter(pipe);
  let written = 0;
  for (let i = 0; i < 64; i++) pipe.write([new Uint8Array(1024 * 1024)], () => written++);
  let before = -1;
  while (written !== before) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  // The system holds some MiB for each of the sockets.
  expect(written).toBeLessThan(32);
  pipe.destroy();
});

test("an address that cannot be connected is refused with the reason", async () => {
  const { server, dialTo } = await startGateway();
  await expect(dialTo({ kind: "tcp", host: "127.0.0.1", port: 9 })).rejects.toMatchObject({
    code: "ECONNREFUSED",
    message:
      "the driver gateway tcp://gateway:26600 cannot connect to tcp://127.0.0.1:9: connect ECONNREFUSED 127.0.0.1:9",
  });
  await until(() => server.channelCount === 0);
});

test("where data connections do not come, the driver finds out once, and uses the tunnel", async () => {
  const { address: door, sockets } = await listening(
    createServer((socket) => void socket.on("error", () => {}).resume()),
  );
  const { dialler, dialTo, came, tunnels } = await startGateway({ door });
  const { address } = await listening(echo());
  expect(await Promise.all([dialTo(address), dialTo(address)])).toEqual([undefined, undefined]);
  const tried = sockets.size;
  expect(await dialTo(address)).toBeUndefined();
  const pipe = await dialler.connect(address, never());
  const heard = new Counter(pipe);
  pipe.write([bytes], () => {});
  await until(() => heard.bytes === bytes.length);
  expect([came(), tunnels.length, sockets.size <= tried]).toEqual([0, 1, true]);
});

test("an attempt that is aborted rejects with the reason, and leaves nothing", async () => {
  const { address: door, sockets } = await listening(
    createServer((socket) => void socket.on("error", () => {}).resume()),
  );
  const { dialTo, server } = await startGateway({ door });
  const { address } = await listening(echo());
  const given = new AbortController();
  const attempt = dialTo(address, given.signal);
  await until(() => sockets.size === 1 && server.channelCount === 1);
  given.abort(new Error("enough"));
  await expect(attempt).rejects.toThrow("enough");
  await until(() => sockets.size === 0 && server.channelCount === 0);
  await expect(dialTo(address, AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
});

test("TLS through a TLS listener is between the two ends, and whatever else comes to the listener is served as before", async () => {
  const authority = new Authority();
  onTestFinished(() => authority.remove());
  const credentials = new FileCredentials(authority.issue("host"));
  const refusals: string[] = [];
  const listen = { credentials, onRefused: (error: Error) => refusals.push(error.message) };
  const { dialTo, others, address: door } = await startGateway({ kind: "tls", listen, credentials });
  const far: Pipe[] = [];
  const target = await listenAt({ kind: "tls", host: "127.0.0.1", port: 0 }, (pipe) => far.push(pipe), { credentials });
  onTestFinished(() => target.close());
  const near = (await dialTo(target.address as SocketAddress))!;
  await until(() => far.length === 1);
  const [here, there] = [new Counter(near), new Counter(far[0]!)];
  near.write([bytes], () => {});
  far[0]!.write([bytes], () => {});
  await until(() => here.bytes === bytes.length && there.bytes === bytes.length);
  expect([here.sum, there.sum]).toEqual([sumOf(bytes), sumOf(bytes)]);
  const plain = await listening(createServer((socket) => void socket.on("error", () => {}).end("no TLS")));
  await expect(dialTo({ ...plain.address, kind: "tls" })).rejects.toThrow("the host does not speak TLS");
  expect(others).toEqual([]);

  const outcomes = await Promise.all(
    ["GET / HTTP/1.1\r\n\r\n", "VC", "VCRH".padEnd(88, "\0"), ""].map(async (text) => {
      const socket = connect(door.port, "127.0.0.1").on("error", () => {});
      let size = 0;
      socket.on("data", (chunk) => {
        size += chunk.length;
      });
      socket.write(text);
      if (text.length < 4) socket.end();
      await new Promise((resolve) => socket.once("close", resolve));
      return size;
    }),
  );
  // Who does not speak TLS gets the message that a driver understands, and who says nothing gets nothing.
  expect(outcomes).toEqual([40, 0, 40, 0]);
  expect(refusals).toEqual(["it does not speak TLS", "it does not speak TLS"]);
});

test("first bytes that come one by one are put together", async () => {
  const { others, server, tunnels, address } = await startGateway();
  const target = await listening(echo());
  const [near, far] = inProcessPipePair();
  const tunnel = new Tunnel(near);
  server.accept(far);
  const ticket = new Uint8Array(32).fill(7);
  const announced = tunnel.announceData(ticket, `127.0.0.1:${target.address.port}`);
  const socket = connect(address.port, "127.0.0.1").setNoDelay(true);
  for (const byte of openingOf(ticket)) {
    socket.write(Uint8Array.of(byte));
    await settled();
  }
  await announced.joined;
  socket.write("hello");
  expect(String(await new Promise((resolve) => socket.once("data", resolve)))).toBe("hello");
  socket.destroy();
  const other = connect(address.port, "127.0.0.1").setNoDelay(true);
  other.write("VCR");
  await settled();
  other.write("H, the handshake of a link");
  await until(() => others.length === 1);
  const heard = new Counter(others[0]!);
  await until(() => heard.bytes === 29);
  expect(tunnels.length).toBe(0);
  other.destroy();
});

/** A server of tunnels whose time passes by hand, and one end of a tunnel to it. */
function withManualClock() {
  const clock = new ManualClock();
  const arrived = new ArrivedConnections(clock);
  const targets: Pipe[] = [];
  const server = new TunnelServer({
    clock,
    arrived,
    connect: async () => {
      const [near, far] = inProcessPipePair();
      targets.push(far);
      return Object.assign(near, { pause() {}, resume() {} });
    },
  });
  const [near, far] = inProcessPipePair();
  server.accept(far);
  return { clock, arrived, tunnel: new Tunnel(near), targets };
}

/** A connection that has come, and whether it is paused. */
function connection() {
  const [near, far] = inProcessPipePair();
  const calls: string[] = [];
  const pipe = Object.assign(far, { pause: () => calls.push("pause"), resume: () => calls.push("resume") });
  return { near: new Counter(near), pipe: pipe as never, calls };
}

test("a connection that is sooner than its announcement waits for it, and is not read meanwhile", async () => {
  const { arrived, tunnel } = withManualClock();
  const { pipe, calls } = connection();
  const ticket = new Uint8Array(32).fill(1);
  let isAdmitted = false;
  arrived.arrived(ticket, pipe, () => {
    isAdmitted = true;
  });
  await settled();
  expect([isAdmitted, calls]).toEqual([false, ["pause"]]);
  await tunnel.announceData(ticket, "n1:1").joined;
  expect([isAdmitted, calls]).toEqual([true, ["pause", "resume"]]);
});

test("a connection with a ticket that nobody announces is closed after 5 s, as the oldest of 65 is at once", async () => {
  const { clock, arrived, tunnel } = withManualClock();
  const all = Array.from({ length: 65 }, (_, i) => {
    const made = connection();
    arrived.arrived(new Uint8Array(32).fill(i), made.pipe, () => {});
    return made.near;
  });
  const again = connection();
  arrived.arrived(new Uint8Array(32).fill(64), again.pipe, () => {});
  await settled();
  const reset = "the connection was reset";
  expect([again.near.end, all[0]!.end, all[1]!.end]).toEqual([reset, reset, undefined]);
  clock.pass(5000);
  await settled();
  expect(all.every(({ end }) => end === reset)).toBe(true);
  const late = tunnel.announceData(new Uint8Array(32).fill(5), "n1:1");
  await settled();
  clock.pass(5000);
  await expect(late.joined).rejects.toThrow("no connection with its ticket has come within 5000 ms");
});

test("a ticket is good for one connection", async () => {
  const { arrived, tunnel, targets } = withManualClock();
  const ticket = new Uint8Array(32).fill(9);
  const [one, two] = [connection(), connection()];
  const { joined } = tunnel.announceData(ticket, "n1:1");
  await settled();
  arrived.arrived(ticket, one.pipe, () => {});
  await joined;
  arrived.arrived(ticket, two.pipe, () => {});
  await settled();
  expect([targets.length, two.calls]).toEqual([1, ["pause"]]);
});

test("frames about data connections that break the protocol end the tunnel", async () => {
  const ticket = new Uint8Array(32);
  const open = newTunnelFrame(TunnelKind.openData, 5, openDataBody(ticket, "n1:1"));
  for (const [frames, expected] of [
    [[open, open], "the peer opens channel 5 of a tunnel twice"],
    [[newTunnelFrame(TunnelKind.openData, 5, ticket)], "cannot read frame of a tunnel: kind 10 cannot have 32 bytes"],
    [[newTunnelFrame(TunnelKind.dataJoined, 5, ticket)], "cannot read frame of a tunnel: kind 12 cannot have 32 bytes"],
    [[open, newTunnelFrame(TunnelKind.end, 5)], "the peer has sent a frame of kind 6 for a data connection"],
  ] as const) {
    const [near, far] = inProcessPipePair();
    const ends: (string | undefined)[] = [];
    new Tunnel(far, { announced: () => {}, ended: (error) => ends.push(error?.message) });
    near.write([Buffer.concat(frames)], () => {});
    await settled();
    expect(ends[0]).toBe(expected);
  }
  const [gateway, driver] = inProcessPipePair();
  const ends: (string | undefined)[] = [];
  new Tunnel(driver, { ended: (error) => ends.push(error?.message) });
  gateway.write([open], () => {});
  await settled();
  expect(ends[0]).toBe("the peer announces a data connection that this side cannot take");
});
