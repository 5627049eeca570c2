import { expect, test } from "vitest";
import { expectOutput, runExample } from "./program.js";

test("counter: four processes count, and each is watched", async () => {
  const { code, stdout, stderr } = await runExample("counter");
  expect(stderr).toBe("");
  // The answers of different processes come in any order.
  const [table, streamed] = stdout.split(/(?<=first process: 4\n)/) as [string, string];
  expectOutput(
    table,
    `
rank  gpus  value
0     0     4
1     1     4
2     2     4
3     3     4
the counter of the first process: 4`,
  );
  expect(streamed.trim().split("\n").sort()).toEqual(
    [0, 1, 2, 3].flatMap((gpu) => [`{'gpus': ${gpu}/4} 4`, `{'gpus': ${gpu}/4} 4`]),
  );
  expect(code).toBe(0);
});
