import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { diagnosticsPage } from "./document.js";

const file = fileURLToPath(new URL("../../../docs/reference/diagnostics.md", import.meta.url));

test("docs/reference/diagnostics.md equals the page generated from the table and the fixtures", () => {
  const page = diagnosticsPage();
  if (process.env["VICEROY_UPDATE"] === "1") writeFileSync(file, page);
  expect(readFileSync(file, "utf8")).toBe(page);
});
