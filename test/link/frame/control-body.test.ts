/** Tests that fixed fields, texts and headers are read as they were written, and that nothing is read behind their end. */
import { expect, test } from "vitest";
import { formatId, isSameAddress } from "../../../runtime/link/address.js";
import { DeliveryError, type DeliveryReason, deliveryReasons, meansTargetEnded } from "../../../runtime/link/errors.js";
import {
  bodySize,
  readBody,
  readF64,
  readText,
  readU32,
  readU64,
  writeF64,
  writeText,
  writeU32,
  writeU64,
} from "../../../runtime/link/frame/control-body.js";
import {
  align8,
  beginFrame,
  copyBytes,
  endFrame,
  HEADER_BYTES,
  ProtocolError,
} from "../../../runtime/link/frame/frame.js";
import { Reader } from "../../../runtime/wire/reader.js";
import { Writer } from "../../../runtime/wire/writer.js";

function readerOf(bytes: Uint8Array, start = 0, blocks?: readonly Uint8Array[]): Reader {
  const r = new Reader();
  r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.length), start, bytes.length, blocks);
  return r;
}

function written(write: (w: Writer) => void): Uint8Array {
  const w = new Writer(64);
  write(w);
  return w.copy(0);
}

test("fields are little-endian without gaps, and a body that ends too early is refused", () => {
  const bytes = written((w) => {
    writeU32(w, 0x0102_0304);
    writeU64(w, 0x0102_0304_0506_0708n);
    writeF64(w, -2.5);
    writeText(w, "naïve");
    writeText(w, "");
  });
  expect([...bytes.subarray(0, 12)]).toEqual([4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1]);
  const read = (r: Reader) => [readU32(r), readU64(r), readF64(r), readText(r), readText(r)];
  expect(readBody(readerOf(bytes), "it", read)).toEqual([0x0102_0304, 0x0102_0304_0506_0708n, -2.5, "naïve", ""]);
  for (let length = 0; length < bytes.length; length++) {
    const cut = () => readBody(readerOf(bytes.subarray(0, length)), "it", read);
    expect(cut).toThrow(new ProtocolError("cannot read it: the message ends too early"));
  }
});

test("a body with unread bytes is refused, and the error names the frame and has its cause", () => {
  expect(() => readBody(readerOf(new Uint8Array(7)), "it", (r) => readU32(r))).toThrow(
    new ProtocolError("cannot read it: 3 bytes too many"),
  );
  const cause = new RangeError("not today");
  const fail = () =>
    readBody(readerOf(new Uint8Array(0)), "it", () => {
      throw cause;
    });
  expect(fail).toThrow(expect.objectContaining({ name: "ProtocolError", message: "cannot read it: not today", cause }));
});

test("a text that does not start at the beginning of its memory is read correctly", () => {
  const bytes = Buffer.concat([Buffer.from("--"), written((w) => writeText(w, "abc"))]).subarray(2);
  expect(readText(readerOf(bytes))).toBe("abc");
});

test("a frame begins with its length and is padded with zeros to a multiple of eight bytes", () => {
  for (const size of [0, 1, 7, 8, 9]) {
    const w = new Writer(64);
    w.bytes.fill(0xee);
    const at = beginFrame(w, 0x0102_0304, 5, 6);
    const start = w.reserve(size);
    w.bytes.fill(1, start, start + size);
    endFrame(w, at);
    const bytes = w.copy(0);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    expect([0, 4, 8, 12].map((place) => view.getUint32(place, true))).toEqual([HEADER_BYTES + size, 0x0102_0304, 5, 6]);
    expect([...bytes.subarray(HEADER_BYTES)]).toEqual([...Array(size).fill(1), ...Array(align8(size) - size).fill(0)]);
  }
  expect([0, 1, 7, 8, 9, 16].map(align8)).toEqual([0, 8, 8, 8, 16, 16]);
});

test("the size of a body includes its blocks, and excludes its header and preceding bytes", () => {
  const w = new Writer(64);
  endFrame(w, beginFrame(w, 1, 2, 3));
  const at = beginFrame(w, 1, 2, 3);
  writeU32(w, 1);
  expect(bodySize(w, at)).toBe(4);
  w.blocks.push(new Uint8Array(10), new Uint8Array(5));
  expect(bodySize(w, at)).toBe(19);
});

test("a copy of bytes has its own memory", () => {
  const bytes = Buffer.from("abcd");
  const copy = copyBytes(bytes, 1, 3);
  bytes.fill(0);
  expect([String(Buffer.from(copy)), copy.buffer.byteLength]).toEqual(["bc", 2]);
});

test("addresses are equal if all their parts are equal, and ids are printed with leading zeros", () => {
  const one = { proc: 1n, mesh: 2n, rank: 3 };
  expect(isSameAddress(one, { ...one })).toBe(true);
  for (const other of [{ proc: 9n }, { mesh: 9n }, { rank: 9 }])
    expect(isSameAddress(one, { ...one, ...other })).toBe(false);
  expect(formatId(0xabcn)).toBe("0000000000000abc");
});

test("only the reasons `peer-down`, `failed`, `stopped` and `unknown` mean that the receiver has ended", () => {
  const ended: readonly DeliveryReason[] = ["peer-down", "failed", "stopped", "unknown"];
  expect(deliveryReasons.filter((reason) => meansTargetEnded(new DeliveryError(reason, "x")))).toEqual(ended);
  expect(deliveryReasons).toEqual(["peer-down", "closed", "failed", "stopped", "unknown", "refused", "deadlock"]);
});
