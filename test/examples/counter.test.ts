import { expect, test } from "vitest";
import { outputOf } from "./markdown.js";
import { expectOutput, runExample } from "./program.js";

const table = `
rank  gpus  value
0     0     4
1     1     4
2     2     4
3     3     4
the counter of the first process: 4`;
const watched = [0, 1, 2, 3].flatMap((gpu) => [`{'gpus': ${gpu}/4} 4`, `{'gpus': ${gpu}/4} 4`]);

/** The answers of different processes come in any order. */
function expectCounts(output: string): void {
  const [first, streamed] = output.split(/(?<=first process: 4\n)/) as [string, string];
  expectOutput(first, table);
  expect(streamed.trim().split("\n").sort()).toEqual(watched);
}

test("counter: four processes count, and the program watches each of them", async () => {
  const { code, stdout, stderr } = await runExample("counter");
  expect(stderr).toBe("");
  expectCounts(stdout);
  expect(code).toBe(0);
});

test("counter: the documentation page shows the expected output", () => {
  expectCounts(outputOf("docs/examples/counter.md"));
});
