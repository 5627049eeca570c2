/** Formats samples as Markdown tables. Pure. */
import { median, pairedRatio, spread } from "./stats.js";

/**
 * One column: a metric with its unit. `ratio` adds a second column, the metric divided in each round by that of the reference
 * subject: always subject / reference, whichever is better.
 *
 * @typedef {{ metric: string, title: string, digits?: number, ratio?: boolean }} Column
 */

/**
 * Returns a Markdown table with one row per subject: medians over the rounds, ratios to `reference` as "median (low-high)", and
 * the largest spread of the metrics in the row.
 *
 * @param {Map<string, Record<string, number>[]>} samples
 * @param {{ reference: string, columns: readonly Column[], subject?: string }} options
 */
export function compare(samples, { reference, columns, subject = "peer" }) {
  const base = samples.get(reference);
  const head = [
    subject,
    ...columns.flatMap(({ title, ratio }) => (ratio ? [title, `x ${reference}`] : [title])),
    "spread",
  ];
  const body = [...samples].map(([name, rounds]) => [
    name,
    ...columns.flatMap((column) => cells(column, rounds, base)),
    `${Math.round(100 * Math.max(0, ...columns.map(({ metric }) => spread(pick(rounds, metric))).filter(Number.isFinite)))} %`,
  ]);
  return markdown(head, body);
}

function cells({ metric, digits, ratio }, rounds, base) {
  const value = number(median(pick(rounds, metric)), digits);
  if (!ratio) return [value];
  const paired = pairedRatio(pick(rounds, metric), base === undefined ? [] : pick(base, metric));
  if (Number.isNaN(paired.median)) return [value, "-"];
  return [value, `${factor(paired.median)} (${factor(paired.low)}-${factor(paired.high)})`];
}

const pick = (rounds, metric) => rounds.map((sample) => sample?.[metric] ?? Number.NaN);

/** Returns the paired ratio of one metric of two subjects, { median, low, high }, with NaN if a subject is missing. */
export function ratioOf(samples, metric, subject, reference) {
  return pairedRatio(pick(samples.get(subject) ?? [], metric), pick(samples.get(reference) ?? [], metric));
}

/** Formats a number with three significant digits, or with `digits` after the point. */
export function number(value, digits) {
  if (!Number.isFinite(value)) return "-";
  if (digits !== undefined) return value.toFixed(digits);
  return Math.abs(value) >= 100
    ? value.toFixed(0)
    : value
        .toPrecision(3)
        .replace(/(\.\d*?)0+$/, "$1")
        .replace(/\.$/, "");
}

/** Formats a ratio with two digits after the point, or with four if it is less than 0.1. */
const factor = (ratio) => (ratio >= 0.1 ? ratio.toFixed(ratio < 10 ? 2 : 0) : ratio.toFixed(4));

export function markdown(head, body) {
  const widths = head.map((title, i) => Math.max(title.length, ...body.map((row) => row[i].length)));
  const line = (row) =>
    `| ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(" | ")} |`;
  const rule = `|${widths.map((width, i) => (i === 0 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`;
  return [line(head), rule, ...body.map(line)].join("\n");
}
