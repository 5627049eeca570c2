import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { breakTable, unusedIgnore } from "../../../compiler/evolve/index.js";
import { expectedName, expectedOf, fixtures, fixturesFolder, judge } from "./fixtures.js";

test("every rule has one fixture, and every fixture belongs to a rule", () => {
  const wanted = [...breakTable.values(), unusedIgnore].map(({ code, name }) => `${code}-${name}`);
  expect(fixtures()).toEqual(wanted.sort());
});

test.each(fixtures())("the fixture %s gives the expected findings with place, text and fix", async (fixture) => {
  const found = await judge(fixture);
  if (process.env["VICEROY_UPDATE"] === "1") writeFileSync(path.join(fixturesFolder, fixture, expectedName), found);
  expect(found).toBe(expectedOf(fixture));
  expect(found).toContain(fixture.slice(0, 6));
});
