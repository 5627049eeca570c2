/**
 * One run of Viceroy beside Ray: `node actor-driver.js <kind> <profile>` starts eight actors, as actors of a context or as a mesh, and
 * prints a line of JSON: the ms until all have answered, and what tasks take.
 */
import { isDeepStrictEqual } from "node:util";
import { JobContext } from "viceroy/tasks";
import { callConcurrently, callSequentially } from "../harness/load.js";
import { median } from "../harness/stats.js";
import { loadDriver } from "../viceroy/prepare.js";
import { nothing } from "./functions.js";

const [, , kind, profile] = process.argv;
const { actors, workers, inFlight, warmUp, window } = JSON.parse(profile);

const kinds = {
  async mesh() {
    const { spawnEcho } = await loadDriver();
    const begin = performance.now();
    const { echo, stop } = spawnEcho(actors);
    const answers = [...(await echo.one.call()).values()];
    return { first: performance.now() - begin, answers, stop };
  },
  async context() {
    const { EchoServer } = await loadDriver();
    const context = await JobContext.open({ procs: 1, resources: { cpus: actors } });
    const begin = performance.now();
    const answers = await Promise.all(
      Array.from({ length: actors }, async () => (await context.actor(EchoServer, [])).one.callOne()),
    );
    return { first: performance.now() - begin, answers, stop: () => context.close() };
  },
};

const { first, answers, stop } = await kinds[kind]();
if (!isDeepStrictEqual(answers, new Array(actors).fill(1))) throw new Error(`unexpected answers ${answers}`);
await stop();
const tasks = kind === "context" ? await measureTasks() : {};
process.stdout.write(`${JSON.stringify({ first, ...tasks })}\n`);
process.exit(0);

async function measureTasks() {
  const context = await JobContext.open({ procs: workers });
  const run = () => context.get(context.run(nothing));
  await callConcurrently(run, inFlight, warmUp);
  const { rate } = await callConcurrently(run, inFlight, window);
  await callSequentially(run, warmUp);
  const p50 = median(await callSequentially(run, window));
  await context.close();
  return { thousands: rate / 1000, p50 };
}
