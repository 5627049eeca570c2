/** One run of Viceroy: `node driver.js <profile> <file of records>` prints a line of JSON. */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { onUnhandledFault } from "viceroy";
import { callConcurrently, callSequentially } from "../harness/load.js";
import { median } from "../harness/stats.js";
import { loadDriver } from "../viceroy/prepare.js";

const { actors, warmUp, window, bulk, kills } = JSON.parse(process.argv[2]);
const records = JSON.parse(readFileSync(process.argv[3], "utf8"));
const bytes = 64 * 1024 * 1024;

const { spawnEcho } = await loadDriver();
const spawned = performance.now();
const { echo } = spawnEcho(actors);
const answers = [...(await echo.one.call()).values()];
const ready = performance.now();
check("the first answers", answers, new Array(actors).fill(1));

const one = echo.slice({ procs: 0 });
const call = (i) => one.echo.callOne(records[i & 15]);
for (const [i, record] of records.entries()) check("a record", await call(i), record);
const gather = (i) => echo.touch.call(records[i & 15]);
const done = { id: records[0].id, ok: true };
check("what was gathered", [...(await gather(0)).values()], new Array(actors).fill(done));

await callSequentially(call, warmUp);
const latencies = await callSequentially(call, window);
await callConcurrently(call, 64, warmUp);
const { rate: k64 } = await callConcurrently(call, 64, window);
await callConcurrently(call, 1024, warmUp);
const { rate: k1024 } = await callConcurrently(call, 1024, window);
await callSequentially(gather, warmUp);
const gathered = await callSequentially(gather, window);

const data = new Uint8Array(bytes).fill(7);
const bulks = [];
for (let i = 0; i <= bulk; i++) {
  const before = performance.now();
  const back = await one.back.callOne(data);
  bulks.push(performance.now() - before);
  check("64 MiB", [back.length, back[0], back[bytes - 1]], [bytes, 7, 7]);
}

onUnhandledFault(() => {});
const deaths = [];
for (let i = 0; i < kills; i++) {
  const { echo: victim } = spawnEcho(1);
  const pid = await victim.pid.callOne();
  const failure = victim.sleep.callOne(600_000).then(
    () => Promise.reject(new Error("the call has been answered")),
    () => performance.now(),
  );
  await delay(500);
  const before = performance.now();
  process.kill(pid, "SIGKILL");
  deaths.push((await failure) - before);
}

process.stdout.write(
  `${JSON.stringify({
    first: ready - spawned,
    program: ready,
    p50: median(latencies),
    k64: k64 / 1000,
    k1024: k1024 / 1000,
    gather: median(gathered),
    bulk: median(bulks.slice(1)),
    killed: median(deaths),
  })}\n`,
);
process.exit(0);

function check(what, value, expected) {
  if (isDeepStrictEqual(value, expected)) return;
  throw new Error(`${what}: got ${JSON.stringify(value)}, not ${JSON.stringify(expected)}`);
}
