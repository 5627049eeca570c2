import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { outputOf } from "../examples/markdown.js";
import { root, run } from "../examples/program.js";

const tsx = fileURLToPath(import.meta.resolve("tsx/cli"));

test("simulated counters: every living counter has counted all messages, as the page shows", async () => {
  const outcome = await run(process.execPath, [tsx, `${root}examples/counter/src/simulated.ts`], root);
  expect(outcome).toEqual({ code: 0, stdout: `${outputOf("docs/explanation/simulation.md").trim()}\n`, stderr: "" });
});

test("npm run sim prints the number of seeds per second, and the trace of a seed", async () => {
  const sim = (...args: string[]) => run(process.execPath, [`${root}.ci/sim.mjs`, ...args], root);
  const many = await sim("--seeds", "4", "--from", "7", "--workers", "2");
  expect(many).toMatchObject({ code: 0, stderr: "" });
  expect(many.stdout).toMatch(/^2 seeds from 7: [\d.]+ a second of processor time, /m);
  expect(many.stdout).toMatch(/^2 seeds from 9: /m);
  const found = await sim("--seeds", "5", "--workers", "1", "--bug", "an answer is lost");
  expect(found.code).toBe(1);
  expect(found.stdout).toMatch(/^seed (\d) failed: seed \1: .*$/m);
  expect(found.stdout).toMatch(/^shortest run that fails: seed \d: .*$/m);
  const trace = await sim("--trace", "--from", "3");
  expect(trace.code).toBe(0);
  expect(trace.stdout.split("\n")[0]).toBe("       0.000 program@driver#1 main");
});
