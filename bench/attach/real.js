/**
 * One run: `node real.js <hosts> <processes on each>` prints one line of JSON. That many daemons run on this machine, each a process that
 * listens on a port of its own, and a driver attaches all of them.
 */
import { startHost } from "../hosts/peers/viceroy.js";
import { loadDriver } from "../viceroy/prepare.js";

const [, , hostsText, eachText] = process.argv;
const count = Number(hostsText);
const each = Number(eachText);
const { attachAll } = await loadDriver();

const started = await Promise.all(
  Array.from({ length: count }, () => startHost({ address: "127.0.0.1", through: [] })),
);
const begun = performance.now();
const hosts = attachAll(
  started.map(({ address }) => address),
  {},
);
await hosts.ready;
const attached = performance.now();
const { ready, echo } = hosts.spawn(each);
await ready;
const spawned = performance.now();
const answers = await echo.one.call();
if (answers.size !== count * each) throw new Error(`expected ${count * each} answers, got ${answers.size}`);
const result = { attach: attached - begun, spawn: spawned - attached, answer: performance.now() - spawned };
await hosts.stop();
await Promise.all(started.map(({ stop }) => stop()));
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(0);
