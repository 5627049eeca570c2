/**
 * All findings of `viceroy break` for small changes, in order: `cases/<name>.txt` has a line for each finding.
 * `VICEROY_UPDATE=1` writes these files anew. The fixtures explain every rule to users; these cases test its limits.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { behaviour } from "./cases/behaviour.js";
import type { Case } from "./cases/case.js";
import { dangerous } from "./cases/dangerous.js";
import { source } from "./cases/source.js";
import { wire } from "./cases/wire.js";
import { breaksOf } from "./states.js";

function found({ older, newer, ...options }: Case): readonly string[] {
  return breaksOf(older, newer, options).map(({ code, at, side, class: of, place, text, fix }) => {
    const where = `${side} ${at.file}:${at.line}:${at.column}`;
    return `${code} ${of} ${place} | ${where} | ${text}${fix === undefined ? "" : ` | ${fix}`}`;
  });
}

describe.each(Object.entries({ wire, source, behaviour, dangerous }))("the file cases/%s.txt", (name, cases) => {
  const file = fileURLToPath(new URL(`cases/${name}.txt`, import.meta.url));

  if (process.env["VICEROY_UPDATE"] === "1") {
    const print = (one: Case) => [`# ${one.title}`, ...found(one), ""].join("\n");
    writeFileSync(file, cases.map(print).join("\n"));
  }

  const sections = readFileSync(file, "utf8").split(/^# /m).slice(1);
  const expected = new Map(
    sections.map((section) => {
      const [title = "", ...lines] = section.trim().split("\n");
      return [title, lines];
    }),
  );

  test("has a section for each case, in the same order", () => {
    expect([...expected.keys()]).toEqual(cases.map(({ title }) => title));
  });

  test.each(cases.map((one) => [one.title, one] as const))("matches the findings of the case: %s", (title, one) => {
    expect(found(one)).toEqual(expected.get(title));
  });
});
