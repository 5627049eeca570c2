/**
 * Counts lines and words, and finds the most frequent words, of the files and folders given as arguments (by default
 * the documentation of Viceroy) with four processes.
 */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { range, thisHost } from "viceroy";
import type { AnalystMesh, Piece, Totals } from "../generated/analyst.js";
import "../generated/registry.js";
import { findFiles, type InputFile } from "./inputs.js";
import { piecesOf } from "./pieces.js";
import { Progress } from "./progress.js";
import { counted, formatBytes, formatCount, totalsTable, wordsTable } from "./report.js";
import { WordAnalyst } from "./word-analyst.js";

/** The number of pieces of each analyst: one being counted and one in transit. */
const piecesAtATime = 2;

const clone = fileURLToPath(new URL("../../../", import.meta.url));
const paths = process.argv.length > 2 ? process.argv.slice(2) : ["README.md", "docs"].map((p) => path.join(clone, p));
const { files, errors, notes } = await findFiles(paths);
for (const note of notes) console.log(`skipped: ${note}`);
for (const error of errors) console.error(error);
const { analysed, unreadable } = files.length > 0 ? await analyse(files) : { analysed: 0, unreadable: 0 };
if (analysed === 0) console.error("nothing to analyse");
if (errors.length + unreadable > 0 || analysed === 0) process.exitCode = 1;

interface FileCounts {
  readonly analysed: number;
  readonly unreadable: number;
}

async function analyse(files: readonly InputFile[]): Promise<FileCounts> {
  const begin = performance.now();
  await using procs = thisHost().spawnProcs({ procs: 4 });
  const analysts = procs.spawn("analysts", WordAnalyst);
  await analysts.ready;
  const ready = performance.now();
  console.log(`started ${analysts.size} processes in ${seconds(ready - begin)}`);

  const counts = await distribute(analysts, files);
  if (counts.analysed === 0) return counts;
  const [perProcess, all, words] = await Promise.all([
    analysts.totals.call(),
    analysts.totals.reduce(addTotals),
    mergeWords(analysts),
  ]);
  const duration = performance.now() - ready;

  console.log(`\n${totalsTable([...perProcess.values()], all)}\n`);
  const [any, long] = await Promise.all([words.mostFrequent.callOne(12, 1), words.mostFrequent.callOne(12, 6)]);
  console.log(`${wordsTable("most frequent words", any, "with six letters or more", long)}\n`);
  const rate = (amount: number) => (1000 * amount) / duration;
  console.log(
    `${counted(counts.analysed, "file")} in ${seconds(duration)}: ` +
      `${formatBytes(rate(all.bytes))} and ${formatCount(Math.round(rate(all.words)))} words a second`,
  );
  return counts;
}

/** Distributes pieces. An analyst gets the next piece when it finishes one, so none waits for the slowest. */
async function distribute(analysts: AnalystMesh<"procs">, files: readonly InputFile[]): Promise<FileCounts> {
  const waiting: Piece[] = files.flatMap(({ file, size }) => piecesOf(file, size)).reverse();
  const progress = new Progress(files.reduce((sum, { size }) => sum + size, 0));
  const unreadable = new Set<string>();
  const binary = new Set<string>();

  const work = async (analyst: AnalystMesh<never>) => {
    for (let piece = waiting.pop(); piece !== undefined; piece = waiting.pop()) {
      const outcome = await analyst.analyse.callOne(piece);
      progress.add(piece.end - piece.start);
      const name = path.relative(process.cwd(), piece.file);
      if (outcome.kind === "binary" && !binary.has(name)) console.log(`skipped: ${name}: not text`);
      if (outcome.kind === "binary") binary.add(name);
      if (outcome.kind === "unreadable" && !unreadable.has(name)) {
        console.error(`cannot read ${name}: ${outcome.reason}`);
        unreadable.add(name);
      }
    }
  };
  const workers = [];
  for (let rank = 0; rank < analysts.size; rank++) {
    for (let i = 0; i < piecesAtATime; i++) workers.push(work(analysts.slice({ procs: rank })));
  }
  await Promise.all(workers);
  return { analysed: files.length - unreadable.size - binary.size, unreadable: unreadable.size };
}

function addTotals(a: Totals, b: Totals): Totals {
  return {
    pieces: a.pieces + b.pieces,
    bytes: a.bytes + b.bytes,
    lines: a.lines + b.lines,
    words: a.words + b.words,
  };
}

/**
 * Merges the words of all analysts and halves the mesh in each round: the analysts of the lower half absorb the words of
 * the upper half, all at the same time. No word passes through this process.
 * @returns the analyst that has all words
 */
async function mergeWords(analysts: AnalystMesh<"procs">): Promise<AnalystMesh<never>> {
  for (let left = analysts.size; left > 1; left = Math.ceil(left / 2)) {
    const kept = Math.ceil(left / 2);
    const lower = analysts.slice({ procs: range(0, left - kept) });
    await lower.absorb.call(analysts.slice({ procs: range(kept, left) }));
  }
  return analysts.slice({ procs: 0 });
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}
