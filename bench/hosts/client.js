/**
 * One run of one subject: `node client.js <peer> <plan>`. Starts the server on the other host, checks its answers, warms up,
 * measures, and prints one line of JSON.
 */
import { isDeepStrictEqual } from "node:util";
import { callConcurrently, callSequentially } from "../harness/load.js";
import { quantile } from "../harness/stats.js";
import { records } from "../rpc/records.js";

const [, , peer, planText] = process.argv;
const { warmUp, window, ...plan } = JSON.parse(planText);
const piece = new Uint8Array(1 << 20).fill(7);

const { start } = await import(`./peers/${peer}.js`);
const { call, push, close } = await start(plan);
for (const record of records) {
  const echo = await call(record);
  if (!isDeepStrictEqual(echo, record))
    throw new Error(`${peer}: ${JSON.stringify(record)} came back as ${JSON.stringify(echo)}`);
}
const size = await push(piece);
if (size !== piece.length) throw new Error(`${peer}: ${piece.length} bytes were counted as ${size}`);

const callOne = (i) => call(records[i & 15]);
const pushOne = () => push(piece);
await callConcurrently(callOne, 64, warmUp);
await callSequentially(callOne, warmUp);
await callConcurrently(pushOne, 4, warmUp);

const latencies = await callSequentially(callOne, window);
const at64 = await callConcurrently(callOne, 64, window);
const pushed = await callConcurrently(pushOne, 4, window);
const [p50, p99] = [quantile(latencies, 0.5) * 1000, quantile(latencies, 0.99) * 1000];
process.stdout.write(`${JSON.stringify({ p50, p99, k64: at64.rate / 1000, mib: pushed.rate })}\n`);
await close();
process.exit(0);
