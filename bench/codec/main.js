/**
 * `npm run bench:codec`: encodes and decodes six messages, into a batch as links do and as fresh Uint8Arrays, and compares Viceroy with
 * peers and with the limit.
 *
 * Peers are used as their documentation shows, so most of them have no separate code for batches. Peers with a lower-level API that
 * writes into the caller's buffer appear a second time with that API.
 */
import { fileURLToPath } from "node:url";
import { benchmark, compare, measureInterleaved, ratioOf, startAnswering } from "../harness/index.js";
import { median } from "../harness/stats.js";
import { markdown, number } from "../harness/table.js";
import { messages, titles } from "./messages.js";
import { prepareCodecs } from "./prepare.js";

const reference = "viceroy";
const peers = ["avsc", "bebop", "msgpackr", "protobufjs", "ts-proto", "protobuf-es", "json"];
const withBuffers = ["avsc-buffer", "bebop-buffer", "protobufjs-buffer"];
const modes = { batch: "into a batch", fresh: "fresh Uint8Arrays" };
const measure = fileURLToPath(new URL("measure.js", import.meta.url));

await benchmark(
  { name: "codec", title: "Encoding and decoding", rounds: 3, needs: ["viceroy"] },
  async ({ options, wanted }) => {
    await prepareCodecs();
    const profile = JSON.stringify(options.quick ? { warmUp: 30, window: 5 } : { warmUp: 150, window: 25 });
    const subjects = ["limit", reference, ...peers, ...withBuffers].filter(wanted).map((name) => ({
      name,
      async start() {
        const { first, ask, stop } = await startAnswering([process.execPath, measure, name, profile]);
        return { ...first, measure: ask, stop };
      },
    }));
    const best = await measureInterleaved(subjects, { ...options, windows: options.quick ? 3 : 9 });
    const samples = new Map([...best].map(([name, rounds]) => [name, rounds.map(sums)]));
    const names = Object.keys(messages);
    return [
      { title: "Viceroy, encode + decode", table: summary(samples, names), samples },
      ...names.map((name) => section(samples, name, "batch")),
      ...names.map((name) => section(samples, name, "fresh")),
    ];
  },
);

/** Adds the sum of encoding and decoding to a sample. */
function sums(sample) {
  const added = Object.entries(sample).flatMap(([key, encode]) => {
    if (!key.endsWith(".encode")) return [];
    const stem = key.slice(0, -".encode".length);
    return [[`${stem}.both`, encode + sample[`${stem}.decode`]]];
  });
  return { ...sample, ...Object.fromEntries(added) };
}

/** A table of the sums of encoding and decoding: the time of peers relative to that of Viceroy. */
function summary(samples, names) {
  const head = [
    "message",
    "ns",
    "speed of the limit",
    "best peer",
    "slower by",
    "with buffers",
    "slower by",
    "worst cell",
  ];
  const body = Object.keys(modes).flatMap((mode) =>
    names.map((name) => {
      const metric = `${name}.${mode}.both`;
      const viceroyTime = median((samples.get(reference) ?? []).map((sample) => sample[metric]));
      const [best, slower] = bestOf(samples, metric, peers);
      const [bestBuffer, slowerBuffer] = bestOf(samples, metric, mode === "batch" ? withBuffers : []);
      const cells = ["encode", "decode"].map(
        (direction) => 1 / bestOf(samples, `${name}.${mode}.${direction}`, peers)[1],
      );
      return [
        `${titles[name]}, ${modes[mode]}`,
        number(viceroyTime),
        number(ratioOf(samples, metric, "limit", reference).median, 2),
        best,
        `${number(slower, 2)}x`,
        bestBuffer,
        bestBuffer === "-" ? "-" : `${number(slowerBuffer, 2)}x`,
        number(Math.max(...cells), 2),
      ];
    }),
  );
  return markdown(head, body);
}

/** Returns the fastest of `candidates`, and its time divided by Viceroy's. */
function bestOf(samples, metric, candidates) {
  const ratios = candidates
    .map((name) => [name, ratioOf(samples, metric, name, reference).median])
    .filter(([, ratio]) => Number.isFinite(ratio))
    .sort(([, a], [, b]) => a - b);
  return ratios[0] ?? ["-", Number.NaN];
}

function section(samples, name, mode) {
  const measured = new Map(
    [...samples].filter(([subject, rounds]) => {
      return `${name}.bytes` in (rounds[0] ?? {}) && (mode === "batch" || !withBuffers.includes(subject));
    }),
  );
  const columns = [
    { metric: `${name}.bytes`, title: "bytes" },
    { metric: `${name}.${mode}.encode`, title: "encode ns" },
    { metric: `${name}.${mode}.decode`, title: "decode ns" },
    { metric: `${name}.${mode}.both`, title: "both", ratio: true },
  ];
  return { title: `${titles[name]}, ${modes[mode]}`, table: compare(measured, { reference, columns }) };
}
