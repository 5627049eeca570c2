/**
 * `npm run bench:protobuf`: the messages of the codec benchmark in the protobuf layout, as fresh Uint8Arrays, compared with other protobuf
 * implementations for JavaScript. All write the same bytes. The schema of the peers is bench/codec/messages.proto; that of Viceroy is
 * bench/codec/schemas/messages.ts.
 */
import { fileURLToPath } from "node:url";
import { prepareCodecs } from "../codec/prepare.js";
import { benchmark, compare, measureInterleaved, ratioOf, startAnswering } from "../harness/index.js";
import { geometricMean } from "../harness/stats.js";
import { markdown, number } from "../harness/table.js";

const reference = "viceroy-protobuf";
const peers = ["protobufjs", "ts-proto", "protobuf-es"];
const titles = { tiny: "tiny", record: "record", list: "list, ASCII", numbers: "1024 doubles as number[]" };
const directions = ["encode", "decode"];
const measure = fileURLToPath(new URL("../codec/measure.js", import.meta.url));

await benchmark(
  { name: "protobuf", title: "The protobuf layout", rounds: 3, needs: ["viceroy"] },
  async ({ options, wanted }) => {
    await prepareCodecs();
    const length = options.quick ? { warmUp: 30, window: 5 } : { warmUp: 150, window: 25 };
    const profile = JSON.stringify({ ...length, only: ["fresh"], messages: Object.keys(titles) });
    const subjects = [reference, ...peers].filter(wanted).map((name) => ({
      name,
      async start() {
        const { first, ask, stop } = await startAnswering([process.execPath, measure, name, profile]);
        return { ...first, measure: ask, stop };
      },
    }));
    const samples = await measureInterleaved(subjects, { ...options, windows: options.quick ? 3 : 9 });
    return [
      { title: "The best peer's time divided by Viceroy's", table: summary(samples), samples },
      ...Object.entries(titles).map(([name, title]) => section(samples, name, title)),
    ];
  },
);

function summary(samples) {
  const ratios = Object.keys(titles).map((name) =>
    directions.map((direction) => bestOf(samples, `${name}.fresh.${direction}`)),
  );
  const rows = Object.values(titles).map((title, i) => [
    title,
    ...ratios[i].map(([peer, by]) => `${times(by)} (${peer})`),
  ]);
  const mean = geometricMean(ratios.flat().map(([, by]) => by));
  return markdown(["message", ...directions], [...rows, ["geometric mean of all", times(mean), ""]]);
}

function times(ratio) {
  return `${number(ratio, 2)}x`;
}

/** Returns the fastest peer, and its time divided by Viceroy's. */
function bestOf(samples, metric) {
  const ratios = peers
    .map((name) => [name, ratioOf(samples, metric, name, reference).median])
    .filter(([, ratio]) => Number.isFinite(ratio))
    .sort(([, a], [, b]) => a - b);
  return ratios[0] ?? ["-", Number.NaN];
}

function section(samples, name, title) {
  const columns = [
    { metric: `${name}.bytes`, title: "bytes" },
    { metric: `${name}.fresh.encode`, title: "encode ns", ratio: true },
    { metric: `${name}.fresh.decode`, title: "decode ns", ratio: true },
  ];
  return { title, table: compare(samples, { reference, columns }) };
}
