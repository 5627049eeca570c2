import fc from "fast-check";
import { expect, test } from "vitest";
import { assignIds, printLock } from "../../../compiler/lock/index.js";
import { openTypeSource, readSchema } from "../../../compiler/source/index.js";

const files = [
  {
    path: "schemas/a.ts",
    text: 'import type { B, Kind } from "./b.js";\nexport type Pair = Pick<B, "second" | "first">;\nexport type K = Exclude<Kind, "x">;\n',
  },
  {
    path: "schemas/b.ts",
    text: 'import type { Actor, Int32 } from "viceroy/schema";\nexport type Kind = "y" | "x" | "a";\nexport interface B { first: Int32; second: "b" | "a"; third: Kind }\nexport interface Store extends Actor { get(): B }\n',
  },
  {
    path: "schemas/c.ts",
    text: 'export type Letters = "a" | "first" | "b" | "second" | "x" | "y";\nexport type Some = Omit<Record<Letters, string>, "b">;\n',
  },
  { path: "schemas/broken.ts", text: "export interface Broken { x: any; y: Missing }\n" },
];

function read(given: typeof files) {
  const source = openTypeSource({ exists: () => false });
  source.update(given);
  return readSchema(source, "test");
}

test("the order of the input files does not change the model, the lock or the diagnostics", () => {
  const expected = read(files);
  fc.assert(
    fc.property(fc.shuffledSubarray(files, { minLength: files.length }), (shuffled) => {
      const found = read(shuffled);
      expect(found).toEqual(expected);
      expect(printLock(assignIds(found.schema).lock)).toBe(printLock(assignIds(expected.schema).lock));
    }),
    { numRuns: 12 },
  );
});

test("the model is plain data: it equals its structured clone and its copy through JSON", () => {
  const { schema, diagnostics } = read(files);
  expect(structuredClone(schema)).toEqual(schema);
  expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
  expect(JSON.parse(JSON.stringify(diagnostics))).toEqual(diagnostics);
});

test("the model keeps no reference to the source, which can be garbage-collected", async () => {
  const [schema, source] = (() => {
    const opened = openTypeSource({ exists: () => false });
    opened.update(files);
    return [readSchema(opened, "test").schema, new WeakRef(opened)];
  })();
  await new Promise((resolve) => setTimeout(resolve));
  const { setFlagsFromString } = await import("node:v8");
  const { runInNewContext } = await import("node:vm");
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  // A call of deref() would keep the object alive until the next turn of the event loop, so it comes last.
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    collect();
  }
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(source.deref()).toBeUndefined();
  expect(schema.modules.length).toBe(files.length);
});

test("an edited source gives the same result as a newly opened source with the same files", () => {
  const source = openTypeSource({ exists: () => false });
  source.update(files);
  readSchema(source, "test");
  const edits = [
    files.slice(0, 2),
    files.map((file) => (file.path === "schemas/b.ts" ? { ...file, text: file.text.replace("third", "other") } : file)),
    files.filter(({ path }) => path !== "schemas/b.ts"),
    files,
  ];
  for (const edit of edits) {
    source.update(edit);
    expect(readSchema(source, "test")).toEqual(read(edit));
  }
});

test("reading a file of random tokens never throws", () => {
  const words = [
    ..."export interface type enum A B C extends Actor Int32 string number | & [ ] { } ( ) < > : ; , ? = keyof readonly".split(
      " ",
    ),
    ...'"a" 1 null Map Record Partial Oneof Mesh Port Stream infer typeof in as never class import from'.split(" "),
  ];
  const source = openTypeSource({ exists: () => false });
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...words), { maxLength: 40 }), (chosen) => {
      const imports = 'import type { Actor, Int32, Map, Mesh, Oneof, Port, Stream } from "viceroy/schema";\n';
      source.update([{ path: "schemas/a.ts", text: imports.replace(" Map,", "") + chosen.join(" ") }]);
      readSchema(source, "test");
    }),
    { numRuns: 300 },
  );
});
