import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { describeTensors } from "../tensor/addon.js";
import { outputOf } from "./markdown.js";
import { expectOutput, runExample } from "./program.js";

/** The output that the page shows, for fewer steps and without the generated text. The losses depend on the documentation. */
function wanted(folder: string): string {
  const [before] = outputOf("docs/examples/language-model.md").split("generated text:") as [string];
  const lines = before.trim().split("\n");
  const some = [...lines.slice(0, 2), lines.at(-1)!]
    .join("\n")
    .replace(/: [\d.]+ and [\d.]+|process \d/g, (text) => text.replace(/[\d.]+/g, "<n>"));
  return `${some}\ngenerated text:\nThe …\nmodel and chart are in ${folder}`;
}

describeTensors("language model", () => {
  test("the loss falls in both processes, and the better model generates text", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "lm-"));
    const { code, stdout, stderr } = await runExample("language-model", ["50", folder]);
    expect(stderr).toBe("");
    expectOutput(stdout.replace(/\nThe .{200}\nmodel and chart/s, "\nThe …\nmodel and chart"), wanted(folder));
    expect(code).toBe(0);
    const losses = [...stdout.matchAll(/: ([\d.]+) and ([\d.]+) nats/g)].map(([, ...both]) => both.map(Number));
    for (const process of [0, 1]) expect(losses[1]![process]!).toBeLessThan(losses[0]![process]! - 0.2);
    expect(readdirSync(folder).sort()).toEqual(["loss.svg", "model.safetensors"]);
    const curves = readFileSync(path.join(folder, "loss.svg"), "utf8").match(/<polyline [^>]*points="[\d., ]+"\/>/g);
    expect(curves?.length).toBe(2);
  });
});
