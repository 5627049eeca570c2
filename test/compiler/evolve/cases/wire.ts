/** Messages that one side refuses or reads as something else: where such a change is said to be, and what is none. */
import { actor, type Case, interfaceOf, replaced, tree, watch, without } from "./case.js";

const uses = "export interface Page<T> {\n  item?: T;\n}\nexport type Pair<A, B> = [A, B];\n";

const page = (count: string) => `export interface Page<T> {\n  items: T[];\n  count: ${count};\n}\n`;

const aliases = [
  ["in place", "Row"],
  ["in a list", "Row[]"],
  ["of lists", "Row[][]"],
  ["or null", "Row | null"],
  ["in a map", "Map<string, Row>"],
  ["as a key", "Map<Row, boolean>"],
  ["in a tuple", "[boolean, Row, Row]"],
  ["at the end of a tuple", "[boolean, ...Row[]]"],
  ["as an argument", "Page<Row>"],
  ["as the second argument of an alias", "Pair<boolean, Row>"],
  ["in a record", "Record<string, Set<Row>>"],
] as const;

export const wire: readonly Case[] = [
  // 5022
  {
    title: "VC5022 was fields",
    older: tree("/** @id 9 */ z: Int32;\n  is?: Oneof<{ /** @id 1 */ a: Int32 }>;"),
    newer: tree("/** @id 9 */ z: Int32;\n  is?: Oneof<{ a: Int32 }>;"),
  },
  {
    title: "VC5022 is fields",
    older: tree("z: Int32;\n  is?: Oneof<{ a: Int32 }>;"),
    newer: tree("z: Int32;\n  is?: Oneof<{ /** @id 7 */ a: Int32 }>;"),
    edit: without("  1 a int32\n"),
  },
  {
    title: "VC5022 in a oneof",
    older: "export type C = Oneof<{ a: Oneof<{ b: Int32 }> }>;\n",
    newer: "export type C = Oneof<{ a: Oneof<{ /** @id 4 */ b: Int32 }> }>;\n",
    edit: without("  1 b int32\n"),
  },
  {
    title: "VC5022 stays",
    older: tree("is?: Oneof<{ /** @id 4 */ a: Int32 }>;"),
    newer: tree("is?: Oneof<{ /** @id 4 */ a: Int32; /** @id 5 */ b: Int32 }>;"),
  },

  { title: "a field", older: tree("a: Int32;"), newer: tree("a: string;") },
  {
    title: "a field that has gone and must be there",
    older: tree('a: "x" | "y";\n  b: Int32;'),
    newer: tree("b: Int32;"),
  },
  {
    title: "a field of a type that nobody can import and no actor sends",
    older: `interface Leaf { a: Int32 }\n${tree("a?: Int32;")}`,
    newer: `interface Leaf { a: string }\n${tree("a?: Int32;")}`,
  },
  {
    title: "a type that one side alone exports",
    older: interfaceOf("Leaf", "a: Int32;") + tree("leaf: Leaf;"),
    newer: `interface Leaf { a: string }\n${tree("leaf: Leaf;")}`,
  },
  {
    title: "an argument of a constructor",
    older: actor("get(): Int32;", "<[zone: string, leaf?: { a: Int32 }]>"),
    newer: actor("get(): Int32;", "<[zone: Int32, leaf?: { a: Int64 }]>"),
  },
  {
    title: "a constructor of an actor that has gone",
    older: actor("get(): Int32;", "<[zone: string]>") + watch("get(): Int32;"),
    newer: watch("get(): Int32;"),
  },
  {
    title: "an actor that has come",
    older: watch("get(): Int32;"),
    newer: actor("get(): Int32;", "<[zone: string]>") + watch("get(): Int32;"),
  },
  {
    title: "a result, and what is inside of it",
    older: actor("get(): Int32;\n  all(): { name: Int32; deep: { a: Int32 }[] };\n  list(): { b: Int32 }[];"),
    newer: actor("get(): string;\n  all(): { name: string; deep: { a: string }[] };\n  list(): { b: string }[];"),
  },
  {
    title: "items of a stream",
    older: actor("ticks(): Stream<{ at: Int32 }>;"),
    newer: actor("ticks(): Stream<{ at: string }>;"),
  },
  {
    title: "a parameter that has gone",
    older: actor('get(a: "x", b: Int32): void;'),
    newer: actor("get(b: Int32): void;"),
  },
  {
    title: "an endpoint and an actor that have gone",
    older: actor("get(): Int32;\n  put(): void;") + watch("get(): Int32;"),
    newer: actor("put(): void;"),
  },
  {
    title: "a generic type, of which there is a message for each use",
    older: `export interface Page<T> {\n  items: T[];\n  count: Int32;\n}\n${tree("a: Page<Int32>;\n  b: Page<string>;")}`,
    newer: `export interface Page<T> {\n  items: T[];\n  count: string;\n}\n${tree("a: Page<Int32>;\n  b: Page<string>;")}`,
  },
  {
    title: "a generic type with another argument",
    older: `export interface Page<T> {\n  items: T[];\n}\n${tree("a: Page<Int32>;")}`,
    newer: `export interface Page<T> {\n  items: T[];\n}\n${tree("a: Page<string>;")}`,
  },
  {
    title: "a generic type that no other refers to any more",
    older: `export interface Page<T> {\n  items: T[];\n  count: Int32;\n}\n${tree("a?: Page<Int32>;")}`,
    newer: `export interface Page<T> {\n  items: T[];\n  count: string;\n}\n${tree("a?: Int32;")}`,
  },
  {
    title: "values of an exported enum",
    older: "export enum E {\n  A = 0,\n  B = 1,\n  C = 2,\n}\n",
    newer: "export enum E {\n  A = 0,\n  C = 1,\n  B = 2,\n}\n",
  },
  {
    title: "values of an enum that is not exported",
    older: `enum E {\n  A = 0,\n  B = 1,\n  C = 2,\n}\n${tree("a?: Int32;")}`,
    newer: `enum E {\n  A = 0,\n  C = 1,\n  B = 2,\n}\n${tree("a?: Int32;")}`,
  },
  {
    title: "two declarations of one name in two files",
    older: {
      "schemas/a.ts": "export interface Leaf {\n  a: string;\n}\n",
      "schemas/b.ts": "\nexport interface Leaf {\n  b: string;\n}\n",
    },
    newer: {
      "schemas/a.ts": "export interface Leaf {\n  a: number;\n}\n",
      "schemas/b.ts": "\nexport interface Leaf {\n  b: number;\n}\n",
    },
  },
  // The line that has changed.
  ...aliases.map(
    ([what, use]): Case => ({
      title: `an alias, ${what}`,
      older: `export type Row = Int32;\n${uses}${tree(`row: ${use};`)}`,
      newer: `export type Row = string;\n${uses}${tree(`row: ${use};`)}`,
    }),
  ),
  {
    title: "an alias of an alias",
    older: `export type Row = Int32;\nexport type Rows = Row[];\n${tree("rows: Rows;")}`,
    newer: `export type Row = string;\nexport type Rows = Row[];\n${tree("rows: Rows;")}`,
  },
  {
    title: "an alias that has not changed",
    older: `export type Row = Int32;\n${tree("rows: Row[];")}`,
    newer: `export type Row = Int32;\n${tree("rows: Set<Row>;")}`,
  },
  {
    title: "an interface behind a field, which has changed itself",
    older: interfaceOf("Leaf", "a: Int32;") + tree("leaf: Leaf;"),
    newer: interfaceOf("Leaf", "a: string;") + tree("leaf: Leaf;"),
  },
  {
    title: "an interface that is a union now",
    older: `export interface Leaf { a?: Int32 }\n${tree("leaf: Leaf;")}`,
    newer: `export type Leaf = { kind: "b" } | { kind: "c" };\n${tree("leaf: Leaf;")}`,
  },
  {
    title: "a recursive alias",
    older: `export type Row = { next?: Row; a: Int32 };\n${tree("row: Row;")}`,
    newer: `export type Row = { next?: Row; a: string };\n${tree("row: Row;")}`,
  },
  {
    title: "an alias in a shape that is written in place",
    older: `export type Row = Int32;\n${tree("at: { row: Row }[];")}`,
    newer: `export type Row = string;\n${tree("at: { row: Row }[];")}`,
  },
  {
    title: "an alias that has come",
    older: `${tree("row: Int32;\n  leaf: Leaf;")}${interfaceOf("Leaf", "a: Int32;")}`,
    newer: `export type Row = string;\n${tree("row: Row;\n  leaf: Leaf;")}${interfaceOf("Leaf", "a: Int32;")}`,
  },
  // The lock.
  {
    title: "VC5018 an id for another name",
    older: tree("a: Int32;\n  b?: Int32;"),
    newer: tree("a: Int32;\n  c?: Int32;"),
    edit: replaced("  2 b", "  2 c"),
  },
  {
    title: "VC5018 an id that is freed and given again",
    older: tree("a: Int32;\n  b?: Int32;"),
    newer: tree("a: Int32;\n  c?: Int32;"),
    before: replaced("  2 b", "  2 -b"),
    edit: replaced("  2 b", "  2 c"),
  },
  {
    title: "VC5018 a rename",
    older: tree("a: Int32;\n  b?: Int32;"),
    newer: tree("a: Int32;\n  c?: Int32;"),
    edit: replaced("  2 b int32?", "  2 c int32? was=x,b"),
  },
  {
    title: "VC5018 a tombstone of another name",
    older: tree("a: Int32;\n  b?: Int32;"),
    newer: tree("a: Int32;"),
    edit: replaced("  2 b", "  2 -x"),
  },
  {
    title: "VC5018 a value of an enum",
    older: 'export type E = "a" | "b";\n',
    newer: 'export type E = "a" | "c";\n',
    edit: replaced("  2 b", "  2 c"),
  },
  {
    title: "VC5018 a value of an enum that had gone",
    older: 'export type E = "a" | "b";\n',
    newer: 'export type E = "a" | "c";\n',
    before: replaced("  2 b", "  2 -b"),
    edit: replaced("  2 b", "  2 c"),
  },
  {
    title: "VC5019 a member",
    older: tree("a: Int32;\n  b?: Int32;"),
    newer: tree("a: Int32;"),
    edit: without("  2 b int32?\n"),
  },
  {
    title: "VC5019 a value whose number is 0",
    older: "export enum E {\n  A = 0,\n  B = 1,\n}\n",
    newer: "export enum E {\n  B = 1,\n}\n",
    edit: without("  0 A\n"),
  },
  {
    title: "VC5019 a declaration",
    older: `${tree("a: Int32;")}export type E = "a" | "b";\n`,
    newer: tree("a: Int32;"),
    edit: without("enum E in schemas/a next=3\n  1 a\n  2 b\n"),
  },
  {
    title: "VC5019 an endpoint",
    older: actor("get(): void;\n  put(): void;"),
    newer: actor("put(): void;"),
    edit: without("  1 get next=1 () -> void\n"),
  },

  {
    title: "a Oneof that must be there, whose cases were fields",
    older: tree("/** @id 9 */ z: Int32;\n  is: Oneof<{ /** @id 1 */ a: Int32 }>;"),
    newer: tree("/** @id 9 */ z: Int32;\n  is: Oneof<{ a: Int32 }>;"),
  },
  {
    title: "a type that only another declaration reaches now, not exported",
    older: `interface Leaf {\n  a: Int32;\n}\n${tree("leaf?: Leaf;")}`,
    newer: `interface Leaf {\n  a: string;\n}\n${tree("")}${interfaceOf("Other", "leaf: Leaf;")}`,
  },
  {
    title: "a type that only another declaration reaches now, exported before",
    older: `export interface Leaf {\n  a: Int32;\n}\n${tree("leaf?: Leaf;")}`,
    newer: `interface Leaf {\n  a: string;\n}\n${tree("")}${interfaceOf("Other", "leaf: Leaf;")}`,
  },
  {
    title: "a type that only another declaration reaches now, exported",
    older: `export interface Leaf {\n  a: Int32;\n}\n${tree("leaf?: Leaf;")}`,
    newer: `export interface Leaf {\n  a: string;\n}\n${tree("")}${interfaceOf("Other", "leaf: Leaf;")}`,
  },
  {
    title: "a generic type of which one use has gone",
    older: `${page("Int32")}${tree("a?: Page<Int32>;\n  b?: Page<string>;")}`,
    newer: `${page("Int32")}${tree("b?: Page<string>;")}`,
  },
  {
    title: "a generic type that others use now",
    older: `${page("Int32")}${tree("a?: Page<Int32>;\n  b?: Page<string>;")}`,
    newer: `${page("string")}${tree("")}${interfaceOf("Other", "a?: Page<Int32>;\n  b?: Page<string>;")}`,
  },
  {
    title: "a type that has moved to a namespace",
    older: interfaceOf("Leaf", "a: Int32;"),
    newer: "export namespace Order {\n  export interface Leaf {\n    a: string;\n  }\n}\n",
  },
  {
    title: "a value, where an alias stands on its line of the newer schema",
    older: `export type Row = Int32;\n${tree('a: "x" | "y";\n  row: Row;')}`,
    newer: `export type Row = string;\n${tree("row: Row;")}`,
  },
  {
    title: "a field whose alias and whose own line have changed",
    older: `export type Row = Int32;\n${tree("rows: Row[];")}`,
    newer: `export type Row = string;\n${tree("rows: Row[][];")}`,
  },
  {
    title: "an argument of an alias that has not changed",
    older: `export type Row = Int32;\nexport type Box<T> = T[];\n${tree("row: Box<Row>;")}`,
    newer: `export type Row = string;\nexport type Box<T> = T[];\n${tree("row: Box<Row>;")}`,
  },
  {
    title: "a choice that is required, with an alias inside",
    older: `export type Row = Int32;\n${tree('at?: { kind: "a"; row: Row } | { kind: "b" };')}`,
    newer: `export type Row = string;\n${tree('at: { kind: "a"; row: Row } | { kind: "b" };')}`,
  },
  {
    title: "an alias that is an interface now",
    older: `export type Row = { a: Int32 }[];\n${tree("row: Row;")}`,
    newer: `export interface Row { a: Int32 }\n${tree("row: Row;")}`,
  },
  {
    title: "an enum that is an interface now",
    older: `export type Row = "a" | "b";\n${tree("row: Row;")}`,
    newer: `export interface Row { a: Int32 }\n${tree("row: Row;")}`,
  },
  {
    title: "aliases that refer to each other",
    older: `export type Row = { next?: Rows };\nexport type Rows = Row[] | null;\n${tree("row: Rows;\n  a: Int32;")}`,
    newer: `export type Row = { next?: Rows };\nexport type Rows = Row[] | null;\n${tree("row: Rows;\n  a: string;")}`,
  },

  {
    title: "a list of an alias that is a set, where the alias has changed too",
    older: `export type Row = Int32;\n${tree("rows: Row[];")}`,
    newer: `export type Row = string;\n${tree("rows: Set<Row>;")}`,
  },
  {
    title: "an enum that is an alias of a list now, exported",
    older: 'export type E = "a" | "b";\nexport interface M { a: Int32 }\n',
    newer: 'export interface E { a: Int32 }\nexport type M = "a" | "b";\n',
  },

  {
    title: "VC5023 a state that is exchanged for a type without its fields",
    older: tree("sum: Int32;") + actor("a(): void;", "<[], Tree>"),
    newer: tree("sum: Int32;") + interfaceOf("Log", "lines: string[];") + actor("a(): void;", "<[], Log>"),
  },
  {
    title: "VC5023 a state that is exchanged for a type that reads it",
    older: tree("sum: Int32;") + actor("a(): void;", "<[], Tree>"),
    newer: `${tree("sum: Int32;")}${interfaceOf("Log", "sum: Int32;\n  more?: string;")}${actor("a(): void;", "<[], Log>")}`,
  },
  {
    title: "VC5023 a state that is exchanged for a type whose member has the number of another one",
    older: tree("sum: Int32;") + actor("a(): void;", "<[], Tree>"),
    newer: tree("sum: Int32;") + interfaceOf("Log", "total: Int32;") + actor("a(): void;", "<[], Log>"),
  },
  {
    title: "VC5023 a state that is exchanged, behind an alias on both sides",
    older: `${tree("sum: Int32;")}export type State = Tree;\n${actor("a(): void;", "<[], State>")}`,
    newer: `${tree("sum: Int32;")}${interfaceOf("Log", "sum: string;")}export type State = Log;\n${actor("a(): void;", "<[], State>")}`,
  },
  {
    title: "VC5023 a state that has another alias, and an actor that has got a state",
    older: tree("sum: Int32;") + actor("a(): void;", "<[], Tree>") + watch("b(): void;"),
    newer: `${tree("sum: Int32;")}export type State = Tree;\n${actor("a(): void;", "<[], State>")}${actor("b(): void;", "<[], Tree>").replace("Clock", "Watch")}`,
  },
  {
    title: "VC5023 a state that is gone, of an actor that is renamed",
    older: tree("sum: Int32;") + actor("a(): void;", "<[], Tree>"),
    newer: tree("sum: Int32;") + watch("a(): void;"),
    edit: replaced("actor Clock", "actor Watch"),
  },
  {
    title: "a state whose member has another type",
    older: tree("sum: Int32;") + actor("a(): void;", "<[], Tree>"),
    newer: tree("sum: string;") + actor("a(): void;", "<[], Tree>"),
  },
  {
    title: "a state that is not exported and whose member has another type",
    older: tree("sum: Int32;").replace("export ", "") + actor("a(): void;", "<[], Tree>"),
    newer: tree("sum: string;").replace("export ", "") + actor("a(): void;", "<[], Tree>"),
  },
];
