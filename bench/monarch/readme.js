/** Writes the table of README.md: medians of this benchmark, in readable units. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { median, repository } from "../harness/index.js";
import { markdown, number } from "../harness/table.js";

const milliseconds = (ms) => (ms >= 100 ? `${number(ms / 1000)} s` : `${number(ms)} ms`);
const perSecond = (thousands) => `${Math.round(Number((thousands * 1000).toPrecision(2))).toLocaleString("en")}/s`;

const rows = [
  ["until 8 new actors have answered", "first", milliseconds],
  ["one call after the other", "p50", milliseconds],
  ["calls, 64 in flight", "k64", perSecond],
  ["calls, 1,024 in flight", "k1024", perSecond],
  ["call 8 processes, gather the answers", "gather", milliseconds],
  ["64 MiB there and back", "bulk", milliseconds],
  ["from SIGKILL to the caller's error", "killed", milliseconds],
];

/**
 * @param samples the samples of all systems, by name
 * @param titles the title of each system in the table, in order
 */
export function writeReadme(samples, titles) {
  const cell = (name, metric, text) => text(median(samples.get(name).map((sample) => sample[metric])));
  const body = rows.map(([work, metric, text]) => [
    work,
    ...Object.keys(titles).map((name) => cell(name, metric, text)),
  ]);
  const table = markdown(["the same work", ...Object.values(titles)], body);
  const file = path.join(repository, "README.md");
  const page = readFileSync(file, "utf8");
  const [open, close] = ["<!-- bench:monarch -->", "<!-- /bench:monarch -->"];
  const [from, to] = [page.indexOf(open), page.indexOf(close)];
  if (from < 0 || to < from) throw new Error(`cannot write README.md: it has no ${open} … ${close}`);
  writeFileSync(file, `${page.slice(0, from + open.length)}\n${table}\n${page.slice(to)}`);
}
