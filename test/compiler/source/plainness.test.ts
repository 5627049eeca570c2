import fc from "fast-check";
import { expect, test } from "vitest";
import { openTypeSource, readSchema } from "../../../compiler/source/index.js";

const valid = [
  {
    path: "schemas/a.ts",
    text: `import type { Actor, Int32, Mesh, Oneof, Port, Stream } from "viceroy/schema";
import type { Leaf, Level } from "./b.js";
export type Choice = Oneof<{ a: Int32; b: string }>;
export type Kind = "x" | "y";
export interface A {
  id: Int32;
  readonly name?: string;
  leaf: Leaf | null;
  level: Level;
  list: readonly Leaf[];
  map: Map<string, Set<Kind>>;
  pair: [first: Int32, second?: string];
  more: [Int32, ...A[]];
  at: Date | undefined;
  record: Record<string, Uint8Array>;
  choice: Choice;
  inner: { x: number; y: { z: boolean } };
  variant: { kind: "a"; x: Int32 } | { kind: "b" };
}
export interface Store extends Actor<[size: Int32, name?: string]> {
  get(key: string, level?: Level): A;
  all(): Stream<A>;
  join(others: Mesh<Store, "gpus">, port: Port<Kind>): void;
}
`,
  },
  {
    path: "schemas/b.ts",
    text: "export interface Leaf { value: number }\nexport enum Level { Low, High }\nexport interface Other { leaf: Leaf }\n",
  },
  {
    path: "schemas/c.ts",
    text: `import type { Leaf } from "./b.js";
export interface Order {
  lines: Order.Line[];
}
export namespace Order {
  export interface Line { leaf: Leaf; deep: Deep.Part }
  export namespace Deep { export type Part = "x" | "y" }
}
`,
  },
  {
    path: "schemas/d.ts",
    text: `import type { Order } from "./c.js";
export interface Cart { order: Order; line?: Order.Line; part: Order.Deep.Part }
`,
  },
];

const tokens = (text: string) => text.split(/(\s+|[{}()[\]<>;:,|?.="])/).filter((token) => token !== "");
const words = valid.flatMap(({ text }) => tokens(text)).filter((token) => token.trim() !== "");
const odd =
  "public static eval this class namespace declare abstract keyof unique any never ... = default async #x void".split(
    " ",
  );

const mutation = fc.record({
  file: fc.constantFrom(0, 0, 0, 1, 2, 3),
  edits: fc.array(
    fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      drop: fc.nat(2),
      insert: fc.array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...words) }, fc.constantFrom(...odd)), {
        maxLength: 2,
      }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

test("a source that skips the type checker finds the same problems and schema as one that always runs it", () => {
  const quick = openTypeSource({ exists: () => false });
  const thorough = openTypeSource({ exists: () => false, checkAll: true });
  let skipped = 0;
  fc.assert(
    fc.property(mutation, ({ file, edits }) => {
      const files = valid.map(({ path, text }, i) => {
        if (i !== file) return { path, text };
        const changed = tokens(text);
        for (const { at, drop, insert } of edits) {
          changed.splice(Math.floor(at * changed.length), drop, ...insert.flatMap((word) => [" ", word, " "]));
        }
        return { path, text: changed.join("") };
      });
      for (const source of [quick, thorough]) source.update(files);
      expect(quick.problems()).toEqual(thorough.problems());
      expect(readSchema(quick, "test")).toEqual(readSchema(thorough, "test"));
      if (quick.problems().length === 0) skipped++;
    }),
    { numRuns: 400 },
  );
  expect(skipped).toBeGreaterThan(10);
});

test("a file is read again when a file that it imports changes", () => {
  const source = openTypeSource({ exists: () => false });
  const variants = [
    "export interface Leaf { value: number }\nexport enum Level { Low, High }",
    "export interface Leaf { value: string }\nexport enum Level { Low, High }",
    "export type Leaf = 'a' | 'b';\nexport enum Level { Low }",
    "export interface Leaf<T> { value: T }\nexport enum Level { Low, High }",
    "export enum Level { Low, High }",
    'import type { Actor } from "viceroy/schema";\nexport interface Leaf extends Actor { get(): string }\nexport enum Level { Low, High }',
    "class Leaf {}\nexport type { Leaf };\nexport type Level = Leaf;",
  ];
  for (const text of [...variants, ...variants.toReversed()]) {
    const files = [valid[0]!, { path: "schemas/b.ts", text }];
    source.update(files);
    const fresh = openTypeSource({ exists: () => false, checkAll: true });
    fresh.update(files);
    expect(readSchema(source, "test")).toEqual(readSchema(fresh, "test"));
  }
});

test("a file is read again when a namespace that it imports changes", () => {
  const source = openTypeSource({ exists: () => false });
  const variants = [
    "export interface Order {}\nexport namespace Order { export interface Line { a: string } export namespace Deep { export type Part = string } }",
    "export interface Order {}\nexport namespace Order { export type Line = 'a' | 'b'; export namespace Deep { export type Part = string } }",
    "export interface Order {}\nexport namespace Order { export interface Line<T> { a: T } export namespace Deep { export type Part = string } }",
    "export interface Order {}\nexport namespace Order { interface Line { a: string } export namespace Deep { export type Part = string } }",
    "export namespace Order { export interface Line { a: string } export namespace Deep { export class Part {} } }",
    "export interface Order {}",
  ];
  for (const text of [...variants, ...variants.toReversed()]) {
    const files = [{ path: "schemas/c.ts", text }, valid[3]!];
    source.update(files);
    const fresh = openTypeSource({ exists: () => false, checkAll: true });
    fresh.update(files);
    expect(readSchema(source, "test")).toEqual(readSchema(fresh, "test"));
  }
});
