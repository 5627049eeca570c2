import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { outputOf } from "./markdown.js";
import { root, runExample } from "./program.js";

// Random numbers are seeded, and the network uses only arithmetic that is the same everywhere.
test("hyperparameter search: the best candidates are trained further, as the page and its chart show", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "hyperparameter-search-"));
  try {
    const file = path.join(folder, "search.svg");
    const { code, stdout, stderr } = await runExample("hyperparameter-search", [file]);
    expect(stderr).toBe("");
    expect(stdout.trim()).toBe(outputOf("docs/examples/hyperparameter-search.md"));
    expect(readFileSync(file, "utf8")).toBe(
      readFileSync(path.join(root, "docs/examples/hyperparameter-search.svg"), "utf8"),
    );
    expect(code).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
