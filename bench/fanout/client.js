/**
 * One run of one subject: `node client.js <peer> <address> <workers> <profile>`. Starts the workers, checks their answers, warms up,
 * measures sequential rounds, and prints one line of JSON.
 */
import { isDeepStrictEqual } from "node:util";
import { quantile } from "../harness/stats.js";
import { records } from "../rpc/records.js";

const [, , peer, address, count, profile] = process.argv;
const workers = Number(count);
/** Durations in ms. */
const { warmUp, window } = JSON.parse(profile);

const { start } = await import(`./peers/${peer}.js`);
const { round, close } = await start(workers, address);

for (const record of records) {
  const expected = Array.from({ length: workers }, () => ({ id: record.id, ok: true }));
  const answers = await round(record);
  if (!isDeepStrictEqual(answers, expected)) throw new Error(`${peer}: unexpected answers ${JSON.stringify(answers)}`);
}
await rounds(warmUp);
const before = process.cpuUsage();
const latencies = await rounds(window);
const used = process.cpuUsage(before);
const p50 = quantile(latencies, 0.5) * 1000;
const cpu = (used.user + used.system) / latencies.length;
process.stdout.write(
  `${JSON.stringify({ p50, p99: quantile(latencies, 0.99) * 1000, perWorker: p50 / workers, cpu })}\n`,
);
await close();
process.exit(0);

/** Runs rounds for `duration` ms, and at least 20. Returns the latency of each in ms. */
async function rounds(duration) {
  const latencies = [];
  const end = performance.now() + duration;
  for (let before = performance.now(); before < end || latencies.length < 20; ) {
    await round(records[latencies.length & 15]);
    const after = performance.now();
    latencies.push(after - before);
    before = after;
  }
  return latencies;
}
