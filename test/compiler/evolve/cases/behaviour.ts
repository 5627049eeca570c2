/** Other answers to the same call, and other names outside of TypeScript: the borders of the rules of the class BEHAVIOUR. */
import { actor, type Case, replaced, task, tree, watch, without } from "./case.js";

/** `@timeout 5s` of a comment with that tag. */
function tagIn(comment: string): string {
  return comment.replace(/[/*]/g, "").trim() || "nothing";
}

export const behaviour: readonly Case[] = [
  { title: "VC5050 task", older: `/** @idempotent */\n${task("[]")}`, newer: task("[]") },
  { title: "VC5050 task, marked", newer: `/** @idempotent */\n${task("[]")}`, older: task("[]") },
  // 5050..54
  ...(
    [
      ["", "/** @idempotent */ "],
      ["/** @idempotent */ ", ""],
      ["/** @idempotent */ ", "/** @idempotent */ "],
    ] as const
  ).map(([a, b]) => ({
    title: `VC5050 ${tagIn(a)} to ${tagIn(b)}`,
    older: actor(`${a}get(): Int32;`),
    newer: actor(`${b}get(): Int32;`),
  })),
  ...(
    [
      ["", "/** @timeout 5s */ "],
      ["/** @timeout 5s */ ", ""],
      ["/** @timeout 5s */ ", "/** @timeout 2s */ "],
      ["/** @timeout 2s */ ", "/** @timeout 5s */ "],
      ["/** @timeout 2s */ ", "/** @timeout 2s */ "],
    ] as const
  ).map(([a, b]) => ({
    title: `VC5051 ${tagIn(a)} to ${tagIn(b)}`,
    older: actor(`${a}get(): Int32;`),
    newer: actor(`${b}get(): Int32;`),
  })),
  ...(
    [
      ["", "/** @concurrent */ "],
      ["/** @concurrent */ ", ""],
      ["/** @concurrent 8 */ ", ""],
      ["/** @concurrent 8 */ ", "/** @concurrent */ "],
      ["", ""],
    ] as const
  ).map(([a, b]) => ({
    title: `VC5052 ${tagIn(a)} to ${tagIn(b)}`,
    older: actor(`${a}get(): Int32;`),
    newer: actor(`${b}get(): Int32;`),
  })),
  ...(
    [
      ["", "/** @reduce sum */ "],
      ["/** @reduce sum */ ", ""],
      ["/** @reduce sum */ ", "/** @reduce max */ "],
      ["/** @reduce max */ ", "/** @reduce max */ "],
    ] as const
  ).map(([a, b]) => ({
    title: `VC5053 ${tagIn(a)} to ${tagIn(b)}`,
    older: actor(`${a}get(): Int32;`),
    newer: actor(`${b}get(): Int32;`),
  })),
  ...(
    [
      ["", "/** @respond */ "],
      ["/** @respond */ ", ""],
      ["/** @respond */ ", "/** @respond */ "],
    ] as const
  ).map(([a, b]) => ({
    title: `VC5054 ${tagIn(a)} to ${tagIn(b)}`,
    older: actor(`${a}get(to: Port<Int32>): void;`),
    newer: actor(`${b}get(to: Port<Int32>): void;`),
  })),
  // 5055
  { title: "VC5055 json tag", older: tree("/** @json leaves */ leafCount: Int32;"), newer: tree("leafCount: Int32;") },
  { title: "VC5055 name tag", older: tree("/** @name leaves */ leafCount: Int32;"), newer: tree("leafCount: Int32;") },
  {
    title: "VC5055 name alone",
    older: tree("/**\n   * @name leaf__count\n   * @json leafCount\n   */ leafCount: Int32;"),
    newer: tree("leafCount: Int32;"),
  },
  {
    title: "VC5055 case",
    older: "export type C = Oneof<{ /** @name x */ a: Int32; b: string }>;\n",
    newer: "export type C = Oneof<{ a: Int32; b: string }>;\n",
  },
  {
    title: "VC5055 enum",
    older: 'export enum E { /** @name X */ A = "a", B = "b" }\n',
    newer: 'export enum E { A = "a", B = "b" }\n',
  },
  {
    title: "VC5055 numeric enum",
    older: "export enum E { A = 0, /** @name X */ B = 7 }\n",
    newer: "export enum E { A = 0, B = 7 }\n",
  },
  {
    title: "VC5055 enum with two names",
    older: "export enum E { A = 0, B = 7, C = 7 }\n",
    newer: "export enum E { A = 0, C = 7, B = 7 }\n",
  },
  { title: "VC5055 literals", older: tree('a: "p" | "q";'), newer: tree('/** @was a */ b: "p" | "q";') },
  {
    title: "VC5055 tuple",
    older: tree("a: [x: Int32, y: string];"),
    newer: tree("a: [x: Int32, z: string, w?: Int32];"),
  },
  { title: "VC5055 tuple labels gone", older: tree("a: [x: Int32, y: string];"), newer: tree("a: [Int32, string];") },
  {
    title: "VC5055 params",
    older: actor("add(by: Int32, of: string): void;"),
    newer: actor("add(amount: Int32, of: string): void;"),
  },
  {
    title: "VC5055 params clash",
    older: actor("add(ab: Int32, a_b: string): void;"),
    newer: actor("add(aB: Int32, a_b: string): void;"),
  },
  {
    title: "VC5055 respond params",
    older: actor("/** @respond */ add(to: Port<Int32>, of: string): void;"),
    newer: actor("/** @respond */ add(at: Port<Int32>, from: string): void;"),
  },
  { title: "VC5055 method", older: actor("/** @name Plus */ add(): void;"), newer: actor("add(): void;") },
  {
    title: "VC5055 methods of two",
    older: actor("/** @name Plus */ add(): void;\n  get(): Int32;") + actor("add(): void;").replace("Clock", "Watch"),
    newer: actor("add(): void;\n  get(): Int32;") + actor("add(): void;").replace("Clock", "Watch"),
  },
  // 5056
  {
    title: "VC5056 changed",
    older: 'export enum E {\n  A = "a",\n  B = "b",\n}\n',
    newer: 'export enum E {\n  A = "a",\n  B = "c",\n}\n',
  },
  {
    title: "VC5056 mixed",
    older: 'export enum E {\n  A = "a",\n  B = 1,\n}\n',
    newer: 'export enum E {\n  A = "b",\n  B = 2,\n}\n',
  },
  {
    title: "VC5056 numbers",
    older: "export enum E {\n  A = 0,\n  B = 1,\n}\n",
    newer: "export enum E {\n  A = 0,\n  B = 2,\n}\n",
  },
  {
    title: "VC5056 to numbers",
    older: 'export enum E {\n  A = "a",\n  B = "b",\n}\n',
    newer: "export enum E {\n  A = 1,\n  B = 2,\n}\n",
  },
  {
    title: "VC5056 renamed too",
    older: 'export enum E {\n  A = "a",\n  B = "b",\n}\n',
    newer: 'export enum E {\n  A = "a",\n  /** @was B */ C = "c",\n}\n',
  },
  {
    title: "VC5056 another id",
    older: 'export enum E {\n  A = "a",\n  B = "b",\n}\n',
    newer: 'export enum E {\n  A = "a",\n  /** @id 7 */ B = "c",\n}\n',
    edit: without("  2 B\n"),
  },

  {
    title: "VC5055 services of another package",
    older: actor("get(): Int32;") + watch("get(): Int32;"),
    newer: actor("get(): Int32;") + watch("get(): Int32;"),
    newerPackage: "other",
  },
  {
    title: "VC5055 a service that is renamed in another package",
    older: actor("get(): Int32;"),
    newer: watch("get(): Int32;"),
    newerPackage: "other",
    edit: replaced("Clock", "Watch"),
  },
  {
    title: "VC5055 an endpoint that is renamed",
    older: actor("get(): Int32;"),
    newer: actor("/** @was get */ read(): Int32;"),
  },
  {
    title: "VC5055 parameters that change places and one that comes",
    older: actor("add(by?: Int32, of?: string): void;"),
    newer: actor("add(of?: string, by?: Int32, more?: Int32): void;"),
  },
  {
    title: "VC5055 endpoints of actors of one name for each",
    older: actor("a(): void;\n  b(): void;") + watch("b(): void;\n  a(): void;"),
    newer: actor("b(): void;\n  a(): void;") + watch("a(): void;\n  b(): void;"),
  },
  {
    title: "VC5055 a variant",
    older: 'export type C = { kind: "a"; x: Int32 } | { kind: "b" };\n',
    newer: 'export type C = { kind: "b" } | { kind: "a"; x: Int32 };\n',
  },
  {
    title: "VC5056 an enum that has literals and had numbers",
    older: "export enum E {\n  A = 1,\n  B = 2,\n}\n",
    newer: 'export enum E {\n  A = "a",\n  B = "b",\n}\n',
  },

  {
    title: "VC5055 a label of a tuple in a shape in place",
    older: tree("a: { b: [x: Int32] }[];"),
    newer: tree("a: { b: [y: Int32] }[];"),
  },
  {
    title: "VC5055 labels that are one in JSON",
    older: tree("a: [a_b: Int32, aB: string];"),
    newer: tree("a: [c: Int32, aB: string];"),
  },
  {
    title: "VC5055 labels and parameters with numbers first",
    older: tree("a: [_7: Int32];") + actor("get(_7: Int32): void;"),
    newer: tree("a: [n7: Int32];") + actor("get(n7: Int32): void;"),
  },
  {
    title: "VC5055 parameters that are one in JSON change places",
    older: actor("add(a_b?: Int32, aB?: Int32): void;"),
    newer: actor("add(aB?: Int32, a_b?: Int32): void;"),
  },
  {
    title: "VC5055 an actor that is renamed and has an endpoint with another public name",
    older: actor("/** @name Plus */ add(): void;"),
    newer: watch("add(): void;"),
    edit: replaced("actor Clock", "actor Watch"),
  },
  {
    title: "VC5051 no deadline, before or now, and a longer one",
    older: actor("a(): void;\n  /** @timeout 5s */ b(): void;"),
    newer: actor("/** @idempotent */ a(): void;\n  /** @timeout 6s */ b(): void;"),
  },
  {
    title: "VC5034 a literal beside one that has the name of JSON",
    older: 'export type E = "a" | "b";\n',
    newer: 'export type E = "b" | "a";\n',
  },

  {
    title: "VC5055 labels and parameters with numbers first, beside a namesake",
    older: tree("a: [_7: Int32, n7: Int32];") + actor("get(_7: Int32, n7: Int32): void;"),
    newer: tree("a: [_7: Int32, x: Int32];") + actor("get(_7: Int32, x: Int32): void;"),
  },
];
