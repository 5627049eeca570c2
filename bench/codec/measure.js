/**
 * One run of one subject: `node measure.js <peer> <profile>`. Checks that every message comes back equal, warms all of
 * them up, and prints a line of JSON: what it can measure (`tiny.batch.encode`, …), and sizes in bytes. Then answers each
 * of these that it is sent with nanoseconds per message.
 */
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import { messages } from "./messages.js";

const [, , peer, profile] = process.argv;
/**
 * Milliseconds of warm-up for each loop, and of each timed window; which messages to measure and how (`fresh`, `batch`),
 * all of them when not given.
 */
const { warmUp, window, messages: chosen, only } = JSON.parse(profile);
const { codecs } = await import(`./peers/${peer}.js`);

const subjects = Object.entries(codecs)
  .filter(([name]) => chosen?.includes(name) ?? true)
  .map(([name, codec]) => prepare(name, codec));
const loops = new Map(
  subjects.flatMap(({ name, loops }) =>
    Object.entries(loops)
      .filter(([what]) => only?.some((mode) => what.startsWith(`${mode}.`)) ?? true)
      .map(([what, loop]) => [`${name}.${what}`, loop]),
  ),
);
for (const loop of loops.values()) run(loop, warmUp);
const sizes = Object.fromEntries(subjects.map(({ name, bytes }) => [`${name}.bytes`, bytes]));
process.stdout.write(`${JSON.stringify({ metrics: [...loops.keys()], constants: sizes })}\n`);
const times = new Map();
for await (const what of createInterface(process.stdin)) process.stdout.write(`${time(what)}\n`);

function prepare(name, codec) {
  const values = messages[name].map(codec.create ?? ((value) => value));
  const fresh = values.map((value) => (codec.buffers ? inBuffer : inArray)(codec.encode(value)));
  for (const [i, bytes] of fresh.entries()) check(name, codec.decode(bytes), messages[name][i]);
  const kept = new Array(values.length);
  const own = cloned();
  const loops = {
    "fresh.encode": own.each(values, kept, codec.encode),
    "fresh.decode": own.each(fresh, kept, codec.decode),
  };
  if (codec.append !== undefined) {
    const places = batchPlaces(codec, values);
    const batch = inBuffer(codec.finish());
    codec.open(batch);
    for (const [i, [start, end]] of places.entries()) {
      check(name, codec.read(batch, start, end), messages[name][i]);
    }
    loops["batch.encode"] = own.append(values, codec);
    loops["batch.decode"] = own.read(places, batch, kept, codec);
  }
  // A peer that has no batches of its own is as fast as it ever is.
  loops["batch.encode"] ??= own.each(values, kept, codec.batchEncode ?? codec.encode);
  loops["batch.decode"] ??= loops["fresh.decode"];
  return { name, loops, bytes: fresh.at(-1).length };
}

/** Loops of its own for each message, so that none is slowed down by the shapes and functions of others. */
function cloned() {
  return new Function(`return { each: ${each}, append: ${append}, read: ${read} }`)();
}

function each(inputs, kept, convert) {
  return () => {
    for (let i = 0; i < inputs.length; i++) kept[i] = convert(inputs[i]);
  };
}

function append(values, { start, append, finish }) {
  return () => {
    start();
    for (let i = 0; i < values.length; i++) append(values[i]);
    return finish();
  };
}

function read(places, batch, kept, { open, read }) {
  return () => {
    open(batch);
    for (let i = 0; i < places.length; i++) kept[i] = read(batch, places[i][0], places[i][1]);
  };
}

/** Where each message of the batch starts and ends. */
function batchPlaces(codec, values) {
  const align = codec.align ?? 1;
  codec.start();
  let end = 0;
  return values.map((value) => {
    const start = Math.ceil(end / align) * align;
    end = codec.append(value);
    return [start, end];
  });
}

function inArray(bytes) {
  return Uint8Array.from(bytes);
}

/** A copy in memory of its own, as a link's receive buffer is. */
function inBuffer(bytes) {
  const copy = Buffer.from(new ArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

function check(name, decoded, expected) {
  if (!isDeepStrictEqual(plain(decoded, expected), expected)) {
    throw new Error(`${peer} ${name}: ${JSON.stringify(decoded)} came back for ${JSON.stringify(expected)}`);
  }
}

/** What `expected` has of `decoded`: peers' messages have classes and properties of their own. */
function plain(decoded, expected) {
  if (Array.isArray(expected)) return Array.from(decoded, (item, i) => plain(item, expected[i]));
  if (typeof expected !== "object" || ArrayBuffer.isView(expected)) return decoded;
  return Object.fromEntries(
    Object.keys(expected).map((key) => [key, plain(decoded[key] ?? decoded[snake(key)], expected[key])]),
  );
}

function snake(key) {
  return key.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
}

function run(loop, milliseconds) {
  const end = performance.now() + milliseconds;
  let times = 0;
  while (performance.now() < end) {
    for (let i = 0; i < 8; i++) loop();
    times += 8;
  }
  return times;
}

/** Nanoseconds per message in one window. */
function time(what) {
  const loop = loops.get(what);
  if (!times.has(what)) times.set(what, run(loop, window));
  const n = times.get(what);
  // What other loops have left in the caches is not its concern.
  loop();
  const before = process.hrtime.bigint();
  for (let i = 0; i < n; i++) loop();
  return Number(process.hrtime.bigint() - before) / n / 16;
}
