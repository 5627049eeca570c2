/** Checks that the script for the API reference finds every kind of fault. `npm run verify` runs it over Viceroy. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { root, run } from "../examples/program.js";

const folder = path.join(root, "test/fixtures/api-reference");
const script = path.join(root, ".ci/api-reference.mjs");

test("the check names each export, member and parameter that has no description, and each broken link", async () => {
  const { code, stderr } = await run(process.execPath, [script, "--check", "--package", folder], root);
  expect(code).toBe(1);
  const faults = stderr.split("\n").filter((line) => line.includes("documented"));
  expect(faults).toMatchInlineSnapshot(`
    [
      "The signature documented/bad.nothing has an @param with name "absent", which was not used",
      "Hidden, defined in documented/src/bad.ts, is referenced by documented/bad.Shown.hidden but not included in the documentation",
      "Failed to resolve link to "nowhere" in comment for documented/bad.Counter",
      "src/bad.ts:11: documented/bad.Counter.value has no description",
      "src/bad.ts:14: documented/bad.Counter.add does not describe its parameter by",
      "src/bad.ts:18: documented/bad.Counter.reset has no description",
      "src/bad.ts:1: documented/bad has no description: start its file with a comment that ends in @module",
      "src/bad.ts:5: documented/bad.Shown has no description",
      "src/bad.ts:6: documented/bad.Shown.hidden has no description",
    ]
  `);
});

test("the script writes a folder with pages for each entry point", async () => {
  const out = path.join(folder, "docs");
  expect(await run(process.execPath, [script, "--package", folder], root)).toMatchObject({ code: 0 });
  try {
    const page = readFileSync(path.join(out, "api/documented/functions/wait.md"), "utf8");
    expect(page).toContain("number of attempts, from 1");
    expect(page).toContain("- [LateError](../classes/LateError.md) when the time limit has passed");
    expect(existsSync(path.join(out, "api/documented-bad/classes/Counter.md"))).toBe(true);
  } finally {
    rmSync(out, { recursive: true });
  }
});
