/** Code that no longer compiles: where the rules of the class SOURCE begin and end. */
import { actor, type Case, interfaceOf, replaced, task, tree } from "./case.js";

const kinds = Object.entries({
  interface: "interface X { a?: Int32 }",
  Oneof: "type X = Oneof<{ a: Int32 }>;",
  union: 'type X = { kind: "a" } | { kind: "b" };',
  enumeration: 'type X = "a" | "b";',
  alias: "type X = Int32;",
});

export const source: readonly Case[] = [
  // 5030
  { title: "VC5030 gone", older: tree("a: Int32;") + interfaceOf("Leaf", "b: Int32;"), newer: tree("a: Int32;") },
  {
    title: "VC5030 gone, never exported",
    older: `${tree("a: Leaf;")}interface Leaf { b: Int32 }\n`,
    newer: tree("a: { b: Int32 };"),
  },
  {
    title: "VC5030 hidden",
    older: tree("a: Leaf;") + interfaceOf("Leaf", "b: Int32;"),
    newer: `${tree("a: Leaf;")}interface Leaf {\n  b: Int32;\n}\n`,
  },
  {
    title: "VC5030 shown",
    newer: tree("a: Leaf;") + interfaceOf("Leaf", "b: Int32;"),
    older: `${tree("a: Leaf;")}interface Leaf {\n  b: Int32;\n}\n`,
  },
  { title: "VC5030 task", older: task("[n: Int32], Int32") + tree("a: Int32;"), newer: tree("a: Int32;") },
  { title: "VC5030 task renamed", older: task("[n: Int32], Int32"), newer: task("[n: Int32], Int32", "Cube") },
  { title: "VC5030 task new", older: tree("a: Int32;"), newer: task("[n: Int32], Int32") + tree("a: Int32;") },
  // 5031
  {
    title: "VC5031 file of a task",
    older: { "schemas/a.ts": `import type { Task } from "viceroy/schema";\n${task("[n: number], number")}` },
    newer: { "schemas/b.ts": `import type { Task } from "viceroy/schema";\n${task("[n: number], number")}` },
  },
  {
    title: "VC5031 file of a type and an actor",
    older: {
      "schemas/a.ts": `import type { Actor } from "viceroy/schema";\n${tree("a: string;")}${actor("tick(): void;")}`,
      "schemas/c.ts": interfaceOf("Stays", "a: string;"),
    },
    newer: {
      "schemas/b.ts": `import type { Actor } from "viceroy/schema";\n${tree("a: string;")}${actor("tick(): void;")}`,
      "schemas/c.ts": interfaceOf("Stays", "a: string;"),
    },
  },
  {
    title: "VC5031 file of a hidden type",
    older: {
      "schemas/a.ts": `${interfaceOf("Top", "leaf: Leaf;")}interface Leaf { a: string }\n`,
      "schemas/b.ts": interfaceOf("Other", "a: string;"),
    },
    newer: {
      "schemas/a.ts": `import type { Leaf } from "./b.js";\n${interfaceOf("Top", "leaf: Leaf;")}`,
      "schemas/b.ts": `${interfaceOf("Other", "a: string;")}export interface Leaf { a: string }\n`,
    },
  },
  {
    title: "VC5031 two of one name",
    older: { "schemas/a.ts": interfaceOf("Leaf", "a: string;"), "schemas/b.ts": interfaceOf("Leaf", "a: string;") },
    newer: { "schemas/c.ts": interfaceOf("Leaf", "a: string;"), "schemas/d.ts": interfaceOf("Leaf", "a: string;") },
  },
  {
    title: "VC5031 two come, one went",
    older: { "schemas/a.ts": interfaceOf("Leaf", "a: string;") },
    newer: { "schemas/c.ts": interfaceOf("Leaf", "a: string;"), "schemas/d.ts": interfaceOf("Leaf", "a: string;") },
  },
  {
    title: "VC5031 one comes, two went",
    newer: { "schemas/a.ts": interfaceOf("Leaf", "a: string;") },
    older: { "schemas/c.ts": interfaceOf("Leaf", "a: string;"), "schemas/d.ts": interfaceOf("Leaf", "a: string;") },
  },
  {
    title: "VC5031 namespace in another file",
    older: { "schemas/a.ts": interfaceOf("Leaf", "a: string;") },
    newer: { "schemas/b.ts": "export namespace Order {\n  export interface Leaf { a: string }\n}\n" },
  },
  {
    title: "VC5031 namespace in its file",
    older: interfaceOf("Leaf", "a: string;"),
    newer: "export namespace Order {\n  export interface Leaf { a: string }\n}\n",
  },
  {
    title: "VC5031 namespace, other name",
    older: interfaceOf("Leaf", "a: string;"),
    newer: "export namespace Order {\n  export interface Leaves { a: string }\n}\n",
  },
  // 5032
  ...kinds.flatMap(([a, x]) =>
    kinds
      .filter(([b]) => a !== b)
      .map(([b, y]) => ({ title: `VC5032 ${a} to ${b}`, older: `export ${x}\n`, newer: `export ${y}\n` })),
  ),
  // 5033
  {
    title: "VC5033 0 to 1",
    older: "export interface P { a: string }\n",
    newer: "export interface P<T> { a: T }\nexport interface U { p: P<string> }\n",
  },
  {
    title: "VC5033 1 to 2",
    older: "export interface P<T> { a: T }\nexport interface U { p: P<string> }\n",
    newer: "export interface P<T, U> { a: T; b?: U }\nexport interface U { p: P<string, Int32> }\n",
  },
  {
    title: "VC5033 2 to 0",
    newer: "export interface P { a: string }\n",
    older: "export interface P<T, U> { a: T; b?: U }\nexport interface U { p: P<string, Int32> }\n",
  },
  {
    title: "VC5033 renamed parameter",
    older: "export interface P<T> { a: T }\nexport interface U { p: P<string> }\n",
    newer: "export interface P<S> { a: S }\nexport interface U { p: P<string> }\n",
  },
  // 5034
  { title: "VC5034 field", older: tree("leafCount: Int32;"), newer: tree("/** @was leafCount */ leaves: Int32;") },
  {
    title: "VC5034 field with json",
    older: tree("/** @json count */ leafCount: Int32;"),
    newer: tree("/** @was leafCount */ leaves: Int32;"),
  },
  {
    title: "VC5034 field with name",
    older: tree("/** @name count */ leafCount: Int32;"),
    newer: tree("/** @was leafCount */ leaves: Int32;"),
  },
  {
    title: "VC5034 field that keeps json",
    older: tree("leafCount: Int32;"),
    newer: tree("/**\n   * @was leafCount\n   * @name leaf_count\n   */ leaves: Int32;"),
  },
  {
    title: "VC5034 case",
    older: "export type C = Oneof<{ a: Int32; b: string }>;\n",
    newer: "export type C = Oneof<{ a: Int32; /** @was b */ c: string }>;\n",
  },
  {
    title: "VC5034 enum",
    older: 'export enum E { A = "a", B = "b" }\n',
    newer: 'export enum E { A = "a", /** @was B */ C = "b" }\n',
  },
  {
    title: "VC5034 numeric enum",
    older: "export enum E { A = 0, B = 1 }\n",
    newer: "export enum E { A = 0, /** @was B */ C = 1 }\n",
  },
  { title: "VC5034 literals", older: tree('a: "x" | "y";'), newer: tree('a: "x" | /** @was y */ "z";') },
  {
    title: "VC5034 generic",
    older: "export interface P<T> { a: T }\n",
    newer: "export interface P<T> { /** @was a */ b: T }\n",
  },
  { title: "VC5034 endpoint", older: actor("get(): Int32;"), newer: actor("/** @was get */ read(): Int32;") },
  {
    title: "VC5034 actor",
    older: actor("get(): Int32;"),
    newer: actor("get(): Int32;").replace("Clock", "Watch"),
    edit: replaced("Clock", "Watch"),
  },
  // 5035
  { title: "VC5035 field", older: tree("a?: Int32;\n  b: Int32;"), newer: tree("b: Int32;") },
  {
    title: "VC5035 case",
    older: "export type C = Oneof<{ a: Int32; b: string }>;\n",
    newer: "export type C = Oneof<{ a: Int32 }>;\n",
  },
  {
    title: "VC5035 variant",
    older: 'export type C = { kind: "a" } | { kind: "b" };\n',
    newer: 'export type C = { kind: "a" };\n',
  },
  { title: "VC5035 value", older: 'export type C = "a" | "b";\n', newer: 'export type C = "a";\n' },
  { title: "VC5035 in place", older: tree("a: { b?: Int32 }[];"), newer: tree("a: {}[];") },
  // 5036
  {
    title: "VC5036 alias",
    older: `export type A = Int32;\n${tree("a: A;")}`,
    newer: `export type A = Int32;\n${tree("a: Int32;")}`,
  },
  { title: "VC5036 nullable", older: tree("a: Int32 | null;"), newer: tree("a: Int32;") },
  {
    title: "VC5036 nullable and alias",
    older: `export type A = Int32;\n${tree("a: A | null;")}`,
    newer: `export type A = Int32;\n${tree("a: Int32;")}`,
  },
  {
    title: "VC5036 moved type",
    older: tree("a: Leaf;") + interfaceOf("Leaf", "b: Int32;"),
    newer: `${tree("a: Order.Leaf;")}export namespace Order {\n  export interface Leaf { b: Int32 }\n}\n`,
  },
  { title: "VC5036 array of lists", older: tree("a: Int32Array;"), newer: tree("a: Int32[];") },
  // 5037
  { title: "VC5037 was optional", older: tree("a?: Int32;"), newer: tree("a: Int32;") },
  { title: "VC5037 was nullable", older: tree("a: Int32 | null;"), newer: tree("a: Int32;") },
  { title: "VC5037 optional to nullable", older: tree("a?: Int32;"), newer: tree("a: Int32 | null;") },
  {
    title: "VC5037 added",
    older: tree("a?: Int32;"),
    newer: tree("a?: Int32;\n  b: string;\n  c?: string;\n  d: string | null;"),
  },
  {
    title: "VC5037 case added",
    older: "export type C = Oneof<{ a: Int32 }>;\n",
    newer: "export type C = Oneof<{ a: Int32; b: string }>;\n",
  },
  // 5038
  { title: "VC5038 optional", older: tree("a: Int32;"), newer: tree("a?: Int32;") },
  { title: "VC5038 nullable", older: tree("a: Int32;"), newer: tree("a: Int32 | null;") },
  { title: "VC5038 both", older: tree("a: Int32;"), newer: tree("a?: Int32 | null;") },
  { title: "VC5038 optional to both", older: tree("a?: Int32;"), newer: tree("a?: Int32 | null;") },
  { title: "VC5038 nullable to both", older: tree("a: Int32 | null;"), newer: tree("a?: Int32 | null;") },
  { title: "VC5038 back", older: tree("a?: Int32 | null;"), newer: tree("a: Int32;") },
  // 5039
  {
    title: "VC5039 changed",
    older: 'export type C =\n  | { kind: "a" }\n  | { kind: "b" };\n',
    newer: 'export type C =\n  | { is: "a" }\n  | { is: "b" };\n',
  },
  {
    title: "VC5039 same",
    older: 'export type C =\n  | { kind: "a" }\n  | { kind: "b" };\n',
    newer: 'export type C =\n  | { kind: "b" }\n  | { kind: "a" };\n',
  },
  // 5040
  { title: "VC5040 gone", older: actor("get(a: Int32, b: string): void;"), newer: actor("get(a: Int32): void;") },
  {
    title: "VC5040 type",
    older: actor("get(a: Int32, b: Int32[]): void;"),
    newer: actor("get(a: Int32, b: Set<Int32>): void;"),
  },
  {
    title: "VC5040 required",
    older: actor("get(a: Int32, b?: string): void;"),
    newer: actor("get(a: Int32, b: string): void;"),
  },
  {
    title: "VC5040 optional",
    older: actor("get(a: Int32, b: string): void;"),
    newer: actor("get(a: Int32, b?: string): void;"),
  },
  {
    title: "VC5040 new required",
    older: actor("get(a: Int32): void;"),
    newer: actor("get(a: Int32, b: string): void;"),
  },
  {
    title: "VC5040 new optional",
    older: actor("get(a: Int32): void;"),
    newer: actor("get(a: Int32, b?: string): void;"),
  },
  { title: "VC5040 renamed", older: actor("get(a: Int32): void;"), newer: actor("get(b: Int32): void;") },
  {
    title: "VC5040 moved type",
    older: actor("get(a: Leaf): void;") + interfaceOf("Leaf", "b: Int32;"),
    newer: `${actor("get(a: Order.Leaf): void;")}export namespace Order {\n  export interface Leaf { b: Int32 }\n}\n`,
  },
  { title: "VC5040 constructor new", older: actor("get(): void;"), newer: actor("get(): void;", "<[zone: string]>") },
  { title: "VC5040 constructor gone", older: actor("get(): void;", "<[zone: string]>"), newer: actor("get(): void;") },
  { title: "VC5040 task gone", older: task("[a: Int32, b: string]"), newer: task("[a: Int32]") },
  { title: "VC5040 task type", older: task("[a: Int32, b: Int32[]]"), newer: task("[a: Int32, b: Set<Int32>]") },
  { title: "VC5040 task required", older: task("[a?: Int32]"), newer: task("[a: Int32]") },
  { title: "VC5040 task optional", older: task("[a: Int32]"), newer: task("[a?: Int32]") },
  { title: "VC5040 task new required", older: task("[a: Int32]"), newer: task("[a: Int32, b: string]") },
  { title: "VC5040 task new optional", older: task("[a: Int32]"), newer: task("[a: Int32, b?: string]") },
  { title: "VC5040 task swapped", older: task("[a: Int32, b: string]"), newer: task("[b: string, a: Int32]") },
  { title: "VC5040 task renamed argument", older: task("[a: Int32]"), newer: task("[b: Int32]") },
  {
    title: "VC5037 task with a new member in place",
    older: task("[a: { x: Int32 }], { y: Int32 }"),
    newer: task("[a: { x: Int32; z: Int32 }], { y: Int32; z: Int32 }"),
  },
  // 5041
  { title: "VC5041 task", older: task("[a: Int32], Int32"), newer: task("[a: Int32], string") },
  { title: "VC5041 task void", older: task("[a: Int32], Int32"), newer: task("[a: Int32]") },
  { title: "VC5041 task from void", older: task("[a: Int32]"), newer: task("[a: Int32], Int32") },
  { title: "VC5041 task same", older: task("[a: Int32], Int32"), newer: `/** Words. */\n${task("[a: Int32], Int32")}` },
  { title: "VC5041 list", older: actor("get(): Int32[];"), newer: actor("get(): Int32Array;") },
  {
    title: "VC5041 void",
    older: actor("get(): Tree;") + tree("a?: Int32;"),
    newer: actor("get(): void;") + tree("a?: Int32;"),
  },
  {
    title: "VC5041 from void",
    newer: actor("get(): Tree;") + tree("a?: Int32;"),
    older: actor("get(): void;") + tree("a?: Int32;"),
  },
  { title: "VC5041 stream", older: actor("get(): Stream<Int32>;"), newer: actor("get(): Int32[];") },
  { title: "VC5041 same", older: actor("get(): Int32;"), newer: actor("get(): Int32;") },
  {
    title: "VC5041 moved type",
    older: actor("get(): Leaf;") + interfaceOf("Leaf", "b: Int32;"),
    newer: `${actor("get(): Order.Leaf;")}export namespace Order {\n  export interface Leaf { b: Int32 }\n}\n`,
  },

  {
    title: "order of findings in a file, and of files",
    older: {
      "schemas/b.ts": "export interface B { a: string; b: string }\nexport interface C { a: string }\n",
      "schemas/a.ts": "export interface A { x: string; y: string }\n",
    },
    newer: {
      "schemas/b.ts": "export interface B { b?: string; a?: string }\nexport interface C { a?: string }\n",
      "schemas/a.ts": "export interface A {\n  y?: string;\n  x?: string }\n",
    },
  },
  {
    title: "one place with two findings of two rules",
    older: tree("a: Leaf | null;") + interfaceOf("Leaf", "b: Int32;"),
    newer: tree("a: Twig;") + interfaceOf("Twig", "b: Int32;"),
  },
  {
    title: "members that swap names",
    older: tree("a: Int32;\n  b: Int32;"),
    newer: tree("/** @was a */ c: Int32;\n  /** @was b */ d: Int32;"),
  },
  {
    title: "a member that takes the name of one that has gone",
    older: tree("a: Int32;\n  b: Int32;"),
    newer: tree("b: Int32;\n  c: Int32;"),
    edit: replaced("  1 a int32\n  2 b int32", "  1 b int32 was=a\n  2 -b int32"),
  },

  {
    title: "VC5035 a variant of three",
    older: 'export type C = { kind: "a" } | { kind: "b" } | { kind: "c" };\n',
    newer: 'export type C = { kind: "a" } | { kind: "c" };\n',
  },
  {
    title: "a namesake in another file stays",
    older: { "schemas/a.ts": interfaceOf("Leaf", "a: string;"), "schemas/b.ts": interfaceOf("Leaf", "b: string;") },
    newer: { "schemas/b.ts": interfaceOf("Leaf", "b: string;") },
  },
  {
    title: "a namesake in another file stays, and one moves",
    older: { "schemas/a.ts": interfaceOf("Leaf", "a: string;"), "schemas/b.ts": interfaceOf("Leaf", "b: string;") },
    newer: { "schemas/b.ts": interfaceOf("Leaf", "b: string;"), "schemas/c.ts": interfaceOf("Leaf", "a: string;") },
  },
  {
    title: "a new name for the id of a member that has another id",
    older: tree("a?: Int32;\n  b?: Int32;"),
    newer: tree("c?: Int32;\n  a?: Int32;"),
    edit: replaced("  1 a int32?\n  2 b int32?", "  1 c int32?\n  2 a int32? was=b"),
  },
  {
    title: "shapes in place, of endpoints and constructors",
    older: actor(
      "get(a: { x?: Int32; y: Int32 }): { z?: Int32; y: Int32 };\n  all(): Stream<{ v?: Int32 }>;\n  put(): void;\n  take(): { w?: Int32 };",
      "<[at: { u?: Int32 }]>",
    ),
    newer: actor(
      "get(a: { y: Int32 }): { y: Int32 };\n  all(): Stream<{}>;\n  put(): { a: Int32 };\n  take(): void;",
      "<[at: {}]>",
    ),
  },
  {
    title: "a shape in place that gets a name",
    older: tree("a: { b?: Int32 };"),
    newer: `${tree("a: Leaf;")}${interfaceOf("Leaf", "b?: Int32;")}`,
  },
  {
    title: "a tuple that is a list, and a list that is a tuple",
    older: tree("a: [Int32, Int32];\n  b: Int32[];"),
    newer: tree("a: Int32[];\n  b: [Int32, Int32];"),
  },
  {
    title: "a shape in a record that is one in a list",
    older: tree("a: Record<string, { b?: Int32 }>;"),
    newer: tree("a: { b: Int32 }[];"),
  },
  {
    title: "an alias of a shape in place",
    older: "export type Row = { a?: Int32 }[];\n",
    newer: "export type Row = { a: Int32 }[];\n",
  },

  {
    title: "VC5038 a message that may be absent and null",
    older: tree("a: { x: Int32 };\n  b: Leaf;") + interfaceOf("Leaf", "c: Int32;"),
    newer: tree("a?: { x: Int32 } | null;\n  b?: Leaf | null;") + interfaceOf("Leaf", "c: Int32;"),
  },
  {
    title: "VC5041 a stream of something else",
    older: actor("get(): Stream<Tree>;") + tree("a?: Int32;"),
    newer: actor("get(): Int32;") + tree("a?: Int32;"),
  },

  {
    title: "VC5038 a member of a generic type that may be absent and null",
    older: "export interface Page<T> {\n  a: T;\n}\n",
    newer: "export interface Page<T> {\n  a?: T | null;\n}\n",
  },

  {
    title: "VC5034 a variant and a literal that are renamed in the lock by hand",
    older: 'export type C = { kind: "a" } | { kind: "b" };\nexport type E = "x" | "y";\n',
    newer: 'export type C = { kind: "c" } | { kind: "b" };\nexport type E = "z" | "y";\n',
    edit: (lock) =>
      lock.replace("  1 a message", "  1 c message").replace("message C|a", "message C|c").replace("  1 x", "  1 z"),
  },
];
