/** The table of rules, and the breaks that a project ignores. */
import { describe, expect, test } from "vitest";
import type { IgnoredBreak } from "../../../compiler/config/index.js";
import { applyIgnores, type Break, breakClasses, breakTable } from "../../../compiler/evolve/index.js";

test("the table lists every rule once, in the order of the codes, with a unique name", () => {
  const codes = [...breakTable.keys()];
  expect(codes).toEqual(codes.toSorted());
  expect([...breakTable.values()].map(({ code }) => code)).toEqual(codes);
  const names = [...breakTable.values()].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.every((name) => /^[a-z]+(-[a-z]+)*$/.test(name))).toBe(true);
  expect([...breakTable.values()].every((rule) => breakClasses.includes(rule.class))).toBe(true);
});

describe("an ignored break", () => {
  const found = (code: string, place: string): Break => ({
    ...{ code, place, class: "WIRE", side: "newer", text: `${place} has changed` },
    at: { file: "schemas/a.ts", line: 1, column: 1 },
  });
  const agreed = (code: string, place: string): IgnoredBreak => ({ code, place, reason: "It was never sent." });
  const breaks = [found("VC5001", "Tree.a"), found("VC5002", "Tree.a"), found("VC5001", "Tree.b")];

  test("is left out by rule and place, as often as it is found", () => {
    expect(applyIgnores([...breaks, ...breaks], [agreed("VC5001", "Tree.a")])).toEqual({
      breaks: [breaks[1], breaks[2], breaks[1], breaks[2]],
      unused: [],
    });
    const all = breaks.map(({ code, place }) => agreed(code, place));
    expect(applyIgnores(breaks, all)).toEqual({ breaks: [], unused: [] });
  });

  test("is returned as unused if it does not occur", () => {
    const unused = [agreed("VC5002", "Tree.b"), agreed("VC5003", "Tree.a")];
    expect(applyIgnores(breaks, [agreed("VC5001", "Tree.b"), ...unused])).toEqual({
      breaks: breaks.slice(0, 2),
      unused,
    });
    expect(applyIgnores([], unused)).toEqual({ breaks: [], unused });
    expect(applyIgnores(breaks, [])).toEqual({ breaks, unused: [] });
  });
});
