import { expect, test } from "vitest";
import { describeTensors } from "../tensor/addon.js";
import { outputOf } from "./markdown.js";
import { expectOutput, runExample } from "./program.js";

/** The output that the page shows, with placeholders for numbers. */
const wanted = outputOf("docs/examples/linear-actor.md").replace(/loss [\d.]+/g, "loss <n>");

describeTensors("a layer that is an actor", () => {
  test("learns equal weights on both processes while its results stay on their processes", async () => {
    const { code, stdout, stderr } = await runExample("linear-actor", []);
    expect(stderr).toBe("");
    expectOutput(stdout, wanted);
    expect(code).toBe(0);
    const losses = [...stdout.matchAll(/loss ([\d.]+)/g)].map(([, loss]) => Number(loss));
    expect(losses.at(-1)).toBeLessThan(losses[0]! / 1000);
  });
});
