import { expect, test } from "vitest";
import { describeTensors } from "../tensor/addon.js";
import { outputOf } from "./markdown.js";
import { expectOutput, runExample } from "./program.js";

/** What its page shows, with any distances. */
const wanted = outputOf("docs/examples/tensor-parallel.md")
  .replace(/\d\.\d+/g, "<n>")
  .replace(/\de[+-]\d+/g, "<n>");

describeTensors("tensor parallelism", () => {
  test("four processes that share layers and data have the results and the weights of one", async () => {
    const { code, stdout, stderr } = await runExample("tensor-parallel", ["5"]);
    expect(stderr).toBe("");
    expectOutput(stdout.replace(/\de[+-]\d+/g, "0"), wanted);
    expect(code).toBe(0);
    // Otherwise wrong gradients would not show.
    const moved = [...stdout.matchAll(/moved by up to ([\d.]+)/g)].map(([, distance]) => Number(distance));
    expect(Math.min(...moved)).toBeGreaterThan(0.02);
  });
});
