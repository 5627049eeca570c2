import { expect, test } from "vitest";
import { outputOf } from "./markdown.js";
import { runExample } from "./program.js";

// Random numbers are seeded, so every printed number is the same.
test("skypilot: without an API server, the program runs in processes on this machine, as the page shows", async () => {
  const { code, stdout, stderr } = await runExample("skypilot", ["--local"]);
  expect(stderr).toBe("");
  expect(stdout.trim()).toBe(outputOf("docs/examples/skypilot.md"));
  expect(code).toBe(0);
});
