/** The limit: records of strings. */
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
  const { people } = value;
  if (!Array.isArray(people)) fail();
  const count = people.length;
  const need = start + 9 + count * 19;
  if (need > capacity) grow(need);
  const v = view;
  let p = start + 5;
  if (count < 255) v.setUint8(start + 4, count);
  else p = long(v, start + 4, p, count);
  let slot = p;
  p += count * 7;
  let text = "";
  for (let i = 0; i < count; i++, slot += 7) {
    const { id, name, email, city } = people[i];
    if (id !== id >>> 0 || typeof name !== "string" || typeof email !== "string" || typeof city !== "string") fail();
    v.setUint32(slot, id, true);
    if (name.length < 255) v.setUint8(slot + 4, name.length);
    else p = long(v, slot + 4, p, name.length);
    if (email.length < 255) v.setUint8(slot + 5, email.length);
    else p = long(v, slot + 5, p, email.length);
    if (city.length < 255) v.setUint8(slot + 6, city.length);
    else p = long(v, slot + 6, p, city.length);
    text += name;
    text += email;
    text += city;
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
  if (start + 5 > end) fail();
  const heap = start + v.getUint32(start, true);
  if (heap > end || heap < start + 5) fail();
  const text = readText(source, v, heap, end);
  let p = start + 5;
  let count = v.getUint8(start + 4);
  if (count === 255) {
    count = readLong(v, p, heap);
    p += 4;
  }
  let slot = p;
  p += count * 7;
  if (p > heap) fail();
  let from = 0;
  const people = new Array(count);
  for (let i = 0; i < count; i++, slot += 7) {
    let nameLength = v.getUint8(slot + 4);
    let emailLength = v.getUint8(slot + 5);
    let cityLength = v.getUint8(slot + 6);
    if (nameLength === 255) {
      nameLength = readLong(v, p, heap);
      p += 4;
    }
    if (emailLength === 255) {
      emailLength = readLong(v, p, heap);
      p += 4;
    }
    if (cityLength === 255) {
      cityLength = readLong(v, p, heap);
      p += 4;
    }
    const name = text.substring(from, from + nameLength);
    from += nameLength;
    const email = text.substring(from, from + emailLength);
    from += emailLength;
    const city = text.substring(from, from + cityLength);
    from += cityLength;
    people[i] = { id: v.getUint32(slot, true), name, email, city };
  }
  if (p !== heap || from !== text.length) fail();
  return { people };
}
