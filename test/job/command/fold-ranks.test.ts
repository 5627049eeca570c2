/** Tests of how the lines of many ranks are folded. */
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { type HostLine, RankFolder } from "../../../runtime/job/command/fold-ranks.js";
import { FoldingPrinter } from "../../../runtime/job/command/folding-printer.js";

/** Folds lines, each given as `mesh rank line`. */
function fold(...lines: readonly string[]): string[] {
  const printed: string[] = [];
  const folder = new RankFolder((line) => printed.push(line));
  for (const line of lines) folder.add(parse(line));
  folder.flush();
  return printed;
}

function parse(text: string): HostLine {
  const [, mesh = "", rank, line = ""] = /^(\w+) (\d+) (.*)$/.exec(text)!;
  return { mesh, rank: Number(rank), line };
}

test("equal lines of several ranks are one line with the ranks", () => {
  expect(fold("t 0 ready", "t 1 ready", "t 3 ready", "t 2 ready", "t 2 slow", "u 0 ready")).toEqual([
    "t[0-3] ready",
    "t[2] slow",
    "u[0] ready",
  ]);
  expect(fold("t 5 x", "t 0 x", "t 1 x", "t 9 x", "t 8 x")).toEqual(["t[0-1,5,8-9] x"]);
});

test("a line of one process keeps the name of the process, and one of several has their number", () => {
  expect(fold("t 0 [hosts=0 gpus=0] a", "t 0 [hosts=0 gpus=1] a", "t 1 [hosts=1 gpus=0] a")).toEqual([
    "t[0-1] [3 processes] a",
  ]);
  expect(fold("t 0 [hosts=0] a", "t 1 [hosts=1] a", "t 1 [hosts=1] b")).toEqual(["t[0-1] a", "t[1] [hosts=1] b"]);
});

test("lines that a process repeats stay as many as they are", () => {
  expect(fold("t 0 a", "t 0 a", "t 1 a", "t 1 a", "t 1 a")).toEqual(["t[0-1] a", "t[0-1] a", "t[1] a"]);
});

test("a line of one rank stands where that rank has printed it", () => {
  expect(fold("t 0 a", "t 0 b", "t 0 c", "t 1 a", "t 1 only here", "t 1 b", "t 1 c")).toEqual([
    "t[0-1] a",
    "t[1] only here",
    "t[0-1] b",
    "t[0-1] c",
  ]);
});

test("lines that differ do not keep the following ones from being folded", () => {
  expect(fold("t 0 pid 1", "t 0 loss 5", "t 0 done", "t 1 pid 2", "t 1 loss 6", "t 1 done")).toEqual([
    "t[0] pid 1",
    "t[1] pid 2",
    "t[1] loss 6",
    "t[0] loss 5",
    "t[0-1] done",
  ]);
});

test("no line is lost or doubled, and those of a process keep their order", () => {
  const line = fc.tuple(fc.nat(3), fc.constantFrom("a", "b", "c"));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
      const folded = fold(...lines.map(([rank, text]) => `t ${rank} ${text}`));
      const unfolded = folded.flatMap((each) => {
        const [, ranks = "", text] = /^t\[([\d,-]+)\] (.*)$/.exec(each)!;
        return ranks.split(",").flatMap((part) => {
          const [first, last = first] = part.split("-").map(Number);
          return Array.from({ length: last! - first! + 1 }, (_, i) => ({ rank: first! + i, text }));
        });
      });
      for (const rank of [0, 1, 2, 3]) {
        const own = unfolded.filter((entry) => entry.rank === rank).map(({ text }) => text);
        expect(own).toEqual(lines.filter(([from]) => from === rank).map(([, text]) => text));
      }
    }),
  );
});

test("lines that are printed while they arrive are folded if they arrive within a moment", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const printed: string[] = [];
  const printer = new FoldingPrinter((line) => printed.push(line));
  printer.add(parse("t 0 ready"));
  vi.advanceTimersByTime(599);
  printer.add(parse("t 1 ready"));
  expect(printed).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(printed).toEqual(["t[0-1] ready"]);
  printer.add(parse("t 2 ready"));
  printer.flush();
  expect(printed).toEqual(["t[0-1] ready", "t[2] ready"]);
});
