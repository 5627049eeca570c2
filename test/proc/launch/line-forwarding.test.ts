import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { forEachLine, forwardLines, StderrTail } from "../../../runtime/proc/launch/stdio.js";

async function linesOf(chunks: readonly (string | Buffer)[]): Promise<string[]> {
  const source = new PassThrough();
  const lines: string[] = [];
  forEachLine(source, (bytes) => lines.push(bytes.toString()));
  for (const chunk of chunks) source.write(chunk);
  source.end();
  await new Promise((resolve) => source.once("close", resolve));
  return lines;
}

describe("the output of a process arrives in complete lines", () => {
  test("for any division into chunks", async () => {
    expect(await linesOf(["on", "e\ntw", "o\n", "\nthree\nfour\n"])).toEqual(["one", "two", "", "three", "four"]);
  });

  test("a character that is divided between chunks is joined", async () => {
    const bytes = Buffer.from("grün\n");
    expect(await linesOf([bytes.subarray(0, 3), bytes.subarray(3)])).toEqual(["grün"]);
  });

  test("the last line arrives also without a line break", async () => {
    expect(await linesOf(["done\nalmost"])).toEqual(["done", "almost"]);
  });

  test("an endless line is forwarded in pieces", async () => {
    const lines = await linesOf(Array.from({ length: 40 }, () => "x".repeat(10_000)));
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.join("").length).toBe(400_000);
  });

  test("each line names its origin", async () => {
    const [source, target] = [new PassThrough(), new PassThrough()];
    forwardLines(source, target, "gpus=1");
    source.end("a\nb");
    await new Promise((resolve) => source.once("close", resolve));
    expect(target.read().toString()).toBe("[gpus=1] a\n[gpus=1] b\n");
  });

  test("an output that is not read drops and counts lines, and never blocks the source", async () => {
    const [source, target] = [new PassThrough(), new PassThrough({ highWaterMark: 1 })];
    forwardLines(source, target, "gpus=1");
    const line = `${"x".repeat(65_000)}\n`;
    for (let i = 0; i < 400; i++) {
      source.write(line);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(source.writableLength).toBe(0);
    let text = "";
    target.on("data", (chunk) => {
      text += chunk;
    });
    await new Promise((resolve) => setImmediate(resolve));
    source.end("last\n");
    await new Promise((resolve) => source.once("close", resolve));
    expect(text).toMatch(/\[gpus=1\] \(\d+ lines dropped: nothing reads this output\)\n\[gpus=1\] last\n$/);
  });

  test("the tail keeps only the last lines", () => {
    const tail = new StderrTail(2);
    for (const line of ["one", "two", "three"]) tail.push(Buffer.from(line));
    expect(tail.lines).toEqual(["two", "three"]);
  });
});
