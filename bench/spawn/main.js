/**
 * `npm run bench:spawn`: spawns 8 processes and waits until all have answered a first message. All starts are cold: each run has a driver
 * of its own, without spare processes, and all subjects have equal V8 flags (none). Viceroy's row is compiled JavaScript. tsx has a row of
 * its own, and a table against compiled code: its processes load modules that have been prepared before. Then it kills a process that is restarted, with
 * and without a spare. At last it spawns hundreds and
 * thousands of inline processes, whose time
 * for each must not grow with their number.
 */
import { fileURLToPath } from "node:url";
import { benchmark, compare, runInterleaved, runJson } from "../harness/index.js";
import { prepareProgram } from "../viceroy/prepare.js";

const reference = "fork, empty script";
const compiled = "viceroy";
const withTsx = "viceroy, with tsx";
const driver = fileURLToPath(new URL("driver.js", import.meta.url));
const subjects = {
  [reference]: ["fork", "empty.cjs"],
  "fork, empty ES module": ["fork", "empty.mjs"],
  [compiled]: ["viceroy", "process"],
  [withTsx]: ["viceroy-tsx", "process"],
  "worker_threads, empty script": ["threads", "empty.cjs"],
  "viceroy, thread isolation": ["viceroy", "thread"],
};
const columns = [
  { metric: "ready", title: "ms until all have answered", ratio: true },
  { metric: "program", title: "ms from the driver's start" },
  { metric: "cpu", title: "ms CPU, driver and children" },
];
const restarts = { "restart without a spare": "0", "restart with a spare": "1" };
const inline = "viceroy, inline isolation";
const inlineColumns = [
  { metric: "ready", title: "ms until all have answered" },
  { metric: "readyEach", title: "us for each", ratio: true },
  { metric: "stop", title: "ms to stop all" },
  { metric: "stopEach", title: "us for each", ratio: true },
];

await benchmark({ name: "spawn", title: "Spawn processes", rounds: 7, needs: ["viceroy"] }, async (context) => {
  const restarted = Object.keys(restarts).filter((name) => context.wanted(name));
  if (context.wanted("viceroy") || context.wanted(inline) || restarted.length > 0) await prepareProgram();
  const sections = [];
  for (const count of context.options.quick ? [2] : [8, 1]) sections.push(...(await measure(context, count)));
  if (restarted.length > 0) sections.push(await measureRestarts(context, restarted));
  if (context.wanted(inline)) sections.push(await measureInline(context));
  return sections;
});

/** Measures from the end of a process to the first answer of the one that takes its place. */
async function measureRestarts({ options }, names) {
  const subjects = names.map((name) => ({
    name,
    run: () => runJson(command("viceroy-restart", restarts[name], 1)),
  }));
  const samples = await runInterleaved(subjects, options);
  const table = compare(samples, {
    reference: names[0],
    columns: [{ metric: "ready", title: "ms from SIGKILL to the first answer", ratio: true }],
    subject: "process",
  });
  return { title: "A process that is restarted", samples, table };
}

async function measureInline({ options }) {
  const counts = options.quick ? [100, 200] : [1000, 100, 4000];
  const nameOf = (count) => `${count.toLocaleString("en")} ${inline}`;
  const run = (count) => runJson(command("viceroy", "inline", count));
  const subjects = counts.map((count) => ({ name: nameOf(count), run: () => run(count) }));
  const samples = await runInterleaved(subjects, options);
  const table = compare(samples, { reference: nameOf(counts[0]), columns: inlineColumns, subject: "processes" });
  return { title: "Inline processes", samples, table };
}

async function measure({ options, wanted }, count) {
  const chosen = Object.entries(subjects).filter(([name]) => wanted(name));
  const runs = chosen.map(([name, [kind, target]]) => ({ name, run: () => runJson(command(kind, target, count)) }));
  const samples = await runInterleaved(runs, options);
  const title = count === 1 ? "1 process" : `${count} processes`;
  const all = { title, samples, table: compare(samples, { reference, columns, subject: "children" }) };
  const languages = new Map([compiled, withTsx].map((name) => [name, samples.get(name)]));
  if ([...languages.values()].includes(undefined)) return [all];
  // The same runs, without their samples, so that the data contains each sample once.
  const table = compare(languages, { reference: compiled, columns: columns.slice(0, 1), subject: "children" });
  return [all, { title: `${title}, TypeScript against compiled code`, table }];
}

function command(kind, target, count) {
  if (kind !== "viceroy-tsx") return [process.execPath, driver, kind, target, String(count)];
  return [process.execPath, "--import", import.meta.resolve("tsx"), driver, kind, target, String(count)];
}
