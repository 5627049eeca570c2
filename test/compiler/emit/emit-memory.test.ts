import fc from "fast-check";
import { expect, test } from "vitest";
import { EmitMemory, emitTypeScript } from "../../../compiler/emit/index.js";
import { assignIds, type Lock } from "../../../compiler/lock/index.js";
import { openTypeSource, readSchema } from "../../../compiler/source/index.js";

const files: Readonly<Record<string, string>> = {
  "schemas/leaf.ts": `import type { Int32, Tensor } from "viceroy/schema";
export interface Leaf { value: Int32; next?: Leaf }
export interface Empty {}
export type Id = Int32;
export enum Level { Low, High }
export interface Circle { kind: "circle"; radius: number }
`,
  "schemas/generic.ts": `import type { Leaf } from "./leaf.js";
export interface Page<T> { items: T[]; first: Leaf; next?: Page<T> }
export type Result<T> = { ok: "yes"; value: T } | { ok: "no"; error: string };
`,
  "schemas/tree.ts": `import type { Circle, Id, Leaf, Level } from "./leaf.js";
import type { Page } from "./generic.js";
export interface Tree { leaf: Leaf; maybe: Leaf | null; id: Id; level: Level; page: Page<Leaf> }
export type Shape = Circle | { kind: "none" };
export interface Wide { tree: Tree; list: Leaf[]; map: Map<string, Shape> }
export interface Spot { x: Id; level: Level }
export interface Area { center: Spot; spots: Spot[] }
`,
  "schemas/store.ts": `import type { Actor, Mesh, Stream, Task, Tensor } from "viceroy/schema";
import type { Page, Result } from "./generic.js";
import type { Tree, Wide } from "./tree.js";
export interface Base extends Actor<[tree: Tree]> { get(): Result<Tree> }
export interface Store extends Base { all(page: Page<Wide>): Stream<Tree>; join(others: Mesh<Base, "gpus">): void }
export interface Plant extends Task<[tree: Tree, pages: Page<Wide>[]], Result<Tree>> {}
`,
};

const edits: readonly (readonly [file: string, from: string, to: string])[] = [
  ["schemas/leaf.ts", "value: Int32", "value: string"],
  ["schemas/leaf.ts", "value: Int32;", "value: Int32; more?: Uint8Array;"],
  ["schemas/leaf.ts", "value: Int32;", "value: Int32; weights?: Tensor;"],
  ["schemas/leaf.ts", "next?: Leaf", "next?: string"],
  ["schemas/leaf.ts", "type Id = Int32", "type Id = string | null"],
  ["schemas/leaf.ts", "type Id = Int32", "type Id = { a: Int32 }"],
  ["schemas/leaf.ts", "Low, High", "Low, High, Higher"],
  ["schemas/leaf.ts", "export enum Level { Low, High", 'export type Level = "low" | "high"; export enum Other { A'],
  ["schemas/leaf.ts", "radius: number", "radius: Leaf"],
  ["schemas/leaf.ts", "export interface Empty {}", "/** A comment.\n */\nexport interface Empty { text: string }"],
  ["schemas/generic.ts", "items: T[]", "items: Map<string, T>"],
  ["schemas/generic.ts", "value: T", "value: T | null"],
  ["schemas/generic.ts", "first: Leaf", "first?: Leaf"],
  ["schemas/tree.ts", "leaf: Leaf;", "/** Documented. */ leaf: Leaf;"],
  ["schemas/tree.ts", "list: Leaf[]", "list: Tree[]"],
  ["schemas/tree.ts", "x: Id;", "x: Id; y: Id;"],
  ["schemas/tree.ts", "x: Id;", "x?: Id;"],
  ["schemas/tree.ts", "x: Id;", "z: Id;"],
  ["schemas/tree.ts", "level: Level }\nexport interface Area", "level: Leaf }\nexport interface Area"],
  ["schemas/store.ts", "[tree: Tree]", "[tree: Tree, wide?: Wide]"],
  ["schemas/store.ts", "pages: Page<Wide>[]", "pages?: Page<Wide>"],
  ["schemas/store.ts", "Result<Tree>> {}", "Wide | null> {}"],
  ["schemas/store.ts", "export interface Plant", "/** @idempotent */ export interface Plant"],
  ["schemas/store.ts", "all(page", "/** @propagate ../src/shapes.ts#sum */\n sum(tree: Tree): Tensor; all(page"],
];

test("emitting with a memory gives the same files as emitting without it", () => {
  let lock: Lock | undefined;
  const source = openTypeSource({ exists: () => false });
  const memory = new EmitMemory();
  let emitted = 0;
  fc.assert(
    fc.property(fc.subarray([...edits], { maxLength: 4 }), (chosen) => {
      const texts = Object.entries(files).map(([path, text]) => {
        const own = chosen.filter(([file]) => file === path);
        return { path, text: own.reduce((current, [, from, to]) => current.replace(from, to), text) };
      });
      source.update(texts);
      const { schema, diagnostics } = readSchema(source, "test");
      if (diagnostics.length > 0) return;
      emitted++;
      const assigned = assignIds(schema, lock);
      lock = assigned.lock;
      const options = { version: "0.0.0", schemaRoot: "schemas", out: "generated", actors: [] };
      const fresh = emitTypeScript(assigned.schema, options);
      expect(emitTypeScript(assigned.schema, options, memory)).toEqual(fresh);
    }),
    { numRuns: 150 },
  );
  expect(emitted).toBeGreaterThan(50);
});

test("a change that affects another file only by its fingerprints updates that file", () => {
  const source = openTypeSource({ exists: () => false });
  const memory = new EmitMemory();
  const emit = (leaf: string) => {
    source.update(Object.entries(files).map(([path, text]) => ({ path, text: text.replace("radius: number", leaf) })));
    const { schema } = assignIds(readSchema(source, "test").schema);
    const options = { version: "0.0.0", schemaRoot: "schemas", out: "generated", actors: [] };
    const texts = emitTypeScript(schema, options, memory);
    expect(texts).toEqual(emitTypeScript(schema, options));
    return new Map(texts.map(({ path, text }) => [path, text]));
  };
  const before = emit("radius: number");
  const after = emit("radius: Date");
  const withoutFingerprints = (text = "") => text.replace(/0x[0-9a-f]{16}/g, "");
  expect(after.get("store.ts")).not.toBe(before.get("store.ts"));
  expect(withoutFingerprints(after.get("store.ts"))).toBe(withoutFingerprints(before.get("store.ts")));
});
