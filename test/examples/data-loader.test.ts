import { expect, test } from "vitest";
import { outputOf } from "./markdown.js";
import { runExample } from "./program.js";

// Chance is seeded, and arithmetic is the same everywhere: so is every number.
test("data loader: each trainer learns from the loader of its own rank, as its page shows", async () => {
  const { code, stdout, stderr } = await runExample("data-loader");
  expect(stderr).toBe("");
  expect(stdout.trim()).toBe(outputOf("docs/examples/data-loader.md"));
  expect(code).toBe(0);
});
