import { expect, test } from "vitest";
import { outputOf } from "./markdown.js";
import { expectOutput, runExample } from "./program.js";

const output = `
Monday: 9 orders
  rye    rye bread
  oat    oat bread
  spelt  spelt bread
  rye    rye bread
  oat    oat bread
  stone  refused: a stone is no dough
  rye    rye bread
  oat    oat bread
  spelt  spelt bread
  ! lost an oven: process <n> exited with code 7 (0 to spare)
Tuesday: 9 orders
  the bakery has failed: the call was rejected at once
unhandled: bakery failed
  because supervise did not handle the failure of mesh "kitchen"
  because mesh "kitchen" failed at rank 0 (process)
  because process <n> exited with code 7`;

test("supervisor: an owner survives the loss of a process, and fails when it has no process to spare", async () => {
  const { code, stdout, stderr } = await runExample("supervisor");
  expect(stderr).toBe("");
  expectOutput(stdout, output);
  expect(code).toBe(0);
});

test("supervisor: the documentation page shows the expected output", () => {
  expectOutput(outputOf("docs/examples/supervisor.md"), output);
});
