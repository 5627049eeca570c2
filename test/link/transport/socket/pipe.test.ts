/** Pipes over sockets: when bytes leave, what is told of their end, what they hold, and what is said of those they cannot reach. */
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
import { listenError, peerAddress, tuneSocket } from "../../../../runtime/link/transport/tcp/connect.js";
import {
  childPipe,
  connectUnixSocket,
  listenUnix,
  listenUnixSocket,
  parentPipe,
} from "../../../../runtime/link/transport/unix/connect.js";
import { until } from "../../../proc/until.js";
import { ByteRecorder } from "../byte-recorder.js";

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

/** A pipe over a Unix socket, and the other end as a plain socket that nobody reads. */
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

/** The same over TCP, of which the system takes parts of what it is given. */
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
  test("gives what is short back before the write returns, and nothing that is long", async () => {
    const { pipe, peer } = await unread();
    const returned: string[] = [];
    pipe.write([Buffer.alloc(16 * 1024)], () => returned.push("short"));
    expect(returned).toEqual(["short"]);
    pipe.write([Buffer.alloc(1000), Buffer.alloc(16 * 1024 - 1000)], () => returned.push("short in two"));
    expect(returned).toEqual(["short", "short in two"]);
    pipe.write([Buffer.alloc(16 * 1024 + 1)], () => returned.push("long"));
    // More than the system takes.
    pipe.write([Buffer.alloc(8_000_000)], () => returned.push("longer"));
    expect(returned).toEqual(["short", "short in two"]);
    // What waits keeps its place, however short the next one is.
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
  ])("loses nothing when the system takes a part of what is short, or none of it: %s", async (_, make) => {
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

  test("keeps what comes before anybody reads it, in order", async () => {
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

  test("tells of its end once, with the error it was destroyed with, also whoever opens it later", async () => {
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

  test("keeps the process alive only while it is asked to", async () => {
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

// A worker thread closes the files that it has opened when it ends, once more, whoever has their numbers by then.
describe.runIf(isMainThread)("a pipe over a descriptor that was inherited", () => {
  test("reads and writes it", async () => {
    const fifo = path.join(folder, "fifo");
    execFileSync("mkfifo", [fifo]);
    // Who opens a fifo for both reads what it has written.
    const pipe = fdPipe(openSync(fifo, "r+"));
    const heard = new ByteRecorder(pipe);
    pipe.write([Buffer.from("there and back")], () => {});
    await heard.bytes(14);
    expect(`${heard.all}`).toBe("there and back");
    pipe.destroy();
  });

  test("leads to the parent of a process", async () => {
    const fifo = path.join(folder, "inherited");
    execFileSync("mkfifo", [fifo]);
    const parent = parentPipe(openSync(fifo, "r+"));
    const heard = new ByteRecorder(parent);
    // It is no offer of shared memory.
    writeFileSync(fifo, "from the parent");
    await heard.bytes(15);
    expect(`${heard.all}`).toBe("from the parent");
    parent.destroy();
  });
});

describe("a socket that exists already", () => {
  test("is ended with its pipe, and the pipe with it", async () => {
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

  test("is written to at once by whoever was connected to, and ends with whoever made it", async () => {
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

  test("is read as it is where it cannot be taken over, and never written past", async () => {
    for (const make of [socketPipe, streamPipe]) {
      // Without a handle, as sockets are that other libraries make.
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

test("a child is spoken to over a socket that it inherits", async () => {
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

test("sockets over a network send at once, and find out peers whose machine is gone", () => {
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

describe("who cannot be reached is named, with why:", () => {
  test("a file that is no socket", async () => {
    const file = path.join(folder, "file");
    writeFileSync(file, "");
    const error = await connectUnixSocket(file).then(undefined, (e) => e);
    expect([error.message, error.cause.code]).toEqual([
      `cannot connect to ${file}: it is not a socket`,
      "ECONNREFUSED",
    ]);
  });

  test("a socket that nobody listens at, or nothing at all", async () => {
    const gone = path.join(folder, "gone.sock");
    expect((await connectUnixSocket(gone).then(undefined, (e) => e)).message).toBe(`connect ENOENT ${gone}`);
  });

  test("an attempt that was given up, before it began or meanwhile", async () => {
    const controller = new AbortController();
    const pending = connectPipe(() => new Socket(), "connect", "the peer", controller.signal);
    controller.abort("no error");
    await expect(pending).rejects.toThrow(new Error("cannot connect to the peer: it was given up"));
    const begun = connectPipe(() => new Socket(), "connect", "the peer", AbortSignal.abort(new Error("it is late")));
    await expect(begun).rejects.toThrow(new Error("cannot connect to the peer: it is late"));
  });

  test("a socket that closes without an error", async () => {
    const socket = new Socket();
    const pending = connectPipe(() => socket, "connect", "the peer", undefined);
    socket.destroy();
    await expect(pending).rejects.toThrow(new Error("cannot connect to the peer: it closed at once"));
  });

  test("but once it is connected, nobody looks whether it was given up", async () => {
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
  test("where somebody listens already is refused", async () => {
    const place = path.join(folder, `${paths++}.sock`);
    servers.push(await listenUnixSocket(place, () => {}));
    await expect(listenUnixSocket(place, () => {})).rejects.toThrow(
      `listen EADDRINUSE: address already in use ${place}`,
    );
    const cause = new Error("why");
    const refused = listenError({ kind: "tls", host: "::1", port: 5 }, cause);
    expect([refused.message, refused.cause]).toEqual(["cannot listen at tls://[::1]:5: why", cause]);
  });

  test("ends when it is closed, and not for those who are there", async () => {
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

  test("over TLS needs files, and says so", async () => {
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
])("the address of a peer is read by people: %j", (socket, text) => {
  expect(peerAddress(socket as Socket)).toBe(text);
});
