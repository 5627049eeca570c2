import { expect, test } from "vitest";
import { describeTensors } from "../tensor/addon.js";
import { outputOf } from "./markdown.js";
import { expectOutput, runExample } from "./program.js";

/** The output that the page shows, with placeholders for numbers. */
const wanted = outputOf("docs/examples/data-parallel.md")
  .replace(/step \d+: loss [\d.]+/g, "step <n>: loss <n>")
  .replace(/\de[+-]\d+/, "<n>");

describeTensors("data parallelism", () => {
  test("the loss falls, and all processes have the weights of a single process", async () => {
    const { code, stdout, stderr } = await runExample("data-parallel", ["20"]);
    expect(stderr).toBe("");
    expectOutput(stdout.replace(/\de[+-]\d+/, "0"), wanted);
    expect(code).toBe(0);
    const losses = [...stdout.matchAll(/loss ([\d.]+)/g)].map(([, loss]) => Number(loss));
    expect(losses.at(-1)).toBeLessThan(losses[0]! / 2);
  });
});
