/**
 * Tests of pipes over sockets: when writes complete, how pipes end, whether they keep the process alive, and the errors
 * of failed connections.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { isMainThread } from "node:worker_threads";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { connectTo, listenAt } from "../../../../runtime/link/transport/connect.js";
import type { Pipe } from "../../../../runtime/link/transport/pipe.js";
import { connectPipe, fdPipe, socketPipe, streamPipe } from "../../../../runtime/link/transport/socket/pipe.js";
import { peerAddress, tuneSocket } from "../../../../runtime/link/transport/socket/socket.js";
import { listenError } from "../../../../runtime/link/transport/tcp/connect.js";
import {
  childPipe,
  connectUnixSocket,
  listenUnix,
  listenUnixSocket,
  parentPipe,
} from "../../../../runtime/link/transport/unix/connect.js";
import { until } from "../../../proc/until.js";
import { ByteRecorder } from "../byte-recorder.js";
import { RecordingSink } from "../recording-sink.js";

const folder = mkdtempSync(path.join(tmpdir(), "viceroy-sockets-"));
const servers: { close(): unknown }[] = [];
const sockets: Socket[] = [];
let paths = 0;

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

async function connectedBy(socket: Socket): Promise<Socket> {
  await new Promise((resolve) => socket.once("connect", resolve));
  sockets.push(socket);
  return socket;
}

/** Creates a pipe over a Unix socket. Its other end is a plain socket that is not read yet. */
async function unread(): Promise<{ pipe: Pipe; peer: Socket }> {
  const place = path.join(folder, `${paths++}.sock`);
  let taken: (socket: Socket) => void = () => {};
  const accepted = new Promise<Socket>((resolve) => {
    taken = resolve;
  });
  const server: Server = createServer({ pauseOnConnect: true }, (socket) => taken(socket)).listen(place);
  servers.push(server);
  await new Promise((resolve) => server.once("listening", resolve));
  const pipe = await connectUnixSocket(place);
  const peer = await accepted;
  peer.on("error", () => {});
  sockets.push(peer);
  return { pipe, peer };
}

/** Creates the same over TCP, where the system can take a part of a write. */
async function unreadTcp(): Promise<{ pipe: Pipe; peer: Socket }> {
  const accepted: Socket[] = [];
  const server: Server = createServer({ pauseOnConnect: true }, (socket) => accepted.push(socket)).listen(
    0,
    "127.0.0.1",
  );
  servers.push(server);
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const pipe = await connectTo({ kind: "tcp", host: "127.0.0.1", port }, undefined);
  await until(() => accepted.length === 1);
  const peer = accepted[0]!.on("error", () => {});
  sockets.push(peer);
  return { pipe, peer };
}

describe("a pipe over a plain socket", () => {
  test("completes short writes before the call returns, and long or waiting writes later", async () => {
    const { pipe, peer } = await unread();
    const returned: string[] = [];
    pipe.write([Buffer.alloc(16 * 1024)], () => returned.push("short"));
    expect(returned).toEqual(["short"]);
    pipe.write([Buffer.alloc(1000), Buffer.alloc(16 * 1024 - 1000)], () => returned.push("short in two"));
    expect(returned).toEqual(["short", "short in two"]);
    pipe.write([Buffer.alloc(16 * 1024 + 1)], () => returned.push("long"));
    // This write is larger than what the system takes at once.
    pipe.write([Buffer.alloc(8_000_000)], () => returned.push("longer"));
    expect(returned).toEqual(["short", "short in two"]);
    // A short write waits behind earlier writes, because the order must not change.
    pipe.write([Buffer.alloc(1)], () => returned.push("behind"));
    expect(returned).toEqual(["short", "short in two"]);
    peer.resume();
    await until(() => returned.length === 5);
    expect(returned.slice(2)).toEqual(["long", "longer", "behind"]);
    pipe.destroy();
  });

  test.each([
    ["a Unix socket", unread],
    ["TCP", unreadTcp],
  ])("delivers the last bytes of a peer that has closed before a write fails: %s", async (_, make) => {
    const { pipe, peer } = await make();
    const sink = new RecordingSink();
    pipe.open(sink);
    // No event of the connection is handled before the writes, because all this happens in one turn of the event loop.
    peer.write("goodbye");
    peer.destroy();
    // The first write tells a TCP connection that its peer is gone, and the second one fails.
    for (let i = 0; i < 2; i++) pipe.write([Buffer.alloc(32 * 1024)], () => {});
    expect(sink.text).toBe("");
    await until(() => sink.ends.length > 0);
    expect(sink.text).toBe("goodbye");
    expect(sink.ends).toEqual([expect.stringMatching(/^write (EPIPE|ECONNRESET)$/)]);
  });

  test.each([
    ["a Unix socket", unread],
    ["TCP", unreadTcp],
  ])("loses no bytes when the system takes a part of a short write or none of it: %s", async (_, make) => {
    const { pipe, peer } = await make();
    const sent: Buffer[] = [];
    let [asked, taken] = [0, 0];
    for (let waiting = 0; waiting < 3; asked++) {
      const bytes = Buffer.alloc(9973, asked);
      sent.push(Buffer.from(bytes));
      pipe.write([bytes], () => {
        taken++;
        bytes.fill(0xff);
      });
      if (taken <= asked) waiting++;
    }
    const got: Buffer[] = [];
    peer.on("data", (bytes) => got.push(bytes));
    peer.resume();
    await until(() => taken === asked);
    pipe.close();
    await new Promise((resolve) => peer.once("end", resolve));
    expect(Buffer.concat(got).equals(Buffer.concat(sent))).toBe(true);
  });

  test("writes at once what the system takes, unless earlier bytes wait or the pipe is closed", async () => {
    const { pipe, peer } = await unread();
    const heard: Buffer[] = [];
    expect(pipe.writeNow!(Buffer.from("first, second"), 7)).toBe(7);
    let sent = 7;
    for (let taken = 1; taken > 0; sent += taken) taken = pipe.writeNow!(Buffer.alloc(16 * 1024), 16 * 1024);
    const rest = new Promise<void>((resolve) => pipe.write([Buffer.from("rest")], resolve));
    expect(pipe.writeNow!(Buffer.from("behind"), 6)).toBe(0);
    peer.on("data", (bytes) => heard.push(bytes as Buffer)).resume();
    await rest;
    expect(pipe.writeNow!(Buffer.from("last"), 4)).toBe(4);
    pipe.close();
    expect(pipe.writeNow!(Buffer.from("late"), 4)).toBe(0);
    await new Promise((resolve) => peer.once("end", resolve));
    const all = Buffer.concat(heard).toString("latin1");
    expect([all.length, all.slice(0, 7), all.slice(-8)]).toEqual([sent + 8, "first, ", "restlast"]);
  });

  test("keeps bytes that arrive before it is opened and delivers them in order", async () => {
    const { pipe, peer } = await unread();
    peer.write("one, ");
    peer.write("two");
    await new Promise<void>((resolve) => void peer.write(", three", () => resolve()));
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    const heard = new ByteRecorder(pipe);
    peer.write(", four");
    await heard.bytes("one, two, three, four".length);
    expect(`${heard.all}`).toBe("one, two, three, four");
    pipe.destroy();
  });

  test("reports the error of its first destroy to a sink that opens it later, and drops later writes", async () => {
    const { pipe } = await unread();
    pipe.destroy(new Error("enough"));
    pipe.destroy(new Error("again"));
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    expect((await new ByteRecorder(pipe).end)?.message).toBe("enough");
    let done = false;
    pipe.write([Buffer.from("too late")], () => {
      done = true;
    });
    expect(done).toBe(false);
    await Promise.resolve();
    expect(done).toBe(true);
  });

  test("keeps the process alive between a call of ref and a call of unref", async () => {
    const { pipe } = await unread();
    const holding = () => process.getActiveResourcesInfo().filter((kind) => kind === "PipeWrap").length;
    const before = holding();
    pipe.ref();
    expect(holding()).toBe(before + 1);
    pipe.unref();
    expect(holding()).toBe(before);
    pipe.destroy();
  });
});

// A worker thread that ends closes the descriptors of the files that it has opened a second time, even if their numbers
// belong to other files by then.
describe.runIf(isMainThread)("a pipe over an inherited file descriptor", () => {
  test("reads and writes bytes through the descriptor", async () => {
    const fifo = path.join(folder, "fifo");
    execFileSync("mkfifo", [fifo]);
    // A process that opens a FIFO for reading and writing reads its own bytes.
    const pipe = fdPipe(openSync(fifo, "r+"));
    const heard = new ByteRecorder(pipe);
    pipe.write([Buffer.from("there and back")], () => {});
    await heard.bytes(14);
    expect(`${heard.all}`).toBe("there and back");
    pipe.destroy();
  });

  test("delivers bytes of the parent process that are no offer of shared memory", async () => {
    const fifo = path.join(folder, "inherited");
    execFileSync("mkfifo", [fifo]);
    const parent = parentPipe(openSync(fifo, "r+"));
    const heard = new ByteRecorder(parent);
    // These bytes are no offer of shared memory.
    writeFileSync(fifo, "from the parent");
    await heard.bytes(15);
    expect(`${heard.all}`).toBe("from the parent");
    parent.destroy();
  });
});

describe("a pipe over an existing socket", () => {
  test("sends its bytes and then its close to the accepting end", async () => {
    const place = path.join(folder, `${paths++}.sock`);
    const accepted: Pipe[] = [];
    servers.push(await listenUnixSocket(place, (pipe) => accepted.push(pipe)));
    const pipe = await connectUnixSocket(place);
    await until(() => accepted.length === 1);
    const heard = new ByteRecorder(accepted[0]!);
    pipe.write([Buffer.from("hello")], () => {});
    pipe.close();
    await heard.end;
    expect(`${heard.all}`).toBe("hello");
  });

  test("receives bytes that its peer writes at once, and both ends end when the socket is destroyed", async () => {
    const place = path.join(folder, `${paths++}.sock`);
    const accepted: Pipe[] = [];
    servers.push(await listenUnixSocket(place, (pipe) => accepted.push(pipe)));
    const socket = connect(place);
    const pipe = socketPipe(await connectedBy(socket));
    await until(() => accepted.length === 1);
    let done = false;
    accepted[0]!.write([Buffer.from("hello")], () => {
      done = true;
    });
    expect(done).toBe(true);
    const [here, there] = [new ByteRecorder(pipe), new ByteRecorder(accepted[0]!)];
    await here.bytes(5);
    socket.destroy();
    await Promise.all([here.end, there.end]);
  });

  test("reads a socket without a handle as a stream, and ends without an error when it is destroyed", async () => {
    for (const make of [socketPipe, streamPipe]) {
      // This socket has no handle, like sockets that other libraries create.
      const socket = new Socket();
      const pipe = make(socket);
      const heard = new ByteRecorder(pipe);
      socket.emit("data", Buffer.from("as a stream"));
      await heard.bytes(11);
      expect(`${heard.all}`).toBe("as a stream");
      pipe.destroy();
      expect(await heard.end).toBe(undefined);
    }
  });
});

test("the pipe to a child process carries bytes both ways over the socket that the child inherits", async () => {
  const place = path.join(folder, `${paths++}.sock`);
  const joined: Pipe[] = [];
  servers.push(await listenUnix(place, (pipe) => joined.push(pipe)));
  const child = childPipe(await connectedBy(connect(place)));
  const here = new ByteRecorder(child);
  await until(() => joined.length === 1);
  const there = new ByteRecorder(joined[0]!);
  child.write([Buffer.from("to the child")], () => {});
  await there.bytes(12);
  joined[0]!.write([Buffer.from("to the parent")], () => {});
  await here.bytes(13);
  child.destroy();
});

test("tuneSocket switches off the send delay and switches on keep-alive probes after 5 seconds", () => {
  const calls: unknown[][] = [];
  const note =
    (name: string) =>
    (...what: unknown[]) => {
      calls.push([name, ...what]);
      return socket;
    };
  const socket = { setNoDelay: note("no delay"), setKeepAlive: note("keep alive") } as unknown as Socket;
  expect([tuneSocket(socket), calls]).toEqual([
    socket,
    [
      ["no delay", true],
      ["keep alive", true, 5000],
    ],
  ]);
});

describe("an attempt to connect", () => {
  test("to a file that is not a socket fails with an error that names the file", async () => {
    const file = path.join(folder, "file");
    writeFileSync(file, "");
    const error = await connectUnixSocket(file).then(undefined, (e) => e);
    expect([error.message, error.cause.code]).toEqual([
      `cannot connect to ${file}: it is not a socket`,
      "ECONNREFUSED",
    ]);
  });

  test("to a path that does not exist fails with the error of the system", async () => {
    const gone = path.join(folder, "gone.sock");
    expect((await connectUnixSocket(gone).then(undefined, (e) => e)).message).toBe(`connect ENOENT ${gone}`);
  });

  test("that is aborted before or after its start fails with an error that gives the reason", async () => {
    const controller = new AbortController();
    const pending = connectPipe(() => new Socket(), "connect", "the peer", controller.signal);
    controller.abort("no error");
    await expect(pending).rejects.toThrow(new Error("cannot connect to the peer: it was given up"));
    const begun = connectPipe(() => new Socket(), "connect", "the peer", AbortSignal.abort(new Error("it is late")));
    await expect(begun).rejects.toThrow(new Error("cannot connect to the peer: it is late"));
  });

  test("over a socket that closes without an error fails with an error that says so", async () => {
    const socket = new Socket();
    const pending = connectPipe(() => socket, "connect", "the peer", undefined);
    socket.destroy();
    await expect(pending).rejects.toThrow(new Error("cannot connect to the peer: it closed at once"));
  });

  test("that has succeeded is not affected by a later abort", async () => {
    const place = path.join(folder, `${paths++}.sock`);
    const accepted: Pipe[] = [];
    servers.push(await listenUnixSocket(place, (pipe) => accepted.push(pipe)));
    const controller = new AbortController();
    const pipe = await connectUnixSocket(place, controller.signal);
    controller.abort();
    await until(() => accepted.length === 1);
    const heard = new ByteRecorder(accepted[0]!);
    pipe.write([Buffer.from("still here")], () => {});
    await heard.bytes(10);
    pipe.destroy();
  });
});

describe("listening", () => {
  test("at an address in use fails with an error that names the address", async () => {
    const place = path.join(folder, `${paths++}.sock`);
    servers.push(await listenUnixSocket(place, () => {}));
    await expect(listenUnixSocket(place, () => {})).rejects.toThrow(
      `listen EADDRINUSE: address already in use ${place}`,
    );
    const cause = new Error("why");
    const refused = listenError({ kind: "tls", host: "::1", port: 5 }, cause);
    expect([refused.message, refused.cause]).toEqual(["cannot listen at tls://[::1]:5: why", cause]);
  });

  test("ends for new connections when the listener is closed, and existing connections stay open", async () => {
    const address = { kind: "unix", path: path.join(folder, `${paths++}.sock`) } as const;
    const accepted: Pipe[] = [];
    const listener = await listenAt(address, (pipe) => accepted.push(pipe));
    expect(listener.address).toEqual(address);
    const pipe = await connectTo(address, undefined);
    await until(() => accepted.length === 1);
    listener.close();
    const heard = new ByteRecorder(accepted[0]!);
    pipe.write([Buffer.from("still here")], () => {});
    pipe.close();
    await heard.end;
    expect(`${heard.all}`).toBe("still here");
    expect((await connectTo(address, undefined).then(undefined, (e) => e)).code).toBe("ENOENT");
  });

  test("over TLS without certificate files fails with an error that asks for the files", async () => {
    const address = { kind: "tls", host: "localhost", port: 0 } as const;
    await expect(listenAt(address, () => {})).rejects.toThrow(
      new Error(
        "cannot listen at tls://localhost:0: TLS needs a certificate, its key and an authority; give their files",
      ),
    );
  });
});

test.each([
  [{ remoteAddress: "10.0.0.7", remotePort: 52576 }, "10.0.0.7:52576"],
  [{ remoteAddress: "::ffff:10.0.0.7", remotePort: 5 }, "10.0.0.7:5"],
  [{ remoteAddress: "::ffff:7:8", remotePort: 5 }, "[::ffff:7:8]:5"],
  [{ remoteAddress: "fe80::ffff:10.0.0.7", remotePort: 5 }, "[fe80::ffff:10.0.0.7]:5"],
  [{ remoteAddress: "fe80::1", remotePort: 5 }, "[fe80::1]:5"],
  [{}, "unknown:0"],
])("peerAddress formats the address and port of a socket for people: %j", (socket, text) => {
  expect(peerAddress(socket as Socket)).toBe(text);
});
