/**
 * One subject: `node client.js <peer> <isolation> <workers> <profile>` starts the workers, verifies their answers, warms up, and prints a line
 * of JSON. Then it measures for each line of its input: `rate`, the us for each task with many in flight, or `p50`, the median latency in us
 * of one after the other.
 */
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import { callConcurrently, callSequentially } from "../harness/load.js";
import { median } from "../harness/stats.js";

const [, , peer, isolation, workers, profile] = process.argv;
/**
 * Durations in ms, and the number of tasks in flight. Each window begins with `settling`, which does not count: V8 makes its heap small
 * while a subject waits for its next window.
 */
const { warmUp, settling, window, inFlight } = JSON.parse(profile);

const { start } = await import(`./peers/${peer}.js`);
// One after the other, tasks go to one worker. `alone` is for subjects that would go to each of them by turns.
const { nothing, same, stop, alone = nothing } = await start(Number(workers), isolation);

const numbers = Array.from({ length: 2000 }, (_, i) => i);
const answers = await Promise.all(numbers.map(same));
if (!isDeepStrictEqual(answers, numbers)) throw new Error(`${peer}: unexpected answers ${JSON.stringify(answers)}`);

const measures = {
  async rate(duration) {
    const { rate, cpuClient, cpuServer } = await callConcurrently(nothing, inFlight, duration);
    return { rate: 1e6 / rate, cpu: cpuClient + cpuServer, cpuClient };
  },
  async p50(duration) {
    return { p50: median(await callSequentially(alone, duration)) * 1000 };
  },
};
for (const measure of Object.values(measures)) await measure(warmUp);
answer("ready");
for await (const line of createInterface(process.stdin)) {
  await measures[line](settling);
  answer(await measures[line](window));
}
await stop();
process.exit(0);

function answer(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
