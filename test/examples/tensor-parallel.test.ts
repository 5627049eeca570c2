import { expect, test } from "vitest";
import { describeTensors } from "../tensor/addon.js";
import { outputOf } from "./markdown.js";
import { expectOutput, runExample } from "./program.js";

/** The output that the page shows, with placeholders for distances. */
const wanted = outputOf("docs/examples/tensor-parallel.md")
  .replace(/\d\.\d+/g, "<n>")
  .replace(/\de[+-]\d+/g, "<n>");

describeTensors("tensor parallelism", () => {
  test("four processes that divide layers and data have the results and weights of a single process", async () => {
    const { code, stdout, stderr } = await runExample("tensor-parallel", ["5"]);
    expect(stderr).toBe("");
    expectOutput(stdout.replace(/\de[+-]\d+/g, "0"), wanted);
    expect(code).toBe(0);
    // With smaller changes, wrong gradients would not be noticed.
    const changes = [...stdout.matchAll(/changed by up to ([\d.]+)/g)].map(([, distance]) => Number(distance));
    expect(Math.min(...changes)).toBeGreaterThan(0.02);
  });
});
