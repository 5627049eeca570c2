/**
 * One run of one subject: `node client.js <peer> <address> <server's cores> <profile>`. Starts the server, checks that it returns
 * every record unchanged, warms up, measures, and prints one line of JSON.
 */
import { isDeepStrictEqual } from "node:util";
import { pinned, startReady } from "../harness/child.js";
import { callConcurrently, callSequentially } from "../harness/load.js";
import { quantile } from "../harness/stats.js";
import { records } from "./records.js";

const [, , peer, address, serverCpus, profile] = process.argv;
/** Durations in ms: warm-up of each window, measurement of each window, and sequential calls. */
const { warmUp, window, sequential } = JSON.parse(profile);

const { connect, start, plain } = await import(`./peers/${peer}.js`);
const cpus = serverCpus === "" ? undefined : serverCpus;
const server = start
  ? undefined
  : await startReady(pinned(cpus, [process.execPath, new URL("server.js", import.meta.url).pathname, peer, address]));
const { call, close } = start ? await start(cpus) : await connect(address);

for (const record of records) {
  const echo = await call(record);
  if (!isDeepStrictEqual(plain ? plain(echo) : echo, record))
    throw new Error(`${peer}: ${JSON.stringify(record)} came back as ${JSON.stringify(echo)}`);
}
const callOne = (i) => call(records[i & 15]);
await callConcurrently(callOne, 64, warmUp);
await callConcurrently(callOne, 1024, warmUp);
await callSequentially(callOne, Math.min(warmUp, 500));

const latencies = await callSequentially(callOne, sequential);
const at64 = await callConcurrently(callOne, 64, window);
const at1024 = await callConcurrently(callOne, 1024, window);
process.stdout.write(
  `${JSON.stringify({
    p50: quantile(latencies, 0.5) * 1000,
    p99: quantile(latencies, 0.99) * 1000,
    k64: at64.rate / 1000,
    k1024: at1024.rate / 1000,
    cpuClient: at64.cpuClient,
    cpuServer: at64.cpuServer,
    cpu: at64.cpuClient + at64.cpuServer,
  })}\n`,
);
await close?.();
await server?.stop();
process.exit(0);
