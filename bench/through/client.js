/**
 * One run of one subject: `node client.js <subject> <plan>`. Starts what the subject needs, checks an answer, warms up,
 * measures, and prints one line of JSON.
 */
import { isDeepStrictEqual } from "node:util";
import { callConcurrently, callSequentially } from "../harness/load.js";
import { quantile } from "../harness/stats.js";
import { start as startLimit } from "../hosts/peers/limit.js";
import { start as startViceroy } from "../hosts/peers/viceroy.js";
import { records } from "../rpc/records.js";

const [, , subject, planText] = process.argv;
const { warmUp, window, ...plan } = JSON.parse(planText);
const piece = new Uint8Array(1 << 20).fill(7);
const bulkPieces = 64;
/** One transfer takes 0.1 s, in which the machine may do something else. */
const bulkRounds = 7;

const starts = {
  "bare tunnel": () => startLimit({ ...plan, hasRelay: true }),
  "viceroy, direct": () => startViceroy(plan),
  "viceroy, gateway": () => startViceroy({ ...plan, hasGateway: true }),
};
const { call, push, close } = await starts[subject]();
const echo = await call(records[0]);
if (!isDeepStrictEqual(echo, records[0])) throw new Error(`${subject}: a record came back as ${JSON.stringify(echo)}`);

const callOne = (i) => call(records[i & 15]);
await callConcurrently(callOne, 64, warmUp);
await callSequentially(callOne, warmUp);
await callConcurrently(() => push(piece), 4, warmUp);

const latencies = await callSequentially(callOne, window);
const at1024 = await callConcurrently(callOne, 1024, window);
const rates = [];
for (let round = 0; round < bulkRounds; round++) {
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let i = 0; i < bulkPieces / 8; i++) await push(piece);
    }),
  );
  rates.push((bulkPieces / (performance.now() - begun)) * 1000);
}
const mib = quantile(rates, 0.5);
const [p50, p99] = [quantile(latencies, 0.5) * 1000, quantile(latencies, 0.99) * 1000];
process.stdout.write(`${JSON.stringify({ p50, p99, k1024: at1024.rate / 1000, mib })}\n`);
await close();
process.exit(0);
