/** The emitter kit: names never clash, imports are collected, and lines are broken as the formatter breaks them. */
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

test("each used name is imported once, in sorted order, and types are marked as types", () => {
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

test("a name that is used as a type and as a value is imported as a value", () => {
  const text = printFile("a.ts", [], (file) => {
    file.line(code`const a: ${importedType(abi, "Actor")} = new ${importedValue(abi, "Actor")}();`);
  });
  expect(text).toBe(`import { Actor } from "viceroy/codegen/v1";\n\nconst a: Actor = new Actor();\n`);
});

test("exports keep their names, and clashing imports, globals and locals get another spelling", () => {
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

test("an import whose name is taken gets its file name as prefix, and names of Viceroy stay", () => {
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

test("local names that are already written change if a later import or global has the same name", () => {
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

test("a name needs no import in the file that declares it", () => {
  const text = printFile("a/tree.ts", [], (file) => {
    file.declare("Tree");
    file.line(code`type Forest = ${importedType({ file: "a/tree.ts" }, "Tree")}[];`);
  });
  expect(text).toBe("type Forest = Tree[];\n");
});

test("a line is broken only if it does not fit into 120 columns", () => {
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

test("doc comments keep their lines and escape the end of a comment", () => {
  const text = printFile("a.ts", [], (file) => {
    file.doc("");
    file.doc("One.");
    file.doc("Two,\n  indented */\n\nlines.\n");
  });
  expect(text).toBe("/** One. */\n/**\n * Two,\n *   indented *\\/\n *\n * lines.\n */\n");
});

test("string literals use the quotes that need fewer escapes", () => {
  expect(["a", "it's", 'say "x"', `'"`, "\ud800", "\n"].map(stringLiteral)).toEqual([
    '"a"',
    '"it\'s"',
    "'say \"x\"'",
    `"'\\""`,
    '"\\ud800"',
    '"\\n"',
  ]);
});

test("names and specifiers are sorted in the order of the import organiser", () => {
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

test("import specifiers are relative and have the extension of the JavaScript file", () => {
  expect(relativeSpecifier("generated/registry.ts", "src/a.ts")).toBe("../src/a.js");
  expect(relativeSpecifier("a/b/c.ts", "a/d.mts")).toBe("../d.mjs");
  expect(relativeSpecifier("a.ts", "b/c.tsx")).toBe("./b/c.js");
});

/** Prints a file whose parts each use a helper; a known part is written again only if necessary. */
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

test("a part of a file is reused while its names are unchanged", () => {
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

test("a file with reused parts equals a newly written file after names in another part change", () => {
  const files: readonly Readonly<Record<string, string>>[] = [
    { a: "x", b: "y", c: "x" },
    // The last part has to declare the helper that the first part declared before.
    { a: "y", b: "y", c: "x" },
    // A name is taken by the first part, and is then free again.
    { a: "c", b: "y", c: "x" },
    { a: "x", b: "y", c: "x" },
    // The module takes a name that parts use for a variable or for a global.
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
