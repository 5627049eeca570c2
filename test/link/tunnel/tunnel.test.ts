/** Tests that channels of a tunnel are pipes of their own, with bounded memory, whatever the peer sends. */
import { expect, test } from "vitest";
import { inProcessPipePair } from "../../../runtime/link/transport/in-process/pipe.js";
import { newTunnelFrame, numberBody, openBody, TunnelKind } from "../../../runtime/link/tunnel/frame.js";
import { type ChannelRequest, Tunnel } from "../../../runtime/link/tunnel/tunnel.js";
import { Counter, joinedTunnel, settled, sumOf } from "./joined.js";

const KiB = 1024;
const bytesOf = (size: number) => Uint8Array.from({ length: size }, (_, i) => (i * 7 + (i >> 8)) & 0xff);

test("bytes arrive on their channel in order, also those of a write that is larger than the window", async () => {
  const { pair } = joinedTunnel();
  const [near, far] = await pair();
  const [other, otherFar] = await pair();
  const heard = new Counter(far);
  const heardOther = new Counter(otherFar);
  const back = new Counter(near);
  const large = bytesOf(3_000_001);
  let written = 0;
  near.write([large.subarray(0, 5), new Uint8Array(0), large.subarray(5)], () => written++);
  other.write([bytesOf(10)], () => written++);
  far.write([bytesOf(70_000)], () => written++);
  near.write([], () => written++);
  await settled();
  expect([heard.bytes, heard.sum]).toEqual([large.length, sumOf(large)]);
  expect([heardOther.bytes, heardOther.sum]).toEqual([10, sumOf(bytesOf(10))]);
  expect([back.bytes, back.sum]).toEqual([70_000, sumOf(bytesOf(70_000))]);
  expect(written).toBe(4);
});

test("a channel whose reader does not read holds one window, and other channels go on", async () => {
  const { pair } = joinedTunnel({ window: 64 * KiB });
  const [near, far] = await pair();
  const [other, otherFar] = await pair();
  let isWritten = false;
  near.write([new Uint8Array(1_000_000)], () => {
    isWritten = true;
  });
  await settled();
  expect(near.waitingBytes).toBe(1_000_000 - 64 * KiB);
  expect(isWritten).toBe(false);
  const heardOther = new Counter(otherFar);
  other.write([new Uint8Array(500_000)], () => {});
  await settled();
  expect(heardOther.bytes).toBe(500_000);
  const heard = new Counter(far);
  await settled();
  expect(heard.bytes).toBe(1_000_000);
  expect(isWritten).toBe(true);
});

test("a paused channel holds what has come, and goes on when it is resumed", async () => {
  const { pair } = joinedTunnel({ window: 64 * KiB });
  const [near, far] = await pair();
  const heard = new Counter(far);
  far.pause();
  near.write([new Uint8Array(200_000)], () => {});
  await settled();
  expect(heard.bytes).toBe(0);
  expect(near.waitingBytes).toBe(200_000 - 64 * KiB);
  far.resume();
  await settled();
  expect(heard.bytes).toBe(200_000);
});

test("windows grow while the reader keeps up, all together by a limited number of bytes", async () => {
  const { near, pair } = joinedTunnel({ window: 64 * KiB, maxWindow: 256 * KiB, growth: 300 * KiB });
  const [a, farA] = await pair();
  const [b, farB] = await pair();
  new Counter(farA);
  new Counter(farB);
  a.write([new Uint8Array(2_000_000)], () => {});
  await settled();
  b.write([new Uint8Array(2_000_000)], () => {});
  await settled();
  expect([farA.window.size, farB.window.size]).toEqual([256 * KiB, (64 + 108) * KiB]);
  a.close();
  await settled();
  // The channel that has ended has left its bytes to others.
  b.write([new Uint8Array(2_000_000)], () => {});
  await settled();
  expect(farB.window.size).toBe(256 * KiB);
  expect(near.channelCount).toBe(1);
});

test("a few bytes of one channel go before the many of another one", async () => {
  const { pair } = joinedTunnel({ window: 4096 * KiB });
  const [bulk, bulkFar] = await pair();
  const [call, callFar] = await pair();
  const heardBulk = new Counter(bulkFar);
  const heardCall = new Counter(callFar);
  let bulkBefore = -1;
  const { received } = heardCall;
  heardCall.received = (n) => {
    if (bulkBefore === -1) bulkBefore = heardBulk.bytes;
    received.call(heardCall, n);
  };
  bulk.write([new Uint8Array(3_000_000)], () => {});
  call.write([new Uint8Array(100)], () => {});
  await settled();
  expect(heardBulk.bytes).toBe(3_000_000);
  expect(bulkBefore).toBe(0);
});

test("a channel that is closed ends in order after its bytes, and one that is destroyed with the reason", async () => {
  const { near, far, pair } = joinedTunnel();
  const [a, farA] = await pair();
  const [b, farB] = await pair();
  const heardA = new Counter(farA);
  const heardB = new Counter(farB);
  const ownB = new Counter(b);
  a.write([new Uint8Array(300_000)], () => {});
  a.close();
  b.destroy(new Error("it has had enough"));
  await settled();
  expect([heardA.bytes, heardA.end]).toEqual([300_000, "in order"]);
  expect([heardB.end, ownB.end]).toEqual(["it has had enough", "it has had enough"]);
  expect([near.channelCount, far.channelCount]).toEqual([0, 0]);
});

test("a refused channel rejects with the code and the reason of the other side", async () => {
  const { near, requests } = joinedTunnel();
  const { connected } = near.openChannel("[::1]:7");
  await settled();
  expect(requests[0]!.address).toBe("[::1]:7");
  requests[0]!.refuse("ECONNREFUSED", "nobody listens\nthere");
  await expect(connected).rejects.toMatchObject({ code: "ECONNREFUSED", message: "nobody listens\nthere" });
  expect(near.channelCount).toBe(0);
});

test("channels beyond the limit are refused", async () => {
  const { near, pair } = joinedTunnel({ channels: 1 });
  await pair();
  await expect(near.openChannel("n2:1").connected).rejects.toMatchObject({
    code: "EAGAIN",
    message: "the host has 1 channels for this driver and opens no more",
  });
});

test("the end of the connection ends all channels, and writes on them are dropped", async () => {
  const { near, far, ends, pair } = joinedTunnel();
  const [a, farA] = await pair();
  const heard = new Counter(a);
  const heardFar = new Counter(farA);
  const waiting = near.openChannel("n3:1").connected;
  far.destroy(new Error("the host is stopping"));
  await expect(waiting).rejects.toThrow("the tunnel has ended");
  await settled();
  expect(heard.end).toMatch(/^the tunnel has ended/);
  expect(heardFar.end).toBe("the tunnel has ended: the host is stopping");
  expect(ends.length).toBe(2);
  let isDone = false;
  a.write([new Uint8Array(5)], () => {
    isDone = true;
  });
  await settled();
  expect(isDone).toBe(true);
  await expect(near.openChannel("n2:1").connected).rejects.toThrow("the tunnel has ended");
});

test("a ping is answered", async () => {
  const { near } = joinedTunnel();
  await near.ping();
});

/** A tunnel whose peer sends these bytes. Returns the reason with which it ends. */
async function against(bytes: Uint8Array, hasOpened = true): Promise<string | undefined> {
  const [a, b] = inProcessPipePair();
  let end: string | undefined;
  const requests: ChannelRequest[] = [];
  const opened = (request: ChannelRequest) => {
    requests.push(request);
    request.confirm();
  };
  new Tunnel(a, {
    limits: { window: 1000 },
    ...(hasOpened ? { opened } : {}),
    ended: (error) => {
      end = error?.message;
    },
  });
  b.open({ buffer: () => Buffer.alloc(4096), received() {}, closed() {} });
  b.write([bytes], () => {});
  await settled();
  return end;
}

const open = (number: number) => newTunnelFrame(TunnelKind.open, number, openBody(1000, "n2:1"));

test.each([
  ["an unknown kind", newTunnelFrame(99, 1), "cannot read frame of a tunnel: kind 99 cannot have 0 bytes"],
  [
    "a frame that is too large",
    newTunnelFrame(TunnelKind.data, 1, new Uint8Array(32 * KiB + 1)),
    "cannot read frame of a tunnel: kind 4 cannot have 32769 bytes",
  ],
  ["a channel that exists", Buffer.concat([open(1), open(1)]), "the peer opens channel 1 of a tunnel twice"],
  [
    "more than its credit",
    Buffer.concat([open(1), newTunnelFrame(TunnelKind.data, 1, new Uint8Array(1001))]),
    "the peer has sent more on a channel of a tunnel than it has credit for",
  ],
  [
    "credit of 0 bytes",
    Buffer.concat([open(1), newTunnelFrame(TunnelKind.credit, 1, new Uint8Array(4))]),
    "cannot read credit of a tunnel: the number is 0",
  ],
  [
    "the answer to its own request",
    Buffer.concat([open(1), newTunnelFrame(TunnelKind.opened, 1, numberBody(5))]),
    "the peer has connected a channel of a tunnel twice",
  ],
  [
    "a refusal of its own request",
    Buffer.concat([open(1), newTunnelFrame(TunnelKind.refused, 1)]),
    "the peer has refused a channel of a tunnel that it has connected",
  ],
])("a peer that sends %s ends the tunnel", async (_, bytes, expected) => {
  expect(await against(bytes)).toBe(expected);
});

test("a driver's tunnel ends when the gateway opens a channel", async () => {
  expect(await against(open(1), false)).toBe("the peer opens a channel of a tunnel that this process has dialled");
});

test("frames for channels that have ended are ignored", async () => {
  const kinds = [TunnelKind.credit, TunnelKind.opened].map((kind) => newTunnelFrame(kind, 7, numberBody(1)));
  const rest = [TunnelKind.end, TunnelKind.reset, TunnelKind.refused].map((kind) => newTunnelFrame(kind, 7));
  const data = newTunnelFrame(TunnelKind.data, 7, new Uint8Array(5000));
  expect(await against(Buffer.concat([...kinds, ...rest, data]))).toBeUndefined();
});

test("a peer that asks and does not read the answers is disconnected", async () => {
  const written: (() => void)[] = [];
  let end: string | undefined;
  let sink: { buffer(): Uint8Array; received(n: number): void } | undefined;
  const deaf = {
    open(given: typeof sink) {
      sink = given;
    },
    write: (_: unknown, done: () => void) => void written.push(done),
    close() {},
    destroy() {},
    ref() {},
    unref() {},
  };
  new Tunnel(deaf, {
    ended: (error) => {
      end = error?.message;
    },
  });
  const pings = Buffer.concat(Array.from({ length: 1000 }, (_, i) => newTunnelFrame(TunnelKind.ping, i)));
  for (let i = 0; i < 700 && end === undefined; i++) {
    await Promise.resolve();
    for (let at = 0; at < pings.length; ) {
      const target = sink!.buffer();
      const size = Math.min(target.length, pings.length - at);
      target.set(pings.subarray(at, at + size));
      sink!.received(size);
      at += size;
    }
  }
  expect(end).toBe("the peer of the tunnel does not read what it has asked for");
});
