/**
 * A driver whose connections to the gateway are cut again and again while its calls are on the way. Its argument is a JSON object with
 * the addresses and the number of cuts. It prints the number of calls, each of which was handled once and in order, or throws.
 */
import { attachHosts } from "viceroy";
import { patience } from "../../host/attach-patiently.js";
import { makeProxy } from "../../host/make-proxy.js";
import { loadCrew } from "../../proc/crew.js";
import { until } from "../../proc/until.js";

/** The calls that wait for an answer. */
const inFlight = 32;
const { host, gateway, token, cuts } = JSON.parse(process.argv[2]!);

const { SteelWorker } = await loadCrew();
const proxy = await makeProxy(gateway);
const hosts = attachHosts([host], { ...patience, absence: 60_000, token, through: proxy.address });
const worker = hosts.spawnProcs().spawn("workers", SteelWorker).slice({ hosts: 0 });
let calls = 0;
let isOver = false;

/** Each call gives the actor a number, and returns the one before. */
async function call(): Promise<void> {
  await worker.keep.callOne(new Uint8Array([0]));
  const waiting: Promise<void>[] = [];
  for (let number = 1; !isOver; number++) {
    const answer = worker.keep.callOne(new Uint8Array([number % 256])).then((before) => {
      if (before !== (number - 1) % 256) throw new Error(`call ${number} was answered by ${before}`);
      calls++;
    });
    answer.catch(() => {});
    waiting.push(answer);
    if (waiting.length >= inFlight) await waiting.shift();
  }
  await Promise.all(waiting);
}

async function cut(): Promise<void> {
  for (let made = 0; made < cuts; made++) {
    // Each connection carries an answer before it is cut.
    const before = calls;
    await until(() => calls > before);
    proxy.cut();
  }
  isOver = true;
}

await Promise.all([call(), cut()]);
console.log(calls);
await hosts.stop();
process.exit();
