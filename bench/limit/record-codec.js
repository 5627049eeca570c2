/**
 * The limit for the record's codec: written by hand for this one record, in Viceroy's layout (fixed part at constant offsets, presence
 * bits, lengths, then all strings in one heap), with the same validation: types and ranges when encoding; bounds, counts and the exact end
 * of the message when decoding. Encodes into a buffer that the caller owns, which is the meaning of "into a batch".
 */
const fixedBytes = 45;
const itemBytes = 13;

/** Returns the maximum size of `record` in bytes, so that each message needs one check of the capacity. */
export function maxBytes(record) {
  const { items, note } = record;
  let units = record.name.length + record.email.length + record.path.length + (note === undefined ? 0 : note.length);
  for (let i = 0; i < items.length; i++) units += items[i].sku.length;
  return fixedBytes + 4 + 4 * 5 + 5 + items.length * (itemBytes + 4) + 5 + units * 3;
}

/** Encodes at `start`. Returns the end. `target` is { bytes: Buffer, view: DataView } with room for `maxBytes`. */
export function encodeRecord(target, start, record) {
  const { bytes, view } = target;
  const { id, name, email, createdAt, score, level, active, status, note, parent, path, origin, items } = record;
  if (id >>> 0 !== id) fail("id", "uint32", id);
  if (status >>> 0 !== status) fail("status", "uint32", status);
  if ((level | 0) !== level) fail("level", "int32", level);
  if (typeof createdAt !== "number") fail("createdAt", "number", createdAt);
  if (typeof score !== "number") fail("score", "number", score);
  if (typeof active !== "boolean") fail("active", "boolean", active);
  const { lat, lon } = origin;
  if (typeof lat !== "number") fail("origin.lat", "number", lat);
  if (typeof lon !== "number") fail("origin.lon", "number", lon);
  if (!Array.isArray(items)) fail("items", "array", items);
  const count = items.length;
  view.setUint32(start + 4, id, true);
  view.setInt32(start + 8, level, true);
  view.setUint32(start + 12, status, true);
  view.setFloat64(start + 16, createdAt, true);
  view.setFloat64(start + 24, score, true);
  view.setFloat64(start + 32, lat, true);
  view.setFloat64(start + 40, lon, true);
  bytes[start + 48] = (active ? 1 : 0) | (note === undefined ? 0 : 2) | (parent === undefined ? 0 : 4);
  let at = start + 4 + fixedBytes;
  if (parent !== undefined) {
    if (parent >>> 0 !== parent) fail("parent", "uint32", parent);
    view.setUint32(at, parent, true);
    at += 4;
  }
  if (typeof name !== "string") fail("name", "string", name);
  if (typeof email !== "string") fail("email", "string", email);
  if (typeof path !== "string") fail("path", "string", path);
  let heap = name + email;
  at = writeLength(target, at, name.length);
  at = writeLength(target, at, email.length);
  if (note !== undefined) {
    if (typeof note !== "string") fail("note", "string", note);
    heap += note;
    at = writeLength(target, at, note.length);
  }
  heap += path;
  at = writeLength(target, at, path.length);
  at = writeLength(target, at, count);
  for (let i = 0; i < count; i++) {
    const { sku, qty, price } = items[i];
    if (typeof sku !== "string") fail(`items[${i}].sku`, "string", sku);
    if ((qty | 0) !== qty) fail(`items[${i}].qty`, "int32", qty);
    if (typeof price !== "number") fail(`items[${i}].price`, "number", price);
    view.setInt32(at, qty, true);
    view.setFloat64(at + 4, price, true);
    at = writeLength(target, at + 12, sku.length);
    heap += sku;
  }
  view.setUint32(start, at - start, true);
  return writeHeap(bytes, at, heap);
}

/** Decodes the message in [start, end) of `bytes`. */
export function decodeRecord(bytes, view, start, end) {
  if (end - start < 4 + fixedBytes + 6) malformed();
  const heapAt = start + view.getUint32(start, true);
  if (heapAt < start + 4 + fixedBytes || heapAt >= end) malformed();
  const heap = readHeap(bytes, heapAt, end);
  const id = view.getUint32(start + 4, true);
  const level = view.getInt32(start + 8, true);
  const status = view.getUint32(start + 12, true);
  const createdAt = view.getFloat64(start + 16, true);
  const score = view.getFloat64(start + 24, true);
  const lat = view.getFloat64(start + 32, true);
  const lon = view.getFloat64(start + 40, true);
  const bits = bytes[start + 48];
  if (bits > 7) malformed();
  cursor = start + 4 + fixedBytes;
  let parent;
  if (bits & 4) {
    parent = view.getUint32(cursor, true);
    cursor += 4;
  }
  let to = readLength(bytes, view);
  const name = heap.substring(0, to);
  let from = to;
  to += readLength(bytes, view);
  const email = heap.substring(from, to);
  let note;
  if (bits & 2) {
    from = to;
    to += readLength(bytes, view);
    note = heap.substring(from, to);
  }
  from = to;
  to += readLength(bytes, view);
  const path = heap.substring(from, to);
  const count = readLength(bytes, view);
  if (count * itemBytes > heapAt - cursor) malformed();
  const items = new Array(count);
  for (let i = 0; i < count; i++) {
    const qty = view.getInt32(cursor, true);
    const price = view.getFloat64(cursor + 4, true);
    cursor += 12;
    from = to;
    to += readLength(bytes, view);
    items[i] = { sku: heap.substring(from, to), qty, price };
  }
  if (cursor !== heapAt || to !== heap.length) malformed();
  const origin = { lat, lon };
  const active = (bits & 1) === 1;
  const record = { id, name, email, createdAt, score, level, active, status, path, origin, items };
  if (note !== undefined) record.note = note;
  if (parent !== undefined) record.parent = parent;
  return record;
}

let cursor = 0;

function writeLength({ bytes, view }, at, length) {
  if (length < 255) {
    bytes[at] = length;
    return at + 1;
  }
  bytes[at] = 255;
  view.setUint32(at + 1, length, true);
  return at + 5;
}

function readLength(bytes, view) {
  const short = bytes[cursor];
  if (short < 255) {
    cursor++;
    return short;
  }
  const length = view.getUint32(cursor + 1, true);
  cursor += 5;
  return length;
}

/** Flag 0: ASCII, as many bytes as code units. 1: UTF-8. 2: UTF-16, for strings with lone surrogates. */
function writeHeap(bytes, at, heap) {
  const written = bytes.utf8Write(heap, at + 1, heap.length * 3);
  if (written === heap.length) {
    bytes[at] = 0;
    return at + 1 + written;
  }
  const wellFormed = heap.isWellFormed();
  bytes[at] = wellFormed ? 1 : 2;
  return at + 1 + (wellFormed ? written : bytes.ucs2Write(heap, at + 1, heap.length * 2));
}

function readHeap(bytes, at, end) {
  const flag = bytes[at];
  if (flag === 0) return bytes.latin1Slice(at + 1, end);
  if (flag === 1) return bytes.utf8Slice(at + 1, end);
  if (flag !== 2) malformed();
  return bytes.ucs2Slice(at + 1, end);
}

function fail(field, type, value) {
  throw new TypeError(`cannot encode BenchRecord.${field}: expected ${type}, got ${String(value)}`);
}

function malformed() {
  throw new RangeError("cannot decode BenchRecord: malformed message");
}
