/** The limit: a number and a flag. */
import { fail } from "./text.js";

let bytes;
let view;
let capacity = 0;
use(1 << 17);

function use(size) {
  const memory = new ArrayBuffer(size);
  bytes = Buffer.from(memory);
  view = new DataView(memory);
  capacity = size;
}

function grow(need) {
  const old = bytes;
  use(2 ** Math.ceil(Math.log2(need)));
  bytes.set(old);
}

export const written = (end) => bytes.subarray(0, end);

export function encode(value, at) {
  const { seq, ok } = value;
  if (seq !== seq >>> 0 || typeof ok !== "boolean") fail();
  if (at + 5 > capacity) grow(at + 5);
  view.setUint8(at, ok ? 1 : 0);
  view.setUint32(at + 1, seq, true);
  return at + 5;
}

export function decode(_source, sourceView, at, end) {
  if (end - at !== 5) fail();
  const bits = sourceView.getUint8(at);
  if (bits > 1) fail();
  return { seq: sourceView.getUint32(at + 1, true), ok: bits === 1 };
}
