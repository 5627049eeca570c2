/**
 * Compares the codec of plain values with what pools of npm use: structuredClone, v8.serialize, JSON. All codecs stay alive side by side and
 * measure windows of some ms in turn; the best window of a round counts.
 */
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import v8 from "node:v8";
import { build } from "esbuild";
import { cacheDir, compare, measureInterleaved } from "../harness/index.js";
import { records } from "../rpc/records.js";

const source = fileURLToPath(new URL("../../runtime/tasks/values/index.ts", import.meta.url));
const reference = "viceroy";
const place = { kind: "argument", task: "values", index: 0 };
const noRefs = { isRef: () => false };

const values = {
  number: 42,
  record: records[0],
  // Copies, because these codecs write an object that occurs again as a reference to the first one.
  records: Array.from({ length: 100 }, (_, i) => structuredClone(records[i & 15])),
  array: Float64Array.from({ length: 1024 }, (_, i) => i / 3),
  map: new Map(Array.from({ length: 100 }, (_, i) => [`key ${i}`, BigInt(i)])),
};
const columns = [
  { metric: "number", title: "ns, a number", ratio: true },
  { metric: "record", title: "ns, a record", ratio: true },
  { metric: "records", title: "us, 100 records", ratio: true },
  { metric: "array", title: "us, 1,024 doubles", ratio: true },
  { metric: "map", title: "us, a Map of bigints", ratio: true },
];
const scales = { number: 1e6, record: 1e6, records: 1e3, array: 1e3, map: 1e3 };

export async function measureValues({ options, wanted }) {
  if (!wanted("values")) return [];
  const { encodePlain, decodePlain } = await load();
  const codecs = {
    [reference]: (value) => decodePlain(encodePlain(value, place, noRefs), noRefs),
    structuredClone: (value) => structuredClone(value),
    "v8.serialize": (value) => v8.deserialize(v8.serialize(value)),
    JSON: (value) => JSON.parse(JSON.stringify(value)),
  };
  const subjects = Object.entries(codecs).map(([name, copy]) => ({ name, start: () => start(copy, options) }));
  const samples = await measureInterleaved(subjects, { ...options, windows: options.quick ? 1 : 10, log: () => {} });
  return [
    {
      title: "Encode and decode a plain value",
      samples,
      table: compare(samples, { reference, columns, subject: "codec" }),
      notes: ["JSON has neither typed arrays nor Maps."],
    },
  ];
}

/** Bundles the sources of the codec, which the package does not export. */
async function load() {
  const outfile = path.join(cacheDir("tasks"), "values.mjs");
  const runtime = {
    name: "runtime",
    setup: ({ onResolve }) =>
      onResolve({ filter: /^\.\.\/\.\.\/index\.js$/ }, () => ({ path: "viceroy", external: true })),
  };
  const options = { bundle: true, platform: "node", format: "esm", logLevel: "error", plugins: [runtime] };
  await build({ entryPoints: [source], outfile, ...options });
  return import(pathToFileURL(outfile).href);
}

function start(copy, { quick }) {
  const metrics = Object.keys(values).filter((name) => {
    try {
      return isDeepStrictEqual(copy(values[name]), values[name]);
    } catch {
      return false;
    }
  });
  const measure = (metric) => timeOf(copy, values[metric], quick ? 5 : 25) * scales[metric];
  if (!quick) for (const metric of metrics) measure(metric);
  return { metrics, constants: {}, measure: async (metric) => measure(metric), stop: async () => {} };
}

/** Returns the ms that one copy takes, in a window of some ms. */
function timeOf(copy, value, window) {
  const begin = performance.now();
  let copies = 0;
  let now = begin;
  while (now - begin < window) {
    for (let i = 0; i < 10; i++) copy(value);
    copies += 10;
    now = performance.now();
  }
  return (now - begin) / copies;
}
