/** The limit: a name, a step and 1024 doubles, as `number[]` and as Float64Array. */
import { fail, readLong, readText, textBytes, writeText } from "./text.js";

let bytes;
let view;
let doubles;
let capacity = 0;
use(1 << 17);

function use(size) {
  const memory = new ArrayBuffer(size);
  bytes = Buffer.from(memory);
  view = new DataView(memory);
  doubles = new Float64Array(memory);
  capacity = size;
}

function grow(need) {
  const old = bytes;
  use(2 ** Math.ceil(Math.log2(need)));
  bytes.set(old);
}

export const written = (end) => bytes.subarray(0, end);

function encodeHead(value, start, head, slot, size) {
  const { name, step } = value;
  if (typeof name !== "string" || step !== step >>> 0 || name.length >= 255) fail();
  const need = start + head + slot + 8 + size + textBytes(name.length);
  if (need > capacity) grow(need);
  view.setUint8(start + head, name.length);
  view.setUint32(start + head + 1, step, true);
}

function pad(from) {
  const to = (from + 7) & ~7;
  for (let i = from; i < to; i++) bytes[i] = 0;
  return to;
}

export function encode(value, start) {
  const { name, values } = value;
  if (!Array.isArray(values)) fail();
  const count = values.length;
  encodeHead(value, start, 4, 6, count * 8 + 4);
  let p = start + 10;
  if (count < 255) view.setUint8(start + 9, count);
  else {
    view.setUint8(start + 9, 255);
    view.setUint32(p, count, true);
    p += 4;
  }
  p = pad(p);
  const target = doubles;
  const first = p >> 3;
  let i = 0;
  for (; i + 3 < count; i += 4) {
    const a = values[i];
    const b = values[i + 1];
    const c = values[i + 2];
    const d = values[i + 3];
    if (typeof a !== "number" || typeof b !== "number" || typeof c !== "number" || typeof d !== "number") fail();
    target[first + i] = a;
    target[first + i + 1] = b;
    target[first + i + 2] = c;
    target[first + i + 3] = d;
  }
  for (; i < count; i++) {
    const a = values[i];
    if (typeof a !== "number") fail();
    target[first + i] = a;
  }
  p += count * 8;
  view.setUint32(start, p - start, true);
  return writeText(bytes, view, name, p);
}

export function encodeDoubles(value, start) {
  const { name, values } = value;
  if (!(values instanceof Float64Array)) fail();
  const count = values.length;
  encodeHead(value, start, 8, 9, count * 8);
  view.setUint32(start + 13, count, true);
  let p = pad(start + 17);
  doubles.set(values, p >> 3);
  p += count * 8;
  view.setUint32(start, p - start, true);
  const end = writeText(bytes, view, name, p);
  view.setUint32(start + 4, end - start, true);
  return end;
}

let viewedSource;
let sourceDoubles;
function doublesOf(source) {
  if (viewedSource !== source) {
    viewedSource = source;
    sourceDoubles = new Float64Array(source.buffer, source.byteOffset, source.length >> 3);
  }
  return sourceDoubles;
}

function checkPadding(source, from, to) {
  for (let i = from; i < to; i++) if (source[i] !== 0) fail();
}

export function decode(source, v, start, end) {
  if (start + 10 > end) fail();
  const heap = start + v.getUint32(start, true);
  if (heap > end || heap < start + 10) fail();
  const name = readText(source, v, heap, end);
  if (name.length !== v.getUint8(start + 4)) fail();
  let p = start + 10;
  let count = v.getUint8(start + 9);
  if (count === 255) {
    count = readLong(v, p, heap);
    p += 4;
  }
  const aligned = (p + 7) & ~7;
  if (aligned + count * 8 !== heap) fail();
  checkPadding(source, p, aligned);
  const all = doublesOf(source);
  const first = aligned >> 3;
  const values = new Array(count);
  let i = 0;
  for (; i + 3 < count; i += 4) {
    values[i] = all[first + i];
    values[i + 1] = all[first + i + 1];
    values[i + 2] = all[first + i + 2];
    values[i + 3] = all[first + i + 3];
  }
  for (; i < count; i++) values[i] = all[first + i];
  return { name, step: v.getUint32(start + 5, true), values };
}

export function decodeDoubles(source, v, start, end) {
  if (start + 17 > end) fail();
  const heap = start + v.getUint32(start, true);
  const heapEnd = start + v.getUint32(start + 4, true);
  if (heapEnd !== end || heap > end || heap < start + 17) fail();
  const name = readText(source, v, heap, end);
  if (name.length !== v.getUint8(start + 8)) fail();
  const count = v.getUint32(start + 13, true);
  const aligned = (start + 24) & ~7;
  if (aligned + count * 8 !== heap) fail();
  checkPadding(source, start + 17, aligned);
  const first = aligned >> 3;
  return { name, step: v.getUint32(start + 9, true), values: doublesOf(source).slice(first, first + count) };
}
