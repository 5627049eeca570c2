import { expect, test } from "vitest";
import { expectOutput, runExample } from "./program.js";

test("data loader: each trainer learns from the loader of its own rank", async () => {
  const { code, stdout, stderr } = await runExample("data-loader");
  expect(stderr).toBe("");
  const rounds = Array.from({ length: 8 }, (_, i) => `round ${i + 1}  loss`);
  expectOutput(
    stdout.replace(/(?<=loss) .*/g, ""),
    `
4 trainers and 4 loaders, each a process; looking for y = 3x - 2
${rounds.join("\n")}
trainer {'gpus': 0/4} learned last from batches 160 and 164 of its loader
trainer {'gpus': 1/4} learned last from batches 161 and 165 of its loader
trainer {'gpus': 2/4} learned last from batches 162 and 166 of its loader
trainer {'gpus': 3/4} learned last from batches 163 and 167 of its loader`,
  );
  expect(stdout).toMatch(/round 8 {2}loss \d\.\d{4} {2}y = (2\.\d\d|3\.00)x - (1\.9\d|2\.0\d)/);
  expect(code).toBe(0);
});
