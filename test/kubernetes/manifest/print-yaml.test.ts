/** Tests of the printer of YAML, against a library that reads YAML. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { printDocuments } from "../../../runtime/job/kubernetes/manifest/print-yaml.js";

/** kubectl reads YAML 1.1. */
function read(text: string, version: "1.1" | "1.2"): unknown[] {
  return parseAllDocuments(text, { version, schema: version === "1.1" ? "yaml-1.1" : "core" }).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  });
}

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "yes",
    "No",
    "y",
    "off",
    "null",
    "~",
    "1e3",
    "e0",
    "0x1F",
    "1:30",
    "2020-01-01",
    "a: b",
    "# x",
    "- x",
    "",
    " x",
    "x ",
    "=",
    "<<",
  ),
  fc
    .array(fc.constantFrom("line", "  two", "", "a: 1", "tab\t", "end ", "#"), { maxLength: 5 })
    .map((lines) => `${lines.join("\n")}\n`),
);
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4 }),
  ),
})).value;

test("what is printed is read as the same values, by readers of YAML 1.1 and 1.2", () => {
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(text, value, { minKeys: 1, maxKeys: 4, noNullPrototype: true }), {
        minLength: 1,
        maxLength: 3,
      }),
      (objects) => {
        const plain = JSON.parse(JSON.stringify(objects));
        for (const version of ["1.1", "1.2"] as const) expect(read(printDocuments(plain), version)).toEqual(plain);
      },
    ),
    { numRuns: 300 },
  );
});

test("programs are printed as the lines that they have", () => {
  expect(printDocuments([{ data: { "run.sh": 'echo "a"\n\nexit 0\n' } }])).toBe(
    '---\ndata:\n  run.sh: |\n    echo "a"\n\n    exit 0\n',
  );
});
