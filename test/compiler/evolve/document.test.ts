import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { breakingPage } from "./document.js";

const file = fileURLToPath(new URL("../../../docs/reference/breaking-changes.md", import.meta.url));

test("docs/reference/breaking-changes.md matches the rules and the fixtures", () => {
  const page = breakingPage();
  if (process.env["VICEROY_UPDATE"] === "1") writeFileSync(file, page);
  expect(readFileSync(file, "utf8")).toBe(page);
});
