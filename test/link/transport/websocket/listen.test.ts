/** Tests of what a listener for WebSockets answers to probes, to other protocols, and to peers that mean harm. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { until } from "../../../proc/until.js";
import { ManualClock } from "../../resumable/cut-world.js";
import { ByteRecorder, soon } from "../byte-recorder.js";
import { connectRaw, frame, pair, type Raw, serve, upgradeRaw, upgradeRequest } from "./ends.js";

test("probes of load balancers are answered, and the connection is closed", async () => {
  const served = await serve();
  for (const method of ["GET", "HEAD"]) {
    const answer = await fetch(`http://127.0.0.1:${served.port}/healthz?probe=1`, { method });
    expect([answer.status, await answer.text()]).toEqual([200, method === "GET" ? "ok\n" : ""]);
    expect(answer.headers.get("connection")).toBe("close");
  }
  expect(served.refusals).toEqual([]);
});

test.each(["GET /", "POST /healthz", "GET /healthzz", "DELETE /any/path"])(
  "%s is told that this is a driver gateway",
  async (asked) => {
    const [method = "", path] = asked.split(" ");
    const { port } = await serve();
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    expect([answer.status, answer.headers.get("upgrade")]).toEqual([426, "websocket"]);
    expect(await answer.text()).toBe(
      "This is a driver gateway of Viceroy, which programs reach by WebSocket, with the option through of attachHosts.\n",
    );
  },
);

test("WebSockets are accepted at any path, also of peers that send their first bytes with the request", async () => {
  const served = await serve();
  const raw = await connectRaw(served.port);
  raw.socket.write(
    Buffer.concat([Buffer.from(upgradeRequest.replace("GET /", "GET /a/b?c=d")), frame(2, Buffer.from("first"))]),
  );
  await until(() => served.accepted.length === 1);
  const there = new ByteRecorder(served.accepted[0]!);
  await there.bytes(5);
  expect(there.all.toString()).toBe("first");
  const accept = createHash("sha1")
    .update("dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
    .digest("base64");
  await until(() => raw.text().includes("\r\n\r\n"));
  expect(raw.text()).toContain(`Sec-WebSocket-Accept: ${accept}\r\n`);
  expect(raw.text()).not.toContain("Sec-WebSocket-Extensions");
});

test.each([
  [
    "bytes that are not HTTP",
    "\x16\x03\x01\x02\x00\x01\x00",
    /^it does not speak HTTP: Parse Error/,
    /^HTTP\/1\.1 400 /,
  ],
  [
    "headers without end",
    `GET / HTTP/1.1\r\n${"X-Filler: 0123456789\r\n".repeat(5000)}`,
    /^it does not speak HTTP: Parse Error: Header overflow$/,
    /^HTTP\/1\.1 431 /,
  ],
  [
    "an upgrade to another protocol",
    upgradeRequest.replace("Upgrade: websocket", "Upgrade: h2c"),
    /^it has asked for no WebSocket: Invalid Upgrade header$/,
    /^HTTP\/1\.1 400 /,
  ],
  [
    "an upgrade without a key",
    upgradeRequest.replace(/Sec-WebSocket-Key.*\r\n(?=\r\n)/, ""),
    /^it has asked for no WebSocket: Missing or invalid Sec-WebSocket-Key header$/,
    /^HTTP\/1\.1 400 /,
  ],
  [
    "an upgrade by POST",
    upgradeRequest.replace("GET", "POST"),
    /^it has asked for no WebSocket: Invalid HTTP method$/,
    /^HTTP\/1\.1 400 /,
  ],
] as const)("a peer that sends %s is refused, and the reason is reported", async (_what, bytes, reason, answer) => {
  const served = await serve();
  const raw = await connectRaw(served.port);
  raw.socket.write(Buffer.from(bytes, "latin1"));
  await until(() => raw.hasEnded());
  expect(raw.text()).toMatch(answer);
  expect(served.refusals).toEqual([expect.stringMatching(reason)]);
  expect(served.accepted).toEqual([]);
});

test("a tunnel of HTTP is not opened", async () => {
  const { port, accepted } = await serve();
  const raw = await connectRaw(port);
  raw.socket.write("CONNECT 10.0.0.1:22 HTTP/1.1\r\nHost: 10.0.0.1:22\r\n\r\n");
  await until(() => raw.hasEnded());
  expect(accepted).toEqual([]);
});

test.each(["nothing", "half a request", "a WebSocket and nothing inside"])(
  "a peer that sends %s is cut off when its time is over",
  async (sends) => {
    const clock = new ManualClock();
    const served = await serve({ clock, handshakeMs: 5000 }, false);
    const raw = await connectRaw(served.port);
    if (sends === "half a request") raw.socket.write("GET / HTTP/1.1\r\nHost:");
    if (sends === "a WebSocket and nothing inside") {
      raw.socket.write(upgradeRequest);
      await until(() => served.accepted.length === 1);
    }
    // The limit counts from when the listener has accepted the connection.
    await until(() => clock.waiting > 0);
    clock.pass(4999);
    await soon(50);
    expect(raw.hasEnded()).toBe(false);
    clock.pass(1);
    await until(() => raw.hasEnded());
  },
);

test("more peers than may be half-open cut off the oldest of them, and others stay", async () => {
  const served = await serve({ halfOpen: 3 });
  const [near, far] = await pair(served);
  const idle: Raw[] = [];
  for (let i = 0; i < 4; i++) idle.push(await connectRaw(served.port));
  await until(() => idle[0]!.hasEnded());
  expect(idle.slice(1).map((raw) => raw.hasEnded())).toEqual([false, false, false]);
  const there = new ByteRecorder(far);
  near.write([Buffer.from("still here")], () => {});
  await there.bytes(10);
});

test.each([
  ["a frame that announces 2^60 bytes", [frame(2, Buffer.alloc(0), { length: 2 ** 60 })], "longer than 1 MiB"],
  ["a frame that announces 1 GiB", [frame(2, Buffer.alloc(100), { length: 2 ** 30 })], "longer than 1 MiB"],
  [
    "fragments of more than 1 MiB in all",
    Array.from({ length: 3 }, (_, i) => frame(i === 0 ? 2 : 0, Buffer.alloc(500_000), { fin: false })),
    "longer than 1 MiB",
  ],
  [
    "a continuation of nothing",
    [frame(0, Buffer.from("x"))],
    "the WebSocket has failed: Invalid WebSocket frame: invalid opcode 0",
  ],
  [
    "a reserved kind of frame",
    [frame(5, Buffer.from("x"))],
    "the WebSocket has failed: Invalid WebSocket frame: invalid opcode 5",
  ],
  [
    "a frame without a mask",
    [Buffer.from([0x82, 1, 65])],
    "the WebSocket has failed: Invalid WebSocket frame: MASK must be set",
  ],
  [
    "compressed bytes",
    [Buffer.from([0xc2, 0x81, 0, 0, 0, 0, 65])],
    "the WebSocket has failed: Invalid WebSocket frame: RSV1 must be clear",
  ],
  [
    "a fragmented ping",
    [Buffer.from([0x09, 0x80, 0, 0, 0, 0])],
    "the WebSocket has failed: Invalid WebSocket frame: FIN must be set",
  ],
] as const)("a peer that sends %s is cut off with the reason", async (_what, frames, why) => {
  const served = await serve();
  const raw = await upgradeRaw(served.port);
  await until(() => served.accepted.length === 1);
  const there = new ByteRecorder(served.accepted[0]!);
  for (const bytes of frames) raw.socket.write(bytes);
  expect((await there.end)?.message).toContain(why);
  await until(() => raw.hasEnded());
  expect(there.all.length).toBe(0);
});

test("a peer that asks by thousands of pings and reads no answer is cut off", async () => {
  const served = await serve();
  const raw = await upgradeRaw(served.port);
  await until(() => served.accepted.length === 1);
  const there = new ByteRecorder(served.accepted[0]!);
  raw.socket.pause();
  const pings = Buffer.concat(
    Array.from({ length: 1000 }, () => frame(9, Buffer.alloc(0)).fill(0x80, 1, 2).subarray(0, 6)),
  );
  const send = () => {
    if (!raw.socket.destroyed) raw.socket.write(pings, () => setImmediate(send));
  };
  send();
  expect((await there.end)?.message).toBe("the connection below the WebSocket has ended");
});
