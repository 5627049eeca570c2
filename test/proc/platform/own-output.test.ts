/**
 * Tests of the output of a process whose parent does not read: printing never blocks, memory is bounded, and lost lines
 * are counted.
 */
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { thisHost } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { limitOutput } from "../../../runtime/proc/platform/own-output.js";
import { type Crew, loadCrew } from "../crew.js";
import { until } from "../until.js";

let crew: Crew;
beforeAll(async () => {
  crew = await loadCrew();
});

/** Blocks this process while it waits. */
function block(until: () => boolean): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited < 60_000 && !until(); waited += 20) Atomics.wait(cell, 0, 0, 20);
  if (!until()) throw new Error("it was held up");
}

const width = 200;

test.each([
  ["what it holds comes, all of it, in order", 20_000, 0],
  ["what is beyond that is dropped and counted", 120_000, 1],
])("a program that is busy holds up no actor that prints: %s", async (_, count, noted) => {
  const lines: string[] = [];
  const stdio = (line: string) => void lines.push(line);
  await using procs = thisHost().spawnProcs({}, { stdio });
  const worker = procs.spawn("workers", crew.SteelWorker).slice({});
  await worker.echo.callOne("there");
  const done = join(mkdtempSync(join(tmpdir(), "own-")), "done");
  worker.printLines.broadcast(count, width, done);
  await new Promise((resolve) => setImmediate(resolve));
  block(() => existsSync(done));
  expect(lines.length).toBeLessThan(count);
  const notes = () =>
    lines.flatMap((line) => /^\((\d+) lines dropped: they were not read in time\)$/.exec(line)?.[1] ?? []);
  const printed = () => lines.filter((line) => /^\d+\.+$/.test(line)).map((line) => Number.parseInt(line, 10));
  await until(() => printed().length + notes().reduce((sum, dropped) => sum + Number(dropped), 0) === count);
  expect(notes().length).toBe(noted);
  expect(printed()).toEqual(printed().toSorted((a, b) => a - b));
});

test("the last output of a process that is told to leave arrives", async () => {
  const lines: string[] = [];
  const procs = thisHost().spawnProcs({}, { stdio: (line) => void lines.push(line) });
  const worker = procs.spawn("workers", crew.SteelWorker).slice({});
  await worker.echo.callOne("there");
  const done = join(mkdtempSync(join(tmpdir(), "own-")), "done");
  worker.printLines.broadcast(20_000, width, done);
  await procs.stop({ drain: 60_000 });
  expect(existsSync(done)).toBe(true);
  expect(lines.length).toBe(20_000);
});

test("dropped lines are counted when there is room again, and callbacks of dropped writes are called", async () => {
  const output = limitOutput(new PassThrough({ highWaterMark: 1 }), 10);
  output.write("one\n");
  output.write(Buffer.alloc(20, "x"));
  const written = new Promise((resolve) => output.write("two\nthree\n", resolve));
  expect(output.write("four\n", "utf8")).toBe(false);
  await written;
  let text = "";
  output.on("data", (chunk) => {
    text += chunk;
  });
  await until(() => text.endsWith("(3 lines dropped: they were not read in time)\n"));
  output.write("five\n");
  await until(() => text.endsWith("five\n"));
  expect(text.startsWith(`one\n${"x".repeat(20)}(3 lines`)).toBe(true);
});
