/** Tests of messages that are encoded apart from a link: their layout, their size, and the ones that are refused. */
import { beforeEach, expect, test } from "vitest";
import { MessageSizeError } from "../../../runtime/link/errors.js";
import { HEADER_BYTES } from "../../../runtime/link/frame/frame.js";
import { defaultLinkLimits } from "../../../runtime/link/link-limits.js";
import { encodeMessage, encodeShared } from "../../../runtime/link/outbound/encode-message.js";
import type { MessageEncoder, OutboundMessage } from "../../../runtime/link/outbound/message-sender.js";
import type { Codec } from "../../../runtime/wire/codec.js";
import { CodecError } from "../../../runtime/wire/codec-error.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { hasRead } from "../../../runtime/wire/protobuf/has-read.js";
import { unknownFields } from "../../../runtime/wire/protobuf/unknown-fields.js";
import { protobufValue } from "../../../runtime/wire/protobuf-messages.js";

const text: OutboundMessage = {
  label: "a.text",
  codec: codec.string,
  protobuf: protobufValue(codec.string as Codec<unknown>),
};
const raw: OutboundMessage = { label: "a.bytes", codec: codec.bytes, protobuf: codec.bytes };
const point = codec.object("Point", { x: codec.int32 });
const points: OutboundMessage = {
  label: "a.point",
  codec: point as MessageEncoder,
  protobuf: protobufValue(point as Codec<unknown>),
};

/** Writes a few bytes. */
const writes = (...bytes: number[]): MessageEncoder => ({
  encodeInto: (w) => {
    const at = w.reserve(bytes.length);
    w.bytes.set(bytes, at);
  },
});
const refuses = (error: Error): MessageEncoder => ({
  encodeInto: () => {
    throw error;
  },
});

beforeEach(() => {
  hasRead.messages = true;
  hasRead.unknownFields = true;
});

test("a message is in the lockstep layout unless its receiver needs the protobuf layout", () => {
  const message = { label: "a.b", codec: writes(1), protobuf: writes(2, 3) };
  expect(encodeMessage(message, "x", defaultLinkLimits)).toEqual({
    bytes: Uint8Array.of(1),
    blocks: [],
    size: 1,
    isProtobuf: false,
  });
  expect(encodeMessage(message, "x", defaultLinkLimits, true)).toEqual({
    bytes: Uint8Array.of(2, 3),
    blocks: [],
    size: 2,
    isProtobuf: true,
  });
});

test("a value that the lockstep layout cannot represent is in the protobuf layout", () => {
  const value = { x: 1, [unknownFields]: Uint8Array.of(0xf8, 0x07, 1) };
  expect(encodeMessage(points, { x: 1 }, defaultLinkLimits).isProtobuf).toBe(false);
  expect(encodeMessage(points, value, defaultLinkLimits).isProtobuf).toBe(true);
});

test("a value that lockstep refuses is tried in protobuf if values of newer schemas have been read", () => {
  const refusal = new CodecError("encode", "Color", "why");
  const message = { label: "a.b", codec: refuses(refusal), protobuf: writes(2) };
  expect(encodeMessage(message, "x", defaultLinkLimits)).toMatchObject({ bytes: Uint8Array.of(2), isProtobuf: true });
  const broken = new Error("broken");
  expect(() => encodeMessage({ ...message, codec: refuses(broken) }, "x", defaultLinkLimits)).toThrow(broken);
  hasRead.messages = false;
  expect(() => encodeMessage(message, "x", defaultLinkLimits)).toThrow(refusal);
});

test("a value that both layouts refuse fails with the lockstep error, and a single codec encodes it once", () => {
  const refusal = new CodecError("encode", "Color", "why");
  const other = new CodecError("encode", "Color", "why else");
  expect(() =>
    encodeMessage({ label: "", codec: refuses(refusal), protobuf: refuses(other) }, 1, defaultLinkLimits),
  ).toThrow(refusal);
  let times = 0;
  const same: MessageEncoder = {
    encodeInto: () => {
      times++;
      throw refusal;
    },
  };
  expect(() => encodeMessage({ label: "", codec: same, protobuf: same }, 1, defaultLinkLimits)).toThrow(refusal);
  expect(times).toBe(1);
});

test("the size of a message includes its blocks, which are not copied", () => {
  const block = new Uint8Array(100_000);
  const { bytes, blocks, size } = encodeMessage(raw, block, defaultLinkLimits);
  expect([blocks.length, blocks[0]?.buffer === block.buffer, size]).toEqual([1, true, bytes.length + block.length]);
  expect(encodeMessage(text, "x", defaultLinkLimits).blocks).toEqual([]);
});

test("a message that does not fit into a frame is refused", () => {
  const limits = { ...defaultLinkLimits, maxFrame: HEADER_BYTES + 3 };
  const message = (size: number): OutboundMessage => ({ ...text, codec: writes(...Array(size).fill(1)) });
  expect(encodeMessage(message(3), "x", limits).size).toBe(3);
  expect(() => encodeMessage(message(4), "x", limits)).toThrow(
    new MessageSizeError(
      `cannot send a.text: its message has 4 bytes, more than the limit of ${HEADER_BYTES + 3} for a frame; send it in parts`,
    ),
  );
});

test("a message that a getter encodes while another message is encoded does not change either message", () => {
  const seen: string[] = [];
  const outer: MessageEncoder = {
    encodeInto: (w) => {
      const at = w.reserve(2);
      seen.push(`inner ${encodeMessage({ ...text, codec: writes(7) }, "", defaultLinkLimits).bytes}`);
      w.bytes.set([8, 9], at);
    },
  };
  seen.push(`outer ${encodeMessage({ ...text, codec: outer }, "", defaultLinkLimits).bytes}`);
  const half: MessageEncoder = {
    encodeInto: (w) => {
      w.reserve(5);
      w.blocks.push(new Uint8Array(5));
      throw new Error("broken");
    },
  };
  expect(() => encodeMessage({ ...text, codec: half }, "", defaultLinkLimits)).toThrow("broken");
  const after = encodeMessage({ ...text, codec: writes(1) }, "", defaultLinkLimits);
  seen.push(`after ${after.bytes}, ${after.size} bytes, ${after.blocks.length} blocks`);
  expect(seen).toEqual(["inner 7", "outer 8,9", "after 1, 1 bytes, 0 blocks"]);
});

test("all who keep a shared message get one copy, which outlives the memory of the message", () => {
  const message = { label: "a.b", codec: writes(1, 2, 3), protobuf: writes(9) };
  const shared = encodeShared(message, "x", defaultLinkLimits);
  const kept = shared.keep();
  expect(shared.keep()).toBe(kept);
  shared.release();
  encodeShared({ ...message, codec: writes(7, 7, 7) }, "x", defaultLinkLimits).release();
  expect(kept).toEqual({ bytes: Uint8Array.of(1, 2, 3), blocks: [], size: 3, isProtobuf: false });
});

test("a message that is encoded before a shared one is released does not change it", () => {
  const message = { label: "a.b", codec: writes(1, 2, 3), protobuf: writes(9) };
  const shared = encodeShared(message, "x", defaultLinkLimits);
  encodeMessage({ ...message, codec: writes(7, 7, 7) }, "x", defaultLinkLimits);
  expect([...shared.bytes]).toEqual([1, 2, 3]);
  shared.release();
});

test("a message that is refused leaves no blocks to the next message", () => {
  const block = new Uint8Array(40_000);
  expect(() => encodeShared(raw, block, { ...defaultLinkLimits, maxFrame: 100 })).toThrow(MessageSizeError);
  const next = encodeShared({ label: "a.b", codec: writes(1), protobuf: writes(2) }, "x", defaultLinkLimits);
  expect(next).toMatchObject({ blocks: [], size: 1 });
  next.release();
});
