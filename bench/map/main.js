/**
 * `npm run bench:map`: 100,000 items over 4 processes by `map`, compared with pools that are written by hand with the same window: one loop
 * for each place, which all take from one iterator, as the guides of most systems show it.
 */
import { benchmark, compare, measureInterleaved } from "../harness/index.js";
import { loadDriver, prepareProgram } from "../viceroy/prepare.js";

const ranks = 4;
const inFlight = 4;
const reference = "pool by hand";
const columns = [{ metric: "item", title: "us per item", ratio: true }];

await benchmark({ name: "map", title: "Work over items", rounds: 5, needs: ["viceroy"] }, async (context) => {
  await prepareProgram();
  const { spawnEcho } = await loadDriver();
  const items = context.options.quick ? 5_000 : 100_000;
  const subjects = {
    [reference]: byHand,
    "map, results in order": (echo, count) => byMap(echo, count, true),
    "map, results as they arrive": (echo, count) => byMap(echo, count, false),
  };
  const running = Object.entries(subjects)
    .filter(([name]) => context.wanted(name))
    .map(([name, run]) => ({ name, start: () => start(spawnEcho, run, items) }));
  const samples = await measureInterleaved(running, { ...context.options, windows: context.options.quick ? 1 : 3 });
  const title = `${items.toLocaleString("en")} items over ${ranks} processes, ${inFlight} in flight on each`;
  return [{ title, samples, table: compare(samples, { reference, columns }) }];
});

async function start(spawnEcho, run, items) {
  const procs = spawnEcho(ranks);
  await procs.echo.ready;
  await run(procs.echo, Math.min(items, 10_000));
  return {
    metrics: ["item"],
    constants: {},
    measure: async () => {
      const begin = performance.now();
      const sum = await run(procs.echo, items);
      const milliseconds = performance.now() - begin;
      if (sum !== (items * (items - 1)) / 2) throw new Error(`expected each item once, got the sum ${sum}`);
      return (milliseconds * 1000) / items;
    },
    stop: () => procs.stop(),
  };
}

function* upTo(count) {
  for (let i = 0; i < count; i++) yield i;
}

async function byHand(echo, count) {
  const items = upTo(count);
  let sum = 0;
  const places = Array.from({ length: inFlight }, () => [...echo]).flat();
  await Promise.all(
    places.map(async ([, one]) => {
      const { same } = one;
      for (const item of items) {
        const value = await same.callOne(item);
        sum += value;
      }
    }),
  );
  return sum;
}

async function byMap(echo, count, ordered) {
  let sum = 0;
  for await (const [, value] of echo.same.map(upTo(count), { inFlight, ordered })) sum += value;
  return sum;
}
