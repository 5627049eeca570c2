/** Formats numbers and tables. */
import type { Totals, WordCount } from "../generated/analyst.js";

export function formatBytes(bytes: number): string {
  if (bytes < 1e3) return `${Math.round(bytes)} B`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} KB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

export function formatCount(count: number): string {
  return count.toLocaleString("en");
}

/** `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A table with one row for each process, and one for their sum. */
export function totalsTable(perProcess: readonly Totals[], all: Totals): string {
  const row = (name: string, { pieces, lines, words, bytes }: Totals) =>
    name.padEnd(9) +
    formatCount(pieces).padStart(8) +
    formatCount(lines).padStart(12) +
    formatCount(words).padStart(14) +
    formatBytes(bytes).padStart(11);
  return [
    `process ${"pieces".padStart(9)}${"lines".padStart(12)}${"words".padStart(14)}${"size".padStart(11)}`,
    ...perProcess.map((totals, rank) => row(String(rank), totals)),
    row("all", all),
  ].join("\n");
}

/** A table with two lists of words side by side. */
export function wordsTable(left: string, words: readonly WordCount[], right: string, others: readonly WordCount[]) {
  const cell = (counted: WordCount | undefined) =>
    counted === undefined ? "" : `${counted.word.padEnd(16)}${formatCount(counted.count).padStart(10)}`;
  const lines = [`${left.padEnd(30)}${right}`];
  for (let i = 0; i < Math.max(words.length, others.length); i++) {
    lines.push(`${cell(words[i]).padEnd(30)}${cell(others[i])}`.trimEnd());
  }
  return lines.join("\n");
}
