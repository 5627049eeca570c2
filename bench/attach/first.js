/**
 * One run: `node first.js <spares>` prints one line of JSON. A driver starts two processes, one after the other, on a host that has had
 * the time to start its spares.
 */
import { startHost } from "../hosts/peers/viceroy.js";
import { loadDriver } from "../viceroy/prepare.js";

const [, , spares] = process.argv;
const { attachAll } = await loadDriver();
const host = await startHost({ address: "127.0.0.1", through: [], more: ["--spares", spares] });
await new Promise((resolve) => setTimeout(resolve, 1500));
const hosts = attachAll([host.address], {});
await hosts.ready;
const times = [];
for (let i = 0; i < 2; i++) {
  const begun = performance.now();
  await hosts.spawn(1).ready;
  times.push(performance.now() - begun);
}
await hosts.stop();
await host.stop();
process.stdout.write(`${JSON.stringify({ first: times[0], second: times[1] })}\n`);
process.exit(0);
