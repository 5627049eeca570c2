/**
 * One run of one subject: `node measure.js <peer> <profile>`. Checks that every message is decoded unchanged, warms up, and prints a line of
 * JSON with the names of its metrics (`tiny.batch.encode`, …) and sizes in bytes. Then reads names of metrics, one on each line, and prints
 * the nanoseconds per message of each.
 */
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import { messages } from "./messages.js";

const [, , peer, profile] = process.argv;
/**
 * Ms of warm-up for each loop, and of each timed window; the messages to measure, and the modes (`fresh`, `batch`). The default is all
 * messages and modes.
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
  // A peer without code for batches encodes each message by itself.
  loops["batch.encode"] ??= own.each(values, kept, codec.batchEncode ?? codec.encode);
  loops["batch.decode"] ??= loops["fresh.decode"];
  return { name, loops, bytes: fresh.at(-1).length };
}

/** Creates separate loops for each message, so that shapes and functions of other messages do not slow them down. */
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

/** Returns the start and the end of each message in the batch. */
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

/** Copies bytes to memory of their own, like a link's receive buffer. */
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

/** Selects the properties of `expected` from `decoded`: messages of peers have classes and further properties. */
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

/** Measures one window. Returns nanoseconds per message. */
function time(what) {
  const loop = loops.get(what);
  if (!times.has(what)) times.set(what, run(loop, window));
  const n = times.get(what);
  // Excludes the effect of other loops on the caches.
  loop();
  const before = process.hrtime.bigint();
  for (let i = 0; i < n; i++) loop();
  return Number(process.hrtime.bigint() - before) / n / 16;
}
