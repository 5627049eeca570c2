import { expect, test } from "vitest";
import { outputOf } from "./markdown.js";
import { expectOutput, runExample } from "./program.js";

const output = `
A rally of 6 strokes between two processes:
  1  ping ->
  2       <- pong
  3  ping ->
  4       <- pong
  5  ping ->
  6       <- pong
20000 sequential calls: half within <n> us, 99 % within <n> us
20000 calls, 64 in flight: <n> calls a second`;

test("ping-pong: two processes play a rally, and the program measures the time of calls", async () => {
  const { code, stdout, stderr } = await runExample("ping-pong");
  expect(stderr).toBe("");
  expectOutput(stdout, output);
  expect(code).toBe(0);
});

test("ping-pong: the documentation page shows the expected output", () => {
  expectOutput(outputOf("docs/examples/ping-pong.md"), output);
});
