/** Hand-made pairs: one of every difference between buf and us, and of what both find or both let pass. */

export interface SourcePair {
  readonly name: string;
  /** `same`: both let it pass; `broken`: both find the same members; else the names of the differences. */
  readonly shows: string | readonly string[];
  /** What is exported by `viceroy/schema` needs no import. */
  readonly older: string;
  readonly newer: string;
  readonly withoutLock?: true;
}

const scalars = [
  "number Float32 Int32 Uint32 Sint32 Fixed32 Sfixed32 Int64 Uint64 Sint64 Fixed64 Sfixed64 boolean string Uint8Array",
].flatMap((line) => line.split(" "));

/** Every scalar as every other, a field for each. */
function matrix(side: "older" | "newer"): string {
  const pairs = scalars.flatMap((older) => scalars.map((newer) => ({ older, newer })));
  return holder(pairs.map((pair, i) => `x${i}: ${pair[side]}`).join("; "));
}

const holder = (fields: string) => `export interface M { ${fields} }`;
const oneField = (type: string) => holder(`x: ${type}`);

export const corpus: readonly SourcePair[] = [
  {
    name: "members come and go",
    shows: "same",
    older: holder("a: string; b: Int32; c?: Date"),
    newer: holder("a: string; d?: string[]; c: Date | null"),
  },
  {
    name: "a member has another name",
    shows: "same",
    older: holder("a: string"),
    newer: holder("/** @was a */ b: string"),
  },
  {
    name: "an enum has a value more",
    shows: "same",
    older: "export enum E { A, B }\nexport interface M { x: E }",
    newer: "export enum E { A, B, C }\nexport interface M { x: E }",
  },
  {
    name: "a union has a variant more, and one less",
    shows: "same",
    older: 'export type U = { kind: "a"; x: Int32 } | { kind: "b" }',
    newer: 'export type U = { kind: "a"; x: Int32 } | { kind: "c" }',
  },
  {
    name: "an endpoint more",
    shows: "same",
    older: "export interface S extends Actor { get(): string }",
    newer: "export interface S extends Actor { get(): string; put(x: string): void }",
  },
  {
    name: "a record is a map",
    shows: "same",
    older: oneField("Record<string, Int32>"),
    newer: oneField("Map<string, Int32>"),
  },
  {
    name: "scalars",
    shows: ["integers of one encoding", "a string that becomes bytes"],
    older: matrix("older"),
    newer: matrix("newer"),
  },
  {
    name: "a string of bytes",
    shows: "a string that becomes bytes",
    older: oneField("string"),
    newer: oneField("Uint8Array"),
  },
  { name: "bytes become a string", shows: "broken", older: oneField("Uint8Array"), newer: oneField("string") },
  { name: "a number becomes a text", shows: "broken", older: oneField("Int32"), newer: oneField("string") },
  { name: "one becomes many", shows: "broken", older: oneField("string"), newer: oneField("string[]") },
  { name: "many become one", shows: "broken", older: oneField("string[]"), newer: oneField("string") },
  {
    name: "a list becomes a map",
    shows: "broken",
    older: oneField("string[]"),
    newer: oneField("Map<string, string>"),
  },
  {
    name: "the key of a map",
    shows: "broken",
    older: oneField("Map<string, Int32>"),
    newer: oneField("Map<Int32, Int32>"),
  },
  {
    name: "the value of a map",
    shows: "broken",
    older: oneField("Map<string, Int32>"),
    newer: oneField("Map<string, string>"),
  },
  { name: "a date becomes a duration", shows: "broken", older: oneField("Date"), newer: oneField("Duration") },
  {
    name: "an answer becomes a stream",
    shows: "broken",
    older: "export interface S extends Actor { get(): string }",
    newer: "export interface S extends Actor { get(): Stream<string> }",
  },
  {
    name: "the type of an argument",
    shows: "broken",
    older: "export interface S extends Actor { put(x: string): void }",
    newer: "export interface S extends Actor { put(x: Int32): void }",
  },
  {
    name: "two members become cases",
    shows: "broken",
    older: holder("/** @id 1 */ a?: string; /** @id 2 */ b?: string"),
    newer: holder("x?: Oneof<{ /** @id 1 */ a: string; /** @id 2 */ b: string }>"),
    withoutLock: true,
  },
  {
    name: "a member becomes a case beside another",
    shows: "broken",
    older: holder("/** @id 1 */ a?: string; x?: Oneof<{ /** @id 2 */ b: string }>"),
    newer: holder("x?: Oneof<{ /** @id 1 */ a: string; /** @id 2 */ b: string }>"),
    withoutLock: true,
  },
  {
    name: "one member becomes a case",
    shows: "one member in and out of a oneof",
    older: holder("/** @id 1 */ a?: string"),
    newer: holder("x?: Oneof<{ /** @id 1 */ a: string; /** @id 2 */ b: string }>"),
    withoutLock: true,
  },
  {
    name: "a oneof has another name",
    shows: "oneofs of other names",
    older: holder("x?: Oneof<{ /** @id 1 */ a: string; /** @id 2 */ b: string }>"),
    newer: holder("/** @was x */ y?: Oneof<{ /** @id 1 */ a: string; /** @id 2 */ b: string }>"),
  },
  {
    name: "a number for an enum",
    shows: "an enum and int32",
    older: "export enum E { A, B }\nexport interface M { x: E }",
    newer: "export enum E { A, B }\nexport interface M { x: Int32 }",
  },
  {
    name: "a map has another name",
    shows: "maps of other names",
    older: holder("a: Map<string, Int32>"),
    newer: holder("/** @was a */ b: Map<string, Int32>"),
  },
  {
    name: "the key of a map, an integer like the other",
    shows: "integers of one encoding",
    older: oneField("Map<Uint32, string>"),
    newer: oneField("Map<Int32, string>"),
  },
  {
    name: "a message with another name",
    shows: "types of other names that are alike",
    older: "export interface A { n: Int32 }\nexport interface B { n: Int32 }\nexport interface M { x: A }",
    newer: "export interface A { n: Int32 }\nexport interface B { n: Int32 }\nexport interface M { x: B }",
  },
  {
    name: "a message instead of another",
    shows: "broken",
    older: "export interface A { n: Int32 }\nexport interface B { m: Int32 }\nexport interface M { x: A }",
    newer: "export interface A { n: Int32 }\nexport interface B { m: Int32 }\nexport interface M { x: B }",
  },
  {
    name: "an enum instead of another",
    shows: "broken",
    older: "export enum A { N }\nexport enum B { M }\nexport interface M { x: A }",
    newer: "export enum A { N }\nexport enum B { M }\nexport interface M { x: B }",
  },
  {
    name: "an enum with another name",
    shows: "types of other names that are alike",
    older: "export enum A { N }\nexport enum B { N }\nexport interface M { x: A }",
    newer: "export enum A { N }\nexport enum B { N }\nexport interface M { x: B }",
  },
  {
    name: "a type is renamed and changes",
    shows: "members of a type with another name",
    older: "export interface A { n: Int32 }\nexport interface M { x: A }",
    newer: "export interface B { n: string }\nexport interface M { x: B }",
  },
  {
    name: "a member is required",
    shows: "required members",
    older: 'export interface M { x?: "a" | "b" }',
    newer: 'export interface M { x: "a" | "b"; y: "a" | "b" }',
  },
  {
    name: "a required member has gone",
    shows: "required members",
    older: 'export interface M { x: "a" | "b" }',
    newer: "export interface M {}",
  },
  {
    name: "a oneof is required",
    shows: "required oneofs",
    older: holder("x?: Oneof<{ /** @id 11 */ a: string; /** @id 12 */ b: string }>"),
    newer: holder("x: Oneof<{ /** @id 11 */ a: string; /** @id 12 */ b: string }>"),
  },
  { name: "a tuple is longer", shows: "tuples", older: oneField("[Int32]"), newer: oneField("[Int32, Int32?]") },
  { name: "a list becomes a set", shows: "sets", older: oneField("string[]"), newer: oneField("Set<string>") },
  {
    name: "a list of fewer bits",
    shows: "narrow elements",
    older: oneField("Sint32[]"),
    newer: oneField("Int16Array"),
  },
  { name: "a time of fewer digits", shows: "narrow elements", older: oneField("Timestamp"), newer: oneField("Date") },
  {
    name: "a value of an enum moves",
    shows: "values of enums that move",
    older: "export enum E { A, B }\nexport interface M { x: E }",
    newer: "export enum E { C, A, B }\nexport interface M { x: E }",
  },
  {
    name: "what a port takes",
    shows: "handles",
    older: "export interface S extends Actor { put(x: Port<string>): void }",
    newer: "export interface S extends Actor { put(x: Port<Int32>): void }",
  },
  {
    name: "an actor has gone",
    shows: "actors and endpoints that have gone",
    older: "export interface S extends Actor { put(): void }\nexport interface M {}",
    newer: "export interface M {}",
  },
  {
    name: "an endpoint has gone",
    shows: "actors and endpoints that have gone",
    older: "export interface S extends Actor { put(): void; get(): string }",
    newer: "export interface S extends Actor { put(): void }",
  },
  {
    name: "an endpoint can no longer be done twice",
    shows: "idempotent endpoints",
    older: "export interface S extends Actor { /** @idempotent */ get(): string }",
    newer: "export interface S extends Actor { get(): string }",
  },
  {
    name: "an endpoint has another id",
    shows: "ids of actors and endpoints",
    older: "export interface S extends Actor { /** @id 1 */ get(): string }",
    newer: "export interface S extends Actor { /** @id 2 */ get(): string }",
    withoutLock: true,
  },
  {
    name: "an endpoint has another name and another argument",
    shows: "endpoints with another name",
    older: "export interface S extends Actor { get(key: string): string }",
    newer: "export interface S extends Actor { /** @was get */ fetch(key: Int32): string }",
  },
  {
    name: "members are removed without a lock",
    shows: "numbers that are not reserved",
    older: 'export interface M { /** @id 1 */ a: string; /** @id 2 */ b: string; /** @id 3 */ c: "x" | "y" }',
    newer: 'export interface M { /** @id 1 */ a: string; /** @id 3 */ c: "x" }',
    withoutLock: true,
  },
  {
    name: "a value of an enum has gone",
    shows: "same",
    older: "export enum E { A, B }\nexport interface M { x: E }",
    newer: "export enum E { A }\nexport interface M { x: E }",
  },
];
