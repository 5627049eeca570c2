/** The emitter kit: names are spelt so that they never clash, imports are collected, lines are broken like the formatter's. */
import { expect, test } from "vitest";
import { compareNames, compareSpecifiers } from "../../../compiler/emit/kit/import-order.js";
import {
  call,
  code,
  type FileBuilder,
  globalName,
  importedType,
  importedValue,
  objectLiteral,
  type PartRecording,
  printFile,
  relativeSpecifier,
  stringLiteral,
  union,
} from "../../../compiler/emit/kit/index.js";

const abi = "viceroy/codegen/v1";

test("a name used in a line is imported, once, sorted, types marked", () => {
  const text = printFile("a/tree.ts", ["Header."], (file) => {
    file.line(code`const a: ${importedType(abi, "Reader")} = ${importedValue(abi, "codec")};`);
    file.line(code`const b: ${importedType(abi, "Reader")} = ${importedValue({ file: "b/c.ts" }, "c")};`);
    file.line(code`const d: ${importedType({ file: "a/e.ts" }, "E")} = ${importedType({ file: "a/e.ts" }, "F")};`);
  });
  expect(text).toBe(`// Header.
import { codec, type Reader } from "viceroy/codegen/v1";
import { c } from "../b/c.js";
import type { E, F } from "./e.js";

const a: Reader = codec;
const b: Reader = c;
const d: E = F;
`);
});

test("a type that is used as a value, too, is imported as a value", () => {
  const text = printFile("a.ts", [], (file) => {
    file.line(code`const a: ${importedType(abi, "Actor")} = new ${importedValue(abi, "Actor")}();`);
  });
  expect(text).toBe(`import { Actor } from "viceroy/codegen/v1";\n\nconst a: Actor = new Actor();\n`);
});

test("what a file exports keeps its name; imports, globals and locals give way", () => {
  const text = printFile("a.ts", [], (file) => {
    file.declare("Codec");
    file.declare("Map");
    file.line(code`export type Codec = ${importedType(abi, "Codec")};`);
    file.line(code`export type Map = ${globalName("Map")} | ${globalName("Set")};`);
    file.line(code`const ${file.local("Codec")} = 1, ${file.local("helper")} = 2, ${file.local("helper")} = 3;`);
  });
  expect(text).toBe(`import type { Codec as ViceroyCodec } from "viceroy/codegen/v1";

export type Codec = ViceroyCodec;
export type Map = globalThis.Map | Set;
const Codec2 = 1, helper = 2, helper2 = 3;
`);
});

test("equal names of two files are told apart by the files; Viceroy's own stay as they are", () => {
  const text = printFile("a.ts", [], (file) => {
    const names = [
      importedType({ file: "deep/my-forest.ts" }, "Tree"),
      importedType({ file: "b.ts" }, "Tree"),
      importedType({ file: "c.ts" }, "Port"),
      importedType(abi, "Port"),
      importedType({ file: "c.ts" }, "Promise"),
    ];
    for (const name of names) file.line(name);
  });
  expect(text).toBe(`import type { Port } from "viceroy/codegen/v1";
import type { Tree } from "./b.js";
import type { Port as CPort, Promise as CPromise } from "./c.js";
import type { Tree as MyForestTree } from "./deep/my-forest.js";

MyForestTree
Tree
CPort
Port
CPromise
`);
});

test("locals of a function avoid each other, the module's names and reserved words", () => {
  const text = printFile("a.ts", [], (file) => {
    file.line(importedValue(abi, "codec"));
    for (const wanted of [["codec", "value", "value", "default", "x2", "x2"], ["value"]]) {
      const scope = file.scope();
      file.line(wanted.map((name, i) => [i === 0 ? "" : " ", scope.name(name)]));
    }
  });
  expect(text.split("\n").slice(2)).toEqual(["codec", "codec2 value value2 default2 x2 x2_2", "value", ""]);
});

test("what is written already gives way to names that come later", () => {
  const text = printFile("a.ts", [], (file) => {
    const [first, second] = [file.scope(), file.scope()];
    file.line(first.name("codec"), " ", file.local("Reader"), " ", first.name("Extract"));
    file.line(importedValue(abi, "codec"), " ", importedType(abi, "Reader"), " ", globalName("Extract"));
    file.line(second.name("helper"), " ", file.local("helper"), " ", second.name("other"));
  });
  expect(text.split("\n").slice(2)).toEqual([
    "codec2 Reader2 Extract2",
    "codec Reader Extract",
    "helper2 helper other",
    "",
  ]);
});

test("a name in the file that declares it imports nothing", () => {
  const text = printFile("a/tree.ts", [], (file) => {
    file.declare("Tree");
    file.line(code`type Forest = ${importedType({ file: "a/tree.ts" }, "Tree")}[];`);
  });
  expect(text).toBe("type Forest = Tree[];\n");
});

test("lines stay whole until they do not fit into 120 columns", () => {
  const long = "a".repeat(55);
  const text = printFile("a.ts", [], (file) => {
    file.line(call("f", [long, "b"]), ";");
    file.line(call("f", [long, objectLiteral(["a: 1", "b"]), long]), ";");
    file.line("type A = ", union([stringLiteral(long), stringLiteral(long), stringLiteral("日本")]), ";");
  });
  expect(text).toBe(`f(${long}, b);
f(
  ${long},
  { a: 1, b },
  ${long},
);
type A =
  | "${long}"
  | "${long}"
  | "日本";
`);
});

test("comments keep their lines and cannot be ended from inside", () => {
  const text = printFile("a.ts", [], (file) => {
    file.doc("");
    file.doc("One.");
    file.doc("Two,\n  indented */\n\nlines.\n");
  });
  expect(text).toBe("/** One. */\n/**\n * Two,\n *   indented *\\/\n *\n * lines.\n */\n");
});

test("strings take the quotes that need fewer escapes", () => {
  expect(["a", "it's", 'say "x"', `'"`, "\ud800", "\n"].map(stringLiteral)).toEqual([
    '"a"',
    '"it\'s"',
    "'say \"x\"'",
    `"'\\""`,
    '"\\ud800"',
    '"\\n"',
  ]);
});

test("names and specifiers are in the organiser's order", () => {
  const names = [
    "_",
    "$",
    "A",
    "AA",
    "Aa",
    "a",
    "a_b",
    "a$b",
    "a1",
    "a2",
    "a01",
    "a10",
    "aA",
    "ab",
    "B",
    "b",
    "é",
    "日",
  ];
  expect([...names].reverse().sort(compareNames)).toEqual(names);
  const specifiers = ["node:fs", "viceroy", "../../a.js", "../a.js", "./a/b.js", "./a.js", "./a_b.js", "./a-b.js"];
  expect([...specifiers].reverse().sort(compareSpecifiers)).toEqual(specifiers);
});

test("specifiers are relative and end in what runs", () => {
  expect(relativeSpecifier("generated/registry.ts", "src/a.ts")).toBe("../src/a.js");
  expect(relativeSpecifier("a/b/c.ts", "a/d.mts")).toBe("../d.mjs");
  expect(relativeSpecifier("a.ts", "b/c.tsx")).toBe("./b/c.js");
});

/** Prints a file whose parts use a helper each; of the parts that are known, those are written again that have to be. */
function printParts(
  parts: Readonly<Record<string, string>>,
  known: Map<string, PartRecording>,
  declared: string[] = [],
) {
  const written: string[] = [];
  const text = printFile("a.ts", [], (file: FileBuilder) => {
    written.length = 0;
    for (const name of declared) file.declare(name);
    for (const [id, wanted] of Object.entries(parts)) {
      const recording = file.part(known.get(id), () => {
        written.push(id);
        const helper = file.sharedName("helper", wanted) ?? file.local(wanted);
        file.shareName("helper", wanted, helper);
        const { name } = file.scope();
        file.blank();
        file.block(code`function ${file.local(id)}(${name("value")}: ${importedType(abi, `${wanted}Type`)})`, () => {
          file.line(code`return ${helper} + ${globalName("Map")};`);
        });
      });
      if (recording !== undefined) known.set(id, recording);
    }
  });
  return { text, written: [...written] };
}

test("a part of a file is taken as it was while its names are", () => {
  const known = new Map<string, PartRecording>();
  const first = printParts({ a: "x", b: "y", c: "z" }, known);
  expect(first.written).toEqual(["a", "b", "c"]);
  expect(printParts({ a: "x", b: "y", c: "z" }, known)).toEqual({ text: first.text, written: [] });
  known.delete("b");
  expect(printParts({ a: "x", b: "q", c: "z" }, known)).toEqual({
    text: printParts({ a: "x", b: "q", c: "z" }, new Map()).text,
    written: ["b"],
  });
});

test("what others now call something makes the whole file be written again", () => {
  const files: readonly Readonly<Record<string, string>>[] = [
    { a: "x", b: "y", c: "x" },
    // What the first part named, the last one has to name now.
    { a: "y", b: "y", c: "x" },
    // A name that is no longer free, and one that is again.
    { a: "c", b: "y", c: "x" },
    { a: "x", b: "y", c: "x" },
    // A variable of a part, and a global, that the module has for itself.
    { a: "value", b: "y", c: "x" },
    { a: "Map", b: "y", c: "x" },
    { a: "x", b: "y", c: "x" },
  ];
  const known = new Map<string, PartRecording>();
  for (const [i, parts] of files.entries()) {
    if (parts["a"] !== files[i - 1]?.["a"]) known.delete("a");
    expect(printParts(parts, known).text).toBe(printParts(parts, new Map()).text);
    const declared = ["value"];
    expect(printParts(parts, known, declared).text).toBe(printParts(parts, new Map(), declared).text);
  }
});
