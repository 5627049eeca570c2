/**
 * A client process: `node client.js <bundle> <kind> <address> <server's cores>`. Starts the server, warms up and then measures once for
 * each line of its standard input, which says how many times it asks; each answer is a line with the median of the round trips, in us.
 */
import { createInterface } from "node:readline";
import { pinned, startReady } from "../harness/child.js";
import { quantile } from "../harness/stats.js";

const [, , bundle, kind, address, serverCpus] = process.argv;
const serverFile = new URL("server.js", import.meta.url).pathname;
const cpus = serverCpus === "" ? undefined : serverCpus;
const server = await startReady(pinned(cpus, [process.execPath, serverFile, bundle, kind, address]));
const { ask } = await import(bundle);
const asks = await ask(kind, address);
await measure(20_000);
process.stdout.write(`${JSON.stringify({})}\n`);
for await (const line of createInterface(process.stdin)) process.stdout.write(`${await measure(Number(line))}\n`);
await server.stop();
process.exit(0);

/** One after the other, each in the callback of the one before. */
function measure(times) {
  const took = new Float64Array(times);
  return new Promise((resolve) => {
    let n = 0;
    let before = performance.now();
    const heard = () => {
      const now = performance.now();
      took[n] = now - before;
      before = now;
      if (++n === times) resolve(quantile(took, 0.5) * 1000);
      else asks(heard);
    };
    asks(heard);
  });
}
