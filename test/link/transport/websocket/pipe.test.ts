/** Tests that a WebSocket carries bytes as other transports do, and that a reader that does not read stops the writer. */
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { PausablePipe } from "../../../../runtime/link/transport/pipe.js";
import { pingLimits, socketOptions } from "../../../../runtime/link/transport/websocket/limits.js";
import { WebSocketPipe } from "../../../../runtime/link/transport/websocket/pipe.js";
import { until } from "../../../proc/until.js";
import { drawing, ManualClock } from "../../resumable/cut-world.js";
import { ByteRecorder, soon } from "../byte-recorder.js";
import { pair } from "./ends.js";

const MiB = 1024 * 1024;

test("small and large writes arrive in both directions, and each end is told of the other's close", async () => {
  const [near, far] = await pair();
  const here = new ByteRecorder(near);
  const there = new ByteRecorder(far);
  const large = Buffer.alloc(5_000_000).map((_, i) => i * 7 + (i >> 8));
  let done = 0;
  near.write([Buffer.from("a"), large, Buffer.from("z")], () => done++);
  far.write([large.subarray(0, 100_000)], () => done++);
  near.write([], () => done++);
  await there.bytes(large.length + 2);
  await here.bytes(100_000);
  expect(there.all.subarray(1, -1).equals(large)).toBe(true);
  expect(here.all.equals(large.subarray(0, 100_000))).toBe(true);
  near.write([large, Buffer.from("last words")], () => done++);
  near.close();
  expect(await there.end).toBeUndefined();
  expect(there.all.length).toBe(2 * large.length + 12);
  expect(there.all.toString("latin1").endsWith("last words")).toBe(true);
  expect(await here.end).toBeUndefined();
  expect(done).toBe(4);
});

test("writes of any size arrive in order, and their memory can be used again when they are done", async () => {
  const [near, far] = await pair();
  const there = new ByteRecorder(far);
  const random = drawing(5);
  const sent: Buffer[] = [];
  let done = 0;
  let size = 0;
  for (let write = 0; write < 200; write++) {
    const chunks = Array.from({ length: 1 + Math.floor(random.number() * 3) }, () =>
      Buffer.alloc(1 + Math.floor(random.number() ** 3 * 90_000)).map(() => random.number() * 256),
    );
    for (const chunk of chunks) {
      sent.push(Buffer.from(chunk));
      size += chunk.length;
    }
    near.write(chunks, () => {
      done++;
      for (const chunk of chunks) chunk.fill(0);
    });
  }
  await there.bytes(size);
  await until(() => done === 200);
  expect(there.all.equals(Buffer.concat(sent))).toBe(true);
});

test("a pipe whose other end is destroyed ends, and completes the writes before and after", async () => {
  const [near, far] = await pair();
  const here = new ByteRecorder(near);
  let done = 0;
  for (let i = 0; i < 100; i++) near.write([Buffer.alloc(MiB)], () => done++);
  far.destroy();
  expect((await here.end)?.message).toBe("the connection below the WebSocket has ended");
  near.write([Buffer.from("too late")], () => done++);
  await until(() => done === 101);
});

test("a pipe that is destroyed with an error ends with it", async () => {
  const [near] = await pair();
  const here = new ByteRecorder(near);
  near.destroy(new Error("not needed any more"));
  expect((await here.end)?.message).toBe("not needed any more");
});

test("bytes that come before the pipe is opened are kept for its reader", async () => {
  const [near, far] = await pair();
  far.write([Buffer.from("early")], () => {});
  far.close();
  await soon(50);
  const here = new ByteRecorder(near);
  await here.bytes(5);
  expect(here.all.toString()).toBe("early");
  expect(await here.end).toBeUndefined();
});

/** Writes blocks, each when the one before is done, and returns how many are done. */
function writeSteadily(pipe: PausablePipe, blocks: number): () => number {
  const block = Buffer.alloc(64 * 1024, 7);
  let done = 0;
  const next = () => {
    if (done < blocks)
      pipe.write([block], () =>
        setImmediate(() => {
          done++;
          next();
        }),
      );
  };
  next();
  return () => done;
}

test.each(["the side that listens", "the side that dials"])(
  "a reader that does not read stops the writes of %s, and gets all bytes when it reads again",
  async (side) => {
    const [near, far] = await pair();
    const [writer, reader] = side === "the side that dials" ? [near, far] : [far, near];
    const there = new ByteRecorder(reader);
    reader.pause();
    const blocks = 2048;
    const done = writeSteadily(writer, blocks);
    let before = -1;
    await until(async () => {
      const same = done() === before && done() > 0;
      before = done();
      await soon(200);
      return same && done() === before;
    });
    // What is done is in the buffers of the system, which take a few MiB, and not in this process.
    expect(done()).toBeLessThan(blocks / 4);
    reader.resume();
    await there.bytes(blocks * 64 * 1024);
    await until(() => done() === blocks);
  },
);

/** Both ends of a WebSocket, one of which is not a pipe. */
async function withPeer(peerOptions: object = {}) {
  const clock = new ManualClock();
  const server = new WebSocketServer({ ...socketOptions, port: 0, host: "127.0.0.1" });
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const opened = new Promise<WebSocketPipe>((resolve) => {
    server.once("connection", (webSocket, { socket }) => resolve(new WebSocketPipe(webSocket, socket, clock)));
  });
  const options = { perMessageDeflate: false, ...peerOptions };
  const peer = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, options);
  onTestFinished(() => peer.terminate());
  peer.on("error", () => {});
  const pipe = await opened;
  if (peer.readyState !== peer.OPEN) await new Promise((resolve) => peer.once("open", resolve));
  return { clock, peer, pipe };
}

test("a peer that answers no pings is cut off after 30 s", async () => {
  const { clock, pipe } = await withPeer({ autoPong: false });
  const end = new ByteRecorder(pipe).end;
  clock.pass(3 * pingLimits.interval);
  await soon(50);
  clock.pass(pingLimits.interval);
  expect((await end)?.message).toBe("the peer has answered no ping of the WebSocket for 30 s");
});

test("a peer that answers pings, or sends anything else, is kept", async () => {
  const { clock, peer, pipe } = await withPeer();
  const there = new ByteRecorder(pipe);
  let pings = 0;
  peer.on("ping", () => pings++);
  for (let i = 1; i <= 10; i++) {
    clock.pass(pingLimits.interval);
    await until(() => pings === i);
    await soon(5);
  }
  peer.send(Buffer.from("here"));
  await there.bytes(4);
});

test("a reader that is paused takes nobody for silent", async () => {
  const { clock, peer, pipe } = await withPeer({ autoPong: false });
  const there = new ByteRecorder(pipe);
  pipe.pause();
  clock.pass(100 * pingLimits.interval);
  pipe.resume();
  peer.send(Buffer.from("here"));
  await there.bytes(4);
  pipe.close();
  await there.end;
  expect(clock.waiting).toBe(0);
});

test.each([
  [
    "a text message",
    (peer: WebSocket) => peer.send("hello"),
    /sent a text message over the WebSocket, and Viceroy sends binary ones only$/,
    1003,
  ],
  [
    "a message of more than 1 MiB",
    (peer: WebSocket) => peer.send(Buffer.alloc(100 * MiB)),
    /sent a WebSocket message that is longer than 1 MiB$/,
    1009,
  ],
  [
    "the end with a code",
    (peer: WebSocket) => peer.close(1011, "out of memory"),
    /^the peer has ended the WebSocket with code 1011: "out of memory"$/,
    1011,
  ],
] as const)("a peer that sends %s ends the pipe, and the reason is told", async (_what, send, why, code) => {
  const { peer, pipe } = await withPeer();
  const told = new Promise((resolve) => peer.once("close", resolve));
  const end = new ByteRecorder(pipe).end;
  send(peer);
  expect((await end)?.message).toMatch(why);
  // A peer that is still sending can miss the code.
  expect([code, 1006]).toContain(await told);
});

test("messages of 1 MiB, and messages in many fragments, are taken", async () => {
  const { peer, pipe } = await withPeer();
  const there = new ByteRecorder(pipe);
  peer.send(Buffer.alloc(MiB, 3));
  for (let i = 0; i < 1000; i++) peer.send(Buffer.from([i]), { fin: i === 999 });
  await there.bytes(MiB + 1000);
  expect(there.all.subarray(MiB).equals(Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 256)))).toBe(true);
});

test("a message in more than 1,024 fragments is refused", async () => {
  const { peer, pipe } = await withPeer();
  const end = new ByteRecorder(pipe).end;
  for (let i = 0; i < 2000; i++) peer.send(Buffer.from([i]), { fin: false });
  expect((await end)?.message).toBe("the peer has sent a WebSocket message in too many pieces");
});
