/** The limit: twelve fields, a nested point, a list of items. */
import { fail, readLong, readText, textBytes, writeText } from "./text.js";

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

export function encode(value, start) {
  const { id, name, email, createdAt, score, level, active, status, note, parent, path, origin, items } = value;
  if (id !== id >>> 0 || level !== (level | 0) || status !== status >>> 0 || status > 2) fail();
  if (typeof createdAt !== "number" || typeof score !== "number" || typeof active !== "boolean") fail();
  if (typeof name !== "string" || typeof email !== "string" || typeof path !== "string") fail();
  const { lat, lon } = origin;
  if (typeof lat !== "number" || typeof lon !== "number" || !Array.isArray(items)) fail();
  const count = items.length;
  const need = start + 96 + count * 17;
  if (need > capacity) grow(need);
  const v = view;
  const at = start + 4;
  v.setUint32(at + 1, id, true);
  v.setFloat64(at + 7, createdAt, true);
  v.setFloat64(at + 15, score, true);
  v.setInt32(at + 23, level, true);
  v.setUint8(at + 27, status);
  v.setFloat64(at + 29, lat, true);
  v.setFloat64(at + 37, lon, true);
  let p = at + 46;
  let text = name + email;
  if (name.length < 255) v.setUint8(at + 5, name.length);
  else p = long(v, at + 5, p, name.length);
  if (email.length < 255) v.setUint8(at + 6, email.length);
  else p = long(v, at + 6, p, email.length);
  let bits = active ? 1 : 0;
  if (note !== undefined) {
    if (typeof note !== "string") fail();
    bits |= 2;
    text += note;
    if (note.length < 255) v.setUint8(p++, note.length);
    else p = long(v, p, p + 1, note.length);
  }
  if (parent !== undefined) {
    if (parent !== parent >>> 0) fail();
    bits |= 4;
    v.setUint32(p, parent, true);
    p += 4;
  }
  text += path;
  if (path.length < 255) v.setUint8(at + 28, path.length);
  else p = long(v, at + 28, p, path.length);
  if (count < 255) v.setUint8(at + 45, count);
  else p = long(v, at + 45, p, count);
  v.setUint8(at, bits);
  let slot = p;
  p += count * 13;
  for (let i = 0; i < count; i++, slot += 13) {
    const { sku, qty, price } = items[i];
    if (typeof sku !== "string" || qty !== (qty | 0) || typeof price !== "number") fail();
    v.setInt32(slot + 1, qty, true);
    v.setFloat64(slot + 5, price, true);
    text += sku;
    if (sku.length < 255) v.setUint8(slot, sku.length);
    else p = long(v, slot, p, sku.length);
  }
  v.setUint32(start, p - start, true);
  if (p + textBytes(text.length) > capacity) grow(p + textBytes(text.length));
  return writeText(bytes, view, text, p);
}

function long(v, at, p, length) {
  v.setUint8(at, 255);
  v.setUint32(p, length, true);
  return p + 4;
}

export function decode(source, v, start, end) {
  const at = start + 4;
  if (start + 50 > end) fail();
  const heap = start + v.getUint32(start, true);
  if (heap > end || heap < start + 50) fail();
  const text = readText(source, v, heap, end);
  const bits = v.getUint8(at);
  if (bits > 7) fail();
  const status = v.getUint8(at + 27);
  if (status > 2) fail();
  const id = v.getUint32(at + 1, true);
  const createdAt = v.getFloat64(at + 7, true);
  const score = v.getFloat64(at + 15, true);
  const level = v.getInt32(at + 23, true);
  const origin = { lat: v.getFloat64(at + 29, true), lon: v.getFloat64(at + 37, true) };
  let p = at + 46;
  let from = 0;
  let length = v.getUint8(at + 5);
  if (length === 255) {
    length = readLong(v, p, heap);
    p += 4;
  }
  const name = text.substring(from, from + length);
  from += length;
  length = v.getUint8(at + 6);
  if (length === 255) {
    length = readLong(v, p, heap);
    p += 4;
  }
  const email = text.substring(from, from + length);
  from += length;
  let note;
  let parent;
  if ((bits & 2) !== 0) {
    if (p + 1 > heap) fail();
    length = v.getUint8(p++);
    if (length === 255) {
      length = readLong(v, p, heap);
      p += 4;
    }
    note = text.substring(from, from + length);
    from += length;
  }
  if ((bits & 4) !== 0) {
    if (p + 4 > heap) fail();
    parent = v.getUint32(p, true);
    p += 4;
  }
  length = v.getUint8(at + 28);
  if (length === 255) {
    length = readLong(v, p, heap);
    p += 4;
  }
  const path = text.substring(from, from + length);
  from += length;
  let count = v.getUint8(at + 45);
  if (count === 255) {
    count = readLong(v, p, heap);
    p += 4;
  }
  let slot = p;
  p += count * 13;
  if (p > heap) fail();
  const items = new Array(count);
  for (let i = 0; i < count; i++, slot += 13) {
    length = v.getUint8(slot);
    if (length === 255) {
      length = readLong(v, p, heap);
      p += 4;
    }
    const sku = text.substring(from, from + length);
    from += length;
    items[i] = { sku, qty: v.getInt32(slot + 1, true), price: v.getFloat64(slot + 5, true) };
  }
  // Lengths that reach beyond the text give shorter strings; the sum shows it.
  if (p !== heap || from !== text.length) fail();
  const active = (bits & 1) !== 0;
  const value = { id, name, email, createdAt, score, level, active, status, path, origin, items };
  if (note !== undefined) value.note = note;
  if (parent !== undefined) value.parent = parent;
  return value;
}
