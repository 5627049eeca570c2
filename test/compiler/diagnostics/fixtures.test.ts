import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { diagnosticTable } from "../../../compiler/diagnostics/index.js";
import { diagnose, expectedName, expectedOf, fixtures, fixturesFolder } from "./fixtures.js";

test("every code of the diagnostic table has a fixture, and no other code has one", () => {
  const wanted = Object.entries(diagnosticTable).map(([code, { slug }]) => `${code}-${slug}`);
  expect(fixtures()).toEqual(wanted.sort());
});

test.each(fixtures())("the diagnostic %s is reported with its position, text and fix", async (fixture) => {
  const found = await diagnose(fixture);
  if (process.env["VICEROY_UPDATE"] === "1") {
    writeFileSync(path.join(fixturesFolder, fixture, expectedName), `${JSON.stringify(found, null, 2)}\n`);
  }
  expect(found).toEqual(expectedOf(fixture));
  expect(found.map(({ code }) => code)).toContain(fixture.slice(0, 6));
});
