/** Passes on what the processes of an SPMD run print, line by line. */
import type { CommandEvent } from "../../../generated/host-agent.js";
import { type LineOrigin, LineWriter } from "../../proc/launch/stdio.js";
import { LineSplitter } from "../line-splitter.js";
import type { SpmdRank } from "./rank-environment.js";
import type { SpmdOptions } from "./spmd-options.js";

/** Takes the events of each rank. */
export type PrintRank = (rank: SpmdRank, event: CommandEvent) => void;

/** Returns a function for one start of all processes. */
export function rankPrinter(mesh: string, stdio: NonNullable<SpmdOptions["stdio"]>): PrintRank {
  if (stdio === "ignore") return () => {};
  const print = stdio === "prefix" ? prefixPrinter() : stdio;
  const splitters = new Map<string, LineSplitter>();
  const splitterOf = ({ rank }: SpmdRank, stream: LineOrigin["stream"]): LineSplitter => {
    const key = `${rank} ${stream}`;
    let splitter = splitters.get(key);
    if (splitter === undefined) {
      splitter = new LineSplitter((line) => print(line, { stream, label: `${mesh} rank=${rank}`, rank }));
      splitters.set(key, splitter);
    }
    return splitter;
  };
  return (rank, { stdout, stderr, exitCode }) => {
    if (stdout !== undefined) splitterOf(rank, "stdout").add(stdout);
    if (stderr !== undefined) splitterOf(rank, "stderr").add(stderr);
    if (exitCode === undefined) return;
    splitterOf(rank, "stdout").end();
    splitterOf(rank, "stderr").end();
  };
}

/** Returns a function that prints lines with their origins. It drops lines, and says so, if nobody reads the output. */
function prefixPrinter(): (line: string, origin: LineOrigin) => void {
  const writers = new Map<string, LineWriter>();
  return (line, { stream, label }) => {
    const key = `${stream} ${label}`;
    let writer = writers.get(key);
    if (writer === undefined) {
      writer = new LineWriter(process[stream], label);
      writers.set(key, writer);
    }
    writer.write(Buffer.from(line));
  };
}
