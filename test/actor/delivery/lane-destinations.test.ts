/** These tests check lanes to ports, to calls that are answered by port, and to actors that do not exist. */
import { beforeEach, describe, expect, test } from "vitest";
import { ForwardedReply, type ReplyAnswerer } from "../../../runtime/actor/cell/forwarded-reply.js";
import { EarlyMessages } from "../../../runtime/actor/delivery/early-messages.js";
import { RefusingDestination } from "../../../runtime/actor/delivery/refusing-destination.js";
import { bindPort, portInterface, readPortValue } from "../../../runtime/actor/schema/port-interface.js";
import { translateToProtobuf } from "../../../runtime/actor/schema/translate-layout.js";
import { DeliveryError } from "../../../runtime/link/errors.js";
import { type Binding, Layout } from "../../../runtime/link/frame/binding.js";
import { FrameFlag, ProtocolError, SyncKind } from "../../../runtime/link/frame/frame.js";
import type { Destination, Lane } from "../../../runtime/link/inbound/lane.js";
import { defaultLinkLimits } from "../../../runtime/link/link-limits.js";
import { encodeMessage } from "../../../runtime/link/outbound/encode-message.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { protobufValue } from "../../../runtime/wire/protobuf-messages.js";
import { Reader } from "../../../runtime/wire/reader.js";

let told: unknown[];
beforeEach(() => {
  told = [];
});

function newLane(more: object = {}): Lane {
  const link = {
    sendBound: (id: number, base: number, schema: unknown) => told.push(["bound", id, base, schema]),
    sendBounce: (id: number, slot: number, error: DeliveryError) =>
      told.push(["back", id, slot, error.reason, error.message]),
    sendError: (call: number, credited: boolean) => told.push(["error", call, credited]),
  };
  return {
    id: 3,
    isOpen: true,
    slots: [],
    link,
    sender: { name: "sender" },
    pause: () => told.push("paused"),
    consumed: (size: number) => told.push(["consumed", size]),
    sendGone: (reason: string, message: string) => told.push(["gone", reason, message]),
    redirect: (to: unknown) => told.push(["redirected", to]),
    syncReceived: (...args: unknown[]) => told.push(["synced", ...args]),
    ...more,
  } as unknown as Lane;
}
const binding = (more: Partial<Binding>): Binding =>
  ({ firstSlot: 2, layout: Layout.lockstep, key: "", fingerprint: 1n, endpoints: [], ...more }) as Binding;

function readerOf(bytes: Uint8Array, blocks?: readonly Uint8Array[]): Reader {
  const r = new Reader();
  r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0, bytes.length, blocks);
  return r;
}

describe("a lane to an actor or port that does not exist", () => {
  const error = new DeliveryError("unknown", "it is gone");

  test("returns each message, rejects each call, and announces once that the target is gone", () => {
    const refusal = new RefusingDestination(error);
    const lane = newLane();
    refusal.message(lane, 4, 0, 0, new Reader(), 8);
    refusal.message(lane, 5, 7, 0, new Reader(), 8);
    expect(told).toEqual([
      ["back", 3, 4, "unknown", "it is gone"],
      ["consumed", 8],
      ["gone", "unknown", "it is gone"],
      ["error", 7, false],
    ]);
  });

  test("confirms a binding in the lockstep layout, and sends nothing for other layouts", () => {
    const refusal = new RefusingDestination(error);
    for (const layout of [Layout.lockstep, Layout.protobuf, Layout.none]) refusal.bind(newLane(), binding({ layout }));
    expect(told).toEqual([["bound", 3, 2, undefined]]);
  });
});

describe("a lane to an actor that does not exist yet", () => {
  const nobody = {} as Destination;

  test("passes a request for confirmation to the actor if the actor exists by then", () => {
    const held = new EarlyMessages();
    held.release(nobody);
    const lane = newLane();
    held.confirmHandled(lane);
    expect(told).toEqual([
      ["redirected", nobody],
      ["synced", SyncKind.reached, 0],
    ]);
  });

  test("passes an earlier request for confirmation to the actor when the actor is created", () => {
    const held = new EarlyMessages();
    const lane = newLane();
    held.confirmHandled(lane);
    expect(told).toEqual([]);
    held.release(nobody);
    expect(told).toEqual([
      ["redirected", nobody],
      ["synced", SyncKind.reached, 0],
    ]);
  });
});

describe("the value type of a port", () => {
  const schema = { fingerprint: 9n, description: "" };
  const bind = (more: Partial<Binding>, element = codec.int32) => {
    const lane = newLane();
    bindPort(lane, binding(more), element, (known) => {
      told.push(known);
      return schema;
    });
    return lane;
  };

  test("is described by one interface object for each codec", () => {
    expect(portInterface(codec.int32)).toBe(portInterface(codec.int32));
    expect(portInterface(codec.int32)).toMatchObject({ key: "port of int32", name: "port" });
    expect(portInterface(codec.int32).asActor().name).toBe("Port");
  });

  test("is confirmed if both sides have the same type", () => {
    bind({ fingerprint: codec.int32.fingerprint });
    expect(told).toEqual([["bound", 3, 2, undefined]]);
  });

  test("is described to a sender that has another type, and the lane pauses", () => {
    bind({});
    expect(told).toEqual(["paused", portInterface(codec.int32), ["bound", 3, 2, schema]]);
  });

  test.each([Layout.protobuf, Layout.none])("is not described to a sender that binds layout %i", (layout) => {
    expect(bind({ layout }).slots.length > 0).toBe(layout === Layout.protobuf);
    expect(told).toEqual([]);
  });

  test("is decoded in the agreed layout, and another layout violates the protocol", () => {
    const lane = bind({ layout: Layout.protobuf });
    const limits = defaultLinkLimits;
    const message = { label: "port", codec: codec.int32, protobuf: protobufValue(codec.int32) };
    const [plain, protobuf] = [false, true].map((asked) => encodeMessage(message, 5, limits, asked).bytes);
    expect(readPortValue(lane, 2, FrameFlag.protobuf, readerOf(protobuf!), codec.int32)).toBe(5);
    expect(readPortValue(lane, 3, 0, readerOf(plain!), codec.int32)).toBe(5);
    expect(() => readPortValue(lane, 2, 0, readerOf(plain!), codec.int32)).toThrow(
      new ProtocolError("cannot read message to a port: it was agreed to be in the protobuf layout, and is not"),
    );
  });
});

describe("the port of a call that other actors can answer", () => {
  let forward: ForwardedReply;
  let refuses: boolean;
  beforeEach(() => {
    refuses = false;
    const take = (what: string) => (value: unknown) => {
      if (refuses) throw new Error("answered already");
      told.push([what, value instanceof Error ? value.message : value]);
    };
    const answerer: ReplyAnswerer = { answer: take("answer"), fail: take("fail") };
    const cell = { proc: { closePort: (port: unknown) => told.push(["port closed", port]) } };
    forward = new ForwardedReply(answerer, cell as never, 9n, codec.int32);
  });
  const value = () => readerOf(codec.int32.encode(5));

  test("answers the call with the value that it receives", () => {
    forward.message(newLane(), 0, 0, 0, value(), 8);
    expect(told).toEqual([
      ["answer", 5],
      ["consumed", 8],
    ]);
  });

  test("returns a second answer to its sender as refused", () => {
    refuses = true;
    forward.message(newLane(), 4, 0, 0, value(), 8);
    expect(told).toEqual([
      ["back", 3, 4, "refused", "answered already"],
      ["consumed", 8],
    ]);
  });

  test("throws ProtocolError if a value is not in the agreed layout", () => {
    const lane = newLane();
    forward.bind(lane, binding({ layout: Layout.protobuf }));
    expect(() => forward.message(lane, 2, 0, 0, value(), 8)).toThrow(ProtocolError);
    expect(told).toEqual([]);
  });

  test("confirms the binding of a sender that has the same type", () => {
    forward.bind(newLane(), binding({ fingerprint: codec.int32.fingerprint }));
    expect(told).toEqual([["bound", 3, 2, undefined]]);
  });

  test("fails the call when all holders of the port or their processes have ended", () => {
    const why = "everyone who could answer the call has ended:";
    forward.setHolder("one", 2n, true);
    forward.setHolder("other", 3n, true);
    forward.setHolder("one", 2n, false);
    expect(told).toEqual([]);
    forward.peerDown(4n, "it was killed");
    expect(told).toEqual([]);
    forward.peerDown(3n, "it was killed");
    expect(told).toEqual([["fail", `${why} it was killed`]]);
    forward.laneOpenedBy({ universe: 1n, proc: 2n, mesh: 3n, rank: 0, incarnation: 0 });
    forward.setHolder("3/0/0", 2n, false);
    expect(told[1]).toEqual(["fail", `${why} the actor that held its port has ended`]);
  });

  test("is removed from the open ports of its process when it closes", () => {
    forward.close();
    expect(told).toEqual([["port closed", forward]]);
  });
});

test.each([10, 1_000_000])(
  "a lockstep message of %i bytes keeps its value when it is translated to the protobuf layout",
  (length) => {
    const protobuf = protobufValue(codec.bytes);
    const message = { label: "bytes", codec: codec.bytes, protobuf };
    const bytes = Uint8Array.from({ length }, (_, i) => i);
    const before = encodeMessage(message, bytes, defaultLinkLimits);
    const after = translateToProtobuf(codec.bytes, protobuf, before, defaultLinkLimits);
    expect([before.isProtobuf, after.isProtobuf]).toEqual([false, true]);
    const read = protobuf.decodeFrom(readerOf(after.bytes, after.blocks.length === 0 ? undefined : after.blocks));
    expect(Buffer.compare(read as Uint8Array, bytes)).toBe(0);
  },
);
