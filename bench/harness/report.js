/**
 * Writes results: Markdown to the terminal, Markdown and JSON to bench/results/ (not in git), and with --write into
 * docs/explanation/benchmarks.md, between the two comments that name the benchmark.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describeMachine } from "./machine.js";
import { repository } from "./setup.js";
import { median } from "./stats.js";
import { number } from "./table.js";

/**
 * @typedef {{ title: string, table: string, samples?: Map<string, object[]>, notes?: readonly string[] }} Section
 * @param {{ name: string, title: string, command: string, options: object }} benchmark
 * @param {readonly Section[]} sections
 */
export function report(benchmark, sections) {
  const text = render(benchmark, sections);
  process.stdout.write(`${text}\n`);
  const results = path.join(repository, "bench/results");
  mkdirSync(results, { recursive: true });
  writeFileSync(path.join(results, `${benchmark.name}.md`), `# ${benchmark.title}\n\n${text}\n`);
  writeFileSync(
    path.join(results, `${benchmark.name}.json`),
    `${JSON.stringify(data(benchmark, sections), undefined, 2)}\n`,
  );
  if (benchmark.options.write) writeIntoDocs(benchmark.name, text);
}

function render({ command, options }, sections) {
  const foreign = sections.flatMap(({ samples }) =>
    [...(samples?.values() ?? [])].flat().map((sample) => sample.foreign),
  );
  const about = [
    `\`${command}\`${options.quick ? " (one short round, to verify that it runs; do not publish)" : ""}, on ${describeMachine()}.`,
    `Medians of ${options.rounds} rounds; ratios are paired within a round: median (lowest-highest).`,
    `Foreign load: median ${number(median(foreign), 2)}, at most ${number(Math.max(...foreign), 2)} cores.`,
  ].join(" ");
  const parts = sections.map(({ title, table, notes = [] }) => [`**${title}**`, table, ...notes].join("\n\n"));
  return [about, ...parts].join("\n\n");
}

function data({ name, command, options }, sections) {
  return {
    name,
    command,
    options,
    machine: describeMachine(),
    at: new Date().toISOString(),
    sections: sections.map(({ title, samples }) => ({ title, samples: samples && Object.fromEntries(samples) })),
  };
}

function writeIntoDocs(name, text) {
  const file = path.join(repository, "docs/explanation/benchmarks.md");
  const page = readFileSync(file, "utf8");
  const [open, close] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const [from, to] = [page.indexOf(open), page.indexOf(close)];
  if (from < 0 || to < from)
    throw new Error(`cannot write docs/explanation/benchmarks.md: it has no ${open} … ${close}`);
  writeFileSync(file, `${page.slice(0, from + open.length)}\n${text}\n${page.slice(to)}`);
}
