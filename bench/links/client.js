/**
 * A client process: `node client.js <bundle> <kind> <address> <server's cores>`. Starts the server, warms up, and then measures once for
 * each line of its standard input, which contains the number of round trips. Prints a line with the median of the round trips, in us.
 */
import { createInterface } from "node:readline";
import { pinned, startReady } from "../harness/child.js";
import { quantile } from "../harness/stats.js";

const [, , bundle, kind, address, serverCpus] = process.argv;
const serverFile = new URL("server.js", import.meta.url).pathname;
const cpus = serverCpus === "" ? undefined : serverCpus;
const server = await startReady(pinned(cpus, [process.execPath, serverFile, bundle, kind, address]));
const { ask } = await import(bundle);
const send = await ask(kind, address);
await measure(20_000);
process.stdout.write(`${JSON.stringify({})}\n`);
for await (const line of createInterface(process.stdin)) process.stdout.write(`${await measure(Number(line))}\n`);
await server.stop();
process.exit(0);

/** Makes sequential round trips, each in the callback of the previous one. */
function measure(times) {
  const latencies = new Float64Array(times);
  return new Promise((resolve) => {
    let n = 0;
    let before = performance.now();
    const onAnswer = () => {
      const now = performance.now();
      latencies[n] = now - before;
      before = now;
      if (++n === times) resolve(quantile(latencies, 0.5) * 1000);
      else send(onAnswer);
    };
    send(onAnswer);
  });
}
