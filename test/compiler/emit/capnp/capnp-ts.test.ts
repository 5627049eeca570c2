/**
 * capnp-ts, the other implementation in TypeScript: messages are exchanged with it, and a test shows why our readers do
 * not use it. See docs/decisions/0055-viceroy-has-its-own-capnp-reader.md.
 */
import { Message, ObjectSize, Struct } from "capnp-ts";
import { expect, test } from "vitest";
import { decodeMarkCapnp, readMarkCapnp, writeMarkCapnp } from "./golden/kinds/capnp/kinds.js";

/** `Mark`, as the compiler of capnp-ts would generate it. */
class Mark extends Struct {
  static override readonly _capnp = { displayName: "Mark", id: "b39e533ac1b71ae2", size: new ObjectSize(24, 2) };
  get at(): bigint {
    return Struct.getUint64(0, this);
  }
  get text(): string {
    return Struct.getText(0, this);
  }
}

/** `Mark` of a newer schema, with one more pointer. */
class LargerMark extends Mark {
  static override readonly _capnp = { displayName: "Mark", id: "b39e533ac1b71ae2", size: new ObjectSize(24, 3) };
}

const mark = { at: 5n, text: "naïve", sure: true, weight: null, by: "me" };

function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return bytes.slice().buffer as ArrayBuffer;
}

test("capnp-ts reads our messages", () => {
  const root = new Message(bufferOf(writeMarkCapnp(mark)), false).getRoot(Mark);
  expect(root.at).toBe(5n);
  expect(root.text).toBe("naïve");
});

test("our readers and decoders read messages of capnp-ts", () => {
  const message = new Message();
  const root = message.initRoot(Mark);
  Struct.setUint64(0, 7n, root);
  Struct.setText(0, "theirs", root);
  const bytes = new Uint8Array(message.toArrayBuffer());
  expect(readMarkCapnp(bytes).at).toBe(7n);
  expect(decodeMarkCapnp(bytes)).toStrictEqual({ at: 7n, text: "theirs", by: null });
});

test("capnp-ts copies the message, refuses shared memory, and writes into messages that it reads", () => {
  const bytes = writeMarkCapnp(mark);
  const buffer = bufferOf(bytes);
  const message = new Message(buffer, false);
  expect(message.getSegment(0).buffer).not.toBe(buffer);
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  expect(() => new Message(shared, false)).toThrow("capnp-ts does not support SharedArrayBuffer");
  const before = new Uint8Array(message.getSegment(0).buffer.slice(0, bytes.length - 8));
  message.getRoot(LargerMark);
  const after = new Uint8Array(message.getSegment(0).buffer.slice(0, bytes.length - 8));
  expect(Buffer.compare(before, after)).not.toBe(0);
});
