/** The queue of a port with fake lanes: what happens to messages that nobody will receive, and when receivers are orphaned. */
import { beforeEach, describe, expect, test } from "vitest";
import { ActorError, type DeliveryError, OrphanedError, PortClosedError } from "../../../runtime/actor/errors.js";
import { portsRead } from "../../../runtime/actor/port/announce-holders.js";
import { PortQueue } from "../../../runtime/actor/port/port-queue.js";
import type { LocalActor } from "../../../runtime/actor/reference/local-actor.js";
import { type Binding, Layout } from "../../../runtime/link/frame/binding.js";
import { FrameFlag, ProtocolError } from "../../../runtime/link/frame/frame.js";
import type { Lane } from "../../../runtime/link/inbound/lane.js";
import type { Codec } from "../../../runtime/wire/codec.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { Reader } from "../../../runtime/wire/reader.js";
import { Parts, settled } from "../parts.js";

let parts: Parts;
let told: string[];
let cell: LocalActor;
let queue: PortQueue;

beforeEach(() => {
  parts = new Parts();
  told = parts.told;
  const closePort = () => told.push("port closed");
  const ports = { ownDecoded: () => told.push(`owns ${portsRead.splice(0).length}`) };
  cell = { ...parts.cell, proc: { ...parts.cell.proc, closePort }, ports, isRoot: false } as unknown as LocalActor;
  queue = new PortQueue(cell, 5n, codec.int32 as Codec<unknown>);
});

function newLane(name: string): Lane {
  const sendGone = (reason: string, why: string) => told.push(`${name} gone: ${reason}: ${why}`);
  const sender = { proc: 8n, mesh: 6n, rank: 2, incarnation: 0, name };
  const lane = parts.newLane(name);
  const sendBounce = (_lane: number, slot: number, { reason, message }: DeliveryError) =>
    told.push(`${name}: back ${slot}: ${reason}: ${message}`);
  return { ...lane, link: { ...lane.link, sendBounce }, slots: [], sendGone, sender } as unknown as Lane;
}

function reader(bytes: Uint8Array): Reader {
  const r = new Reader();
  r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length);
  return r;
}

const send = (lane: Lane, value: number, call = 0, size = 8) =>
  queue.message(lane, 0, call, 0, reader(codec.int32.encode(value)), size);
const failure = (promise: Promise<unknown> | undefined): Promise<Error> =>
  promise!.then(undefined as never, (error) => error);

describe("a message to a port that is closed", () => {
  test("returns to its sender with its credit, or fails its call", () => {
    queue.close("its receiver was closed");
    told.length = 0;
    send(newLane("a"), 1);
    send(newLane("b"), 2, 7);
    expect(told).toEqual([
      "a: back 0: unknown: its receiver was closed",
      "a: credit 8",
      "b: error 7: unknown: its receiver was closed",
    ]);
    expect(queue.wait(() => told.push("received"))).toBeDefined();
    expect(told).toHaveLength(3);
  });

  test("is preceded by a notice to the senders whose lanes are open, which is sent once", () => {
    const [open, closed] = [newLane("open"), newLane("closed")];
    send(open, 1);
    send(closed, 2);
    queue.laneClosed(closed);
    queue.close("its receiver was closed");
    queue.close("another reason");
    expect(told).toEqual(["open gone: unknown: its receiver was closed", "port closed"]);
  });
});

describe("a closed queue", () => {
  test("rejects receivers that wait and later ones with the first reason, and drops its values", async () => {
    const waiting = new Promise((resolve) => queue.wait((value) => resolve(failure(value))));
    queue.close("its receiver was closed");
    queue.close("another reason");
    const closed = new PortClosedError("cannot receive: its receiver was closed");
    expect(await waiting).toEqual(closed);
    expect(await failure(queue.take())).toEqual(closed);
    const filled = new PortQueue(cell, 6n, codec.int32 as Codec<unknown>);
    filled.message(newLane("a"), 0, 0, 0, reader(codec.int32.encode(1)), 8);
    filled.close("its receiver was closed");
    expect(await failure(filled.take())).toEqual(closed);
  });

  test("says so if its receiver was dropped", async () => {
    queue.dropped();
    expect(await failure(queue.take())).toEqual(new PortClosedError("cannot receive: its receiver was dropped"));
  });
});

describe("receivers", () => {
  test("get the values in the order in which they began to wait, and the credit returns then", async () => {
    const got: unknown[] = [];
    const lane = newLane("a");
    for (const name of ["first", "second"]) queue.wait((value) => void value.then((n) => got.push([name, n])));
    send(lane, 1, 0, 10);
    send(lane, 2, 0, 11);
    send(lane, 3, 0, 12);
    await settled();
    expect(got).toEqual([
      ["first", 1],
      ["second", 2],
    ]);
    expect(told).toEqual(["a: credit 10", "a: credit 11"]);
    expect(await queue.take()).toBe(3);
    expect(told.at(-1)).toBe("a: credit 12");
    expect(queue.take()).toBe(undefined);
  });

  test("that stop waiting get nothing, and only once", async () => {
    const got: string[] = [];
    const [one, other] = ["one", "other"].map((name) => queue.wait(() => void got.push(name)));
    expect([queue.stopWaiting(one!), queue.stopWaiting(one!)]).toEqual([true, false]);
    send(newLane("a"), 1);
    expect(got).toEqual(["other"]);
    expect(queue.stopWaiting(other!)).toBe(false);
  });
});

describe("what a sender has sent", () => {
  test("rejects the receiver if it cannot be decoded, and later values arrive", async () => {
    queue.message(newLane("a"), 0, 0, 0, reader(Uint8Array.of(1)), 8);
    send(newLane("a"), 2);
    expect((await failure(queue.take())).message).toMatch(/^cannot decode int32/);
    expect(await queue.take()).toBe(2);
  });

  test("breaks the protocol if it is not in the layout that was agreed on", () => {
    const lane = newLane("a");
    const binding: Binding = {
      firstSlot: 0,
      layout: Layout.protobuf,
      key: "port of int32",
      fingerprint: 1n,
      endpoints: [],
    };
    queue.bind(lane, binding);
    expect(() => send(lane, 1)).toThrow(ProtocolError);
  });

  test("can be an error, which names the sender", async () => {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, 0, true);
    queue.message(newLane("counters[2]"), 0, 0, FrameFlag.exception, reader(bytes), 8);
    const error = (await failure(queue.take())) as ActorError;
    expect(error).toBeInstanceOf(ActorError);
    expect([error.actor, error.rank, error.endpoint]).toEqual(["counters[2]", 2, "port"]);
  });

  test("can contain ports, which the receiving actor then holds", async () => {
    const plain = codec.int32 as Codec<unknown>;
    const withPort = Object.assign(Object.create(plain) as Codec<unknown>, {
      decodeFrom: (r: Reader) => {
        portsRead.push({ target: {} as never });
        return plain.decodeFrom(r);
      },
    });
    queue = new PortQueue(cell, 5n, withPort);
    send(newLane("a"), 1);
    expect(await queue.take()).toBe(1);
    expect(told).toEqual(["owns 1", "a: credit 8"]);
    told.length = 0;
    queue = new PortQueue(cell, 5n, plain);
    send(newLane("a"), 1);
    expect(told).toEqual([]);
  });
});

describe("a receiver is orphaned", () => {
  test("when the process of the only actor that has opened a lane ends", async () => {
    queue.laneOpenedBy(newLane("a").sender);
    const waiting = new Promise<Error>((resolve) => queue.wait((value) => resolve(failure(value))));
    queue.peerDown(9n, "another process");
    queue.peerDown(8n, "it was killed");
    const error = await waiting;
    expect(error).toBeInstanceOf(OrphanedError);
    expect(error.message).toBe("cannot receive: everyone who held the port has ended: it was killed");
    expect((await failure(queue.take())).message).toBe(error.message);
  });

  test("not while another actor holds the port, nor before anybody has held it", () => {
    queue.peerDown(8n, "it was killed");
    expect(queue.take()).toBe(undefined);
    queue.setHolder("6/2/0", 8n, true);
    queue.setHolder("6/3/0", 9n, true);
    queue.setHolder("6/2/0", 8n, false);
    expect(queue.take()).toBe(undefined);
  });
});
