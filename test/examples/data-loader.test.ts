import { expect, test } from "vitest";
import { outputOf } from "./markdown.js";
import { runExample } from "./program.js";

// Random numbers are seeded and arithmetic is the same everywhere, so every printed number is the same.
test("data loader: each trainer uses the loader of its rank, as the page shows", async () => {
  const { code, stdout, stderr } = await runExample("data-loader");
  expect(stderr).toBe("");
  expect(stdout.trim()).toBe(outputOf("docs/examples/data-loader.md"));
  expect(code).toBe(0);
});
