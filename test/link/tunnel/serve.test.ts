/** Tests of both sides of tunnels with real TCP servers behind them. */
import { type AddressInfo, createServer, type Server } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../runtime/link/clock.js";
import { HandshakeError } from "../../../runtime/link/handshake/errors.js";
import { connectSocket } from "../../../runtime/link/transport/connect.js";
import { inProcessPipePair } from "../../../runtime/link/transport/in-process/pipe.js";
import type { Pipe } from "../../../runtime/link/transport/pipe.js";
import { TunnelDialler } from "../../../runtime/link/tunnel/dial.js";
import { TunnelServer } from "../../../runtime/link/tunnel/serve.js";
import { until } from "../../proc/until.js";
import { ManualClock } from "../resumable/cut-world.js";
import { Counter, settled, sumOf } from "./joined.js";

/** Starts a TCP server that returns what it gets, unless it is given something else to do. */
async function listening(server: Server = createServer((socket) => socket.pipe(socket))): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const at = (port: number) => ({ kind: "tcp" as const, host: "127.0.0.1", port });
const never = () => new AbortController().signal;

function gateway(options: { readonly channels?: number } = {}) {
  const server = new TunnelServer({ clock: systemClock, limits: options, connect: connectSocket });
  const connections: Pipe[] = [];
  const connect = async () => {
    const [near, far] = inProcessPipePair();
    connections.push(near);
    server.accept(far);
    return near;
  };
  const dialler = new TunnelDialler({
    clock: systemClock,
    gateways: () => [{ name: "tcp://gateway:26600", connect }],
  });
  return { server, dialler, connections };
}

test("bytes reach a server and come back, over one connection to the gateway for all of them", async () => {
  const { server, dialler, connections } = gateway();
  const port = await listening();
  const pipes = await Promise.all([1, 2, 3].map(() => dialler.connect(at(port), never())));
  const bytes = Uint8Array.from({ length: 2_000_000 }, (_, i) => (i * 13) & 0xff);
  const heard = pipes.map((pipe) => new Counter(pipe));
  for (const pipe of pipes) pipe.write([bytes], () => {});
  await until(() => heard.every((each) => each.bytes === bytes.length));
  expect(heard.map(({ sum }) => sum)).toEqual(pipes.map(() => sumOf(bytes)));
  expect([connections.length, server.tunnelCount]).toEqual([1, 1]);
  dialler.close();
  await until(() => server.tunnelCount === 0);
  expect((await dialler.connect(at(port), never())).close()).toBeUndefined();
  expect(connections.length).toBe(2);
});

test("a server that closes its connection closes the channel, and the reverse", async () => {
  const { dialler } = gateway();
  let closed = 0;
  const port = await listening(
    createServer((socket) => {
      socket.on("close", () => closed++).on("error", () => {});
      socket.once("data", (bytes) => {
        if (bytes[0] === 1) socket.end(Buffer.alloc(100_000));
      });
    }),
  );
  const pipe = await dialler.connect(at(port), never());
  const heard = new Counter(pipe);
  pipe.write([Uint8Array.of(1)], () => {});
  await until(() => heard.end !== undefined);
  expect([heard.bytes, heard.end]).toEqual([100_000, "in order"]);
  const other = await dialler.connect(at(port), never());
  new Counter(other);
  other.write([Uint8Array.of(2)], () => {});
  other.close();
  await until(() => closed === 2);
});

test("a server that does not read makes the writer wait, with a bounded number of bytes on the way", async () => {
  const { dialler } = gateway();
  const port = await listening(createServer((socket) => void socket.on("error", () => {}).pause()));
  const pipe = await dialler.connect(at(port), never());
  new Counter(pipe);
  let written = 0;
  for (let i = 0; i < 64; i++) pipe.write([new Uint8Array(1024 * 1024)], () => written++);
  let before = -1;
  while (written !== before) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  // What the system holds for the two sockets is not counted here.
  expect(written).toBeLessThan(32);
  pipe.destroy();
});

test("an address that cannot be connected is refused with the reason", async () => {
  const { dialler } = gateway();
  await expect(dialler.connect(at(9), never())).rejects.toMatchObject({
    code: "ECONNREFUSED",
    message:
      "the driver gateway tcp://gateway:26600 cannot connect to tcp://127.0.0.1:9: connect ECONNREFUSED 127.0.0.1:9",
  });
  await expect(dialler.connect({ kind: "tcp", host: "n1", port: 0 }, never())).rejects.toThrow(
    "the driver gateway tcp://gateway:26600 cannot connect to tcp://n1:0: cannot connect to n1:0: port 0 is none",
  );
});

test("a gateway that refuses, or is not there, is named, and its reason decides whether to try again", async () => {
  const failing = (error: Error) =>
    new TunnelDialler({
      clock: systemClock,
      gateways: () => [{ name: "tls://g:1", connect: () => Promise.reject(error) }],
    });
  const refused = failing(new HandshakeError("token", "the token is not that of this process"));
  await expect(refused.connect(at(1), never())).rejects.toMatchObject({
    name: "HandshakeError",
    isTransient: false,
    message: "cannot reach the driver gateway tls://g:1: the token is not that of this process",
  });
  const absent = failing(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }));
  await expect(absent.connect(at(1), never())).rejects.toMatchObject({
    code: "ECONNREFUSED",
    message: "cannot reach the driver gateway tls://g:1: connect ECONNREFUSED",
  });
});

test("an attempt that is aborted rejects with the reason, and leaves no channel", async () => {
  const clock = new ManualClock();
  const given = new AbortController();
  const server = new TunnelServer({ clock, connect: () => new Promise(() => {}) });
  const connect = async () => {
    const [near, far] = inProcessPipePair();
    server.accept(far);
    return near;
  };
  const dialler = new TunnelDialler({ clock, gateways: () => [{ name: "tcp://g:1", connect }] });
  const attempt = dialler.connect(at(1), given.signal);
  await settled();
  given.abort(new Error("enough"));
  await expect(attempt).rejects.toThrow("enough");
  await expect(dialler.connect(at(1), AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
});

test("a tunnel that does not answer is replaced when another one can be made", async () => {
  const clock = new ManualClock();
  const port = await listening();
  const server = new TunnelServer({ clock, connect: connectSocket });
  let made = 0;
  const connect = async () => {
    const [near, far] = inProcessPipePair();
    // Nobody answers on the first connection.
    if (made++ > 0) server.accept(far);
    return near;
  };
  const dialler = new TunnelDialler({ clock, gateways: () => [{ name: "tcp://g:1", connect }] });
  const attempt = dialler.connect(at(port), never());
  await settled();
  clock.pass(2500);
  await settled();
  clock.pass(2500);
  const heard = new Counter(await attempt);
  expect([made, heard.end]).toEqual([2, undefined]);
  dialler.close();
});
