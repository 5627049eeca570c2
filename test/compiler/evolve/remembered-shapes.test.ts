/** The schemas that a lock remembers: everything of the wire as it was, whatever has changed since. */
import { describe, expect, test } from "vitest";
import type { Schema } from "../../../compiler/model/index.js";
import { expectRemembered, remember, said, shape } from "./remember.js";

const leaf = "export interface Leaf<T> {\n  value: T;\n}\n";
const types = [
  "Int32",
  "string | null",
  "Int32[][]",
  "Set<string>[]",
  "Map<string, Map<Int32, boolean>>",
  "Record<string, Int32[]>",
  "[Int32, string?, ...boolean[]]",
  "Uint8Array",
  "Float64Array",
  "Leaf<Int32>",
  "Leaf<Leaf<string>[]> | null",
  "Any",
  "{ a: Int32; b?: string }",
  "{ a: { b: { c: Int32 } } }[] | null",
  "Map<string, { a: Int32 }>",
  "Record<string, { a: Int32 }[]>",
  "Set<string> | null",
  "[{ a: Int32 }, { b: string }?, ...{ c: boolean }[]]",
  "Leaf<{ a: Int32 }>",
  '"x" | "y"',
  'Set<"x" | "y">',
  "{ a: Int32 } | null",
  "Map<'k' | 'l', Int32>",
  '({ kind: "a"; x: Int32 } | { kind: "b" })[]',
  "Oneof<{ a: { b: Int32 }; d: { c: string } }>",
] as const;

describe.each(types)("the type %s", (type) => {
  const before = `${leaf}export interface Tree {\n  is: ${type};\n  more?: string;\n}\n`;

  test("is remembered after its field got another type", () => {
    expectRemembered(before, `${leaf}export interface Tree {\n  is: Uint32;\n  more?: string;\n}\n`);
  });

  test("is remembered after its field was removed", () => {
    expectRemembered(before, `${leaf}export interface Tree {\n  more?: string;\n}\n`);
  });

  test("is remembered after its field became optional and moved", () => {
    expectRemembered(before, `${leaf}export interface Tree {\n  more: string;\n  is?: ${type};\n}\n`);
  });

  const changed = type
    .replace("a: Int32", "a?: string; z: Int32")
    .replace("c: Int32", "c: Uint32")
    .replace("c: string", "d: Uint32")
    .replace('"x" | ', "")
    .replace("'k' | ", "")
    .replace('| { kind: "b" }', '| { kind: "c" }')
    .replace("x: Int32", "x: string")
    .replace("c: boolean", "c: Uint32");

  test("is remembered after its inner types have changed", () => {
    expectRemembered(before, before.replace(type, changed));
  });

  test("is remembered as the type of an alias", () => {
    const alias = `${leaf}export type Row = ${type};\nexport interface Tree {\n  row: Row;\n}\n`;
    for (const other of ["Uint32", "Oneof<{ q: Int32 }>", '"m" | "n"', "{ q: Int32 }", "Uint32[]"])
      expectRemembered(alias, alias.replace(`Row = ${type}`, `Row = ${other}`));
  });

  test("is remembered as a parameter, a result, a stream item, a port and a constructor argument", () => {
    const actor = (of: string) =>
      `${leaf}export interface Clock extends Actor<[first: ${of}, second?: string]> {\n  get(a: ${of}, b?: ${of}): ${of};\n  all(): Stream<${of}>;\n  put(to: Port<${of}>): void;\n}\n`;
    expectRemembered(actor(type), actor("Uint32"));
    expectRemembered(actor(type), actor(changed));
    expectRemembered(actor(type), `${leaf}export interface Clock extends Actor {\n  other(): void;\n}\n`);
    expectRemembered(actor(type), actor(type).replace("b?:", "b:").replace("a:", "z:"));
  });

  test("is remembered as an argument and as the result of a task", () => {
    const task = (of: string) => `${leaf}export interface Sort extends Task<[a: ${of}, b?: ${of}], ${of}> {}\n`;
    expectRemembered(task(type), task("Uint32"));
    expectRemembered(task(type), task(changed));
    expectRemembered(task(type), `${leaf}export interface Sort extends Task {}\n`);
    expectRemembered(task(type), task(type).replace("b?:", "b:").replace("a:", "z:"));
  });
});

test("meshes, ports, RDMA buffers and tensors are remembered as parameters", () => {
  const before = `export interface Clock extends Actor {
  join(others: Mesh<Clock, "gpus">, any: Mesh<Clock>, to: Port<Int32[]>): void;
  lend(buffer: RdmaBuffer, tensor: Tensor): void;
}
`;
  expectRemembered(before, "export interface Clock extends Actor {\n  join(a: Int32, b: Int32, c: Int32): void;\n}\n");
  expectRemembered(before, before.replace('"gpus"', '"cpus"').replace("Int32[]", "string"));
});

describe("members of the remembered schema", () => {
  const before = `export interface Tree {
  a: Int32;
  inner: { c: string };
}
export interface Clock extends Actor<[zone: string]> {
  /** @timeout 5s */
  get(key: string, limit?: Int32): string;
  put(key: string): void;
}
export type Choice = { kind: "a"; x: Int32 } | { kind: "b" };
export enum Mode { On = "on", Off = "off" }
`;

  test("have their current position, or their line of the lock if they were removed", () => {
    const after = `export interface Tree {

  /** @was a */ z: string;
}
export interface Clock extends Actor {
  /** @idempotent */

  get(
    limit?: Int32): string;
}
export type Choice = { kind: "a"; x: string };
export enum Mode { On = "on" }
`.replace('{ kind: "a"; x: string }', '{ kind: "a"; x: string } | { kind: "c" }');
    const { remembered } = remember(before, after);
    const place = ({ at }: { readonly at: { readonly file: string; readonly line: number } }) =>
      `${at.file}:${at.line}`;
    const tree = shape(remembered, "Tree");
    expect(tree.kind === "message" && tree.fields.map((field) => `${field.name} ${place(field)}`)).toEqual([
      "a schemas/a.ts:4",
      "inner viceroy.lock:17",
    ]);
    const choice = shape(remembered, "Choice");
    expect(choice.kind === "union" && choice.variants.map((one) => `${one.tag} ${place(one)}`)).toEqual([
      "a schemas/a.ts:12",
      "b viceroy.lock:4",
    ]);
    const mode = shape(remembered, "Mode");
    expect(mode.kind === "enum" && mode.values.map((one) => `${one.name} ${one.value} ${place(one)}`)).toEqual([
      "On on schemas/a.ts:13",
      "Off Off viceroy.lock:14",
    ]);
    const clock = remembered.modules[0]?.actors[0];
    expect(clock?.args.map((one) => `${one.name} ${place(one)}`)).toEqual(["zone schemas/a.ts:6"]);
    expect(clock?.endpoints.map((one) => [`${one.name} ${place(one)}`, ...one.params.map(place)])).toEqual([
      ["get schemas/a.ts:9", "schemas/a.ts:9", "schemas/a.ts:10"],
      ["put viceroy.lock:11", "viceroy.lock:11"],
    ]);
  });

  test("have the current options of their endpoint, or the defaults if it was removed", () => {
    const { remembered } = remember(before, before.replace("@timeout 5s", "@idempotent").replace(/ {2}put.*\n/, ""));
    const [get, put] = remembered.modules[0]?.actors[0]?.endpoints ?? [];
    expect(get?.options).toEqual({ concurrent: false, idempotent: true, respond: false });
    expect(put?.options).toEqual({ concurrent: false, idempotent: false, respond: false });
    expect([put?.doc, put?.tags, put?.stream]).toEqual(["", {}, false]);
  });

  test("do not include members that the lock had retired before", () => {
    const gone = ["inner message", "put next", "limit: ", "Off"];
    const retired = (lock: string) => gone.reduce((text, one) => text.replace(` ${one}`, ` -${one}`), lock);
    const after = before
      .replace("  inner: { c: string };\n", "")
      .replace(", limit?: Int32", "")
      .replace(', Off = "off"', "");
    const { remembered } = remember(before, after.replace(/ {2}put.*\n/, ""), { before: retired });
    expect(shape(remembered, "Tree")).toMatchObject({ fields: [{ name: "a" }] });
    expect(shape(remembered, "Mode")).toMatchObject({ values: [{ name: "On" }] });
    expect(remembered.modules[0]?.actors[0]?.endpoints).toMatchObject([{ name: "get", params: [{ name: "key" }] }]);
  });

  test("include a removed case with its `@id` tag if all cases of the Oneof have one", () => {
    const tree = (cases: string) => `export interface Tree {\n  one?: Oneof<{ ${cases} }>;\n}\n`;
    const both = tree("/** @id 3 */ a: Int32; /** @id 4 */ b: string");
    const { remembered } = remember(both, tree("/** @id 3 */ a: Int32"));
    expect(shape(remembered, "Tree")).toMatchObject({
      fields: [{ type: { shape: { cases: [{ tags: { id: 3 } }, { name: "b", id: 4, tags: { id: 4 } }] } } }],
    });
    const { remembered: plain } = remember(tree("a: Int32; b: string"), tree("a: Int32"));
    const field = shape(plain, "Tree");
    const type = field.kind === "message" ? field.fields[0]?.type : undefined;
    expect(type?.kind === "inline" && type.shape.kind === "oneof" && type.shape.cases[1]?.tags).toEqual({});
  });

  test("do not include removed members whose type the lock cannot name", () => {
    const members = `export interface Tree {
  a: Date;
  b: string;
}
export type Choice = { kind: "a"; x: Int32 } | { kind: "b" };
export type Row = Int64;
export interface Clock extends Actor {
  get(a: Uint32, b?: string): boolean;
}
`;
    const lost = (lock: string) =>
      ["date", "int64", "uint32", "string?", "1 a message", "boolean"].reduce(
        (text, one) =>
          text.replace(one, one.replace(/(date|int64|uint32|string|message|boolean)$|string(?=\?)/, "Nothing")),
        lock,
      );
    const after =
      "export interface Tree {}\nexport type Choice = { kind: 'c' } | { kind: 'd' };\nexport type Row = boolean;\nexport interface Clock extends Actor {}\n";
    const { remembered } = remember(members, after, { before: lost });
    expect(shape(remembered, "Tree")).toMatchObject({ fields: [{ name: "b" }] });
    expect(shape(remembered, "Choice")).toMatchObject({ variants: [{ tag: "b" }] });
    expect(shape(remembered, "Row")).toEqual({ kind: "alias", type: { kind: "scalar", scalar: "boolean" } });
    const [get] = remembered.modules[0]?.actors[0]?.endpoints ?? [];
    expect([get?.params, get?.result]).toEqual([[], undefined]);
    // A member that still has its id gets its current type.
    const { remembered: same } = remember(members, members, { before: lost });
    expect(shape(same, "Tree")).toMatchObject({ fields: [{ type: { scalar: "date" } }, { name: "b" }] });
  });

  test("do not include a removed member whose inline shape has no block in the lock", () => {
    const tree = "export interface Tree {\n  a?: { b: Int32 };\n  c: Int32;\n}\n";
    const cut = (lock: string) => lock.replace("message Tree.a in schemas/a next=2\n  1 b int32\n", "");
    const { remembered } = remember(tree, "export interface Tree {\n  c: Int32;\n}\n", { before: cut });
    expect(shape(remembered, "Tree")).toMatchObject({ fields: [{ name: "c" }] });
  });

  test("are remembered from the blocks of shapes if an older lock has no block for the alias", () => {
    const row = (type: string) => `export type Row = { a: ${type} }[];\n`;
    const older = (lock: string) => lock.replace(/^alias .*\n.*\n/m, "");
    const { was, remembered } = remember(row("Int32"), row("string"), { before: older });
    expect(said(remembered)).toEqual(said(was));
    const empty = (lock: string) => lock.replace(/^(alias .*\n).*\n/m, "$1");
    const { is, remembered: nothing } = remember("export type Row = Int32;\n", "export type Row = string;\n", {
      before: empty,
    });
    expect(said(nothing)).toEqual(said(is));
  });

  test("refer to the type parameters of a generic type", () => {
    expectRemembered(
      "export interface Page<T, S> {\n  items: T[];\n  one?: T;\n  map: Map<string, S>;\n}\n",
      "export interface Page<T, S> {\n  items: S;\n  map: Int32;\n}\n",
    );
  });

  test("refer to types of other files unless two files declare the same name", () => {
    const files = (type: string, more = "") => ({
      "schemas/a.ts": "export interface Leaf {\n  x: string;\n}\n",
      "schemas/b.ts": `import type { Leaf } from "./a.js";\nexport interface Tree {\n  a: ${type};\n  b: string;\n  u?: Leaf;\n}\n`,
      ...(more !== "" && { "schemas/c.ts": more }),
    });
    expectRemembered(files("Leaf[]"), files("string"));
    const { remembered } = remember(files("Leaf[]"), files("string", "export interface Leaf {\n  x: string;\n}\n"));
    expect(shape(remembered, "Tree")).toMatchObject({ fields: [{ name: "a", type: { scalar: "string" } }, {}, {}] });
  });

  test("do not include endpoints of a removed actor in a type of the same name", () => {
    const after = "export interface Clock {\n  a: Int32;\n}\n";
    const { is, remembered } = remember("export interface Clock extends Actor {\n  get(): Int32;\n}\n", after);
    expect(shape(remembered, "Clock")).toEqual(shape(is, "Clock"));
  });

  test("include only the endpoints of an actor whose constructor is missing in an edited lock", () => {
    const clock = "export interface Clock extends Actor<[zone: string]> {\n  get(key: string): Int32;\n}\n";
    const cut = (lock: string) => lock.replace(/^ {2}0 new.*\n/m, "");
    const [actor] = remember(clock, clock, { before: cut }).remembered.modules[0]?.actors ?? [];
    expect(actor?.args).toEqual([]);
    expect(actor?.endpoints.map(({ name }) => name)).toEqual(["get"]);
  });

  test("have their earlier void, value or stream result, and a type named Upstream is no stream", () => {
    const clock = (result: string) =>
      `export interface Upstream<T> {\n  value: T;\n}\nexport interface Clock extends Actor {\n  get(): ${result};\n}\n`;
    for (const [was, is] of [
      ["void", "Int32"],
      ["Upstream<Int32>", "void"],
      ["Stream<Int32>", "Int32"],
      ["Int32", "Stream<Int32>"],
    ] as const)
      expectRemembered(clock(was), clock(is));
  });

  test("have neither documentation nor tags if they were removed", () => {
    const { remembered } = remember(
      "export interface Tree {\n  a?: Int32;\n  b: Int32;\n}\nexport type Kind = 'x' | 'y';\n",
      "export interface Tree {\n  b: Int32;\n}\nexport type Kind = 'y';\n",
    );
    const at = (line: number) => ({ file: "viceroy.lock", line, column: 1 });
    const tree = shape(remembered, "Tree");
    expect(tree.kind === "message" && tree.fields[0]).toEqual({
      ...{ name: "a", id: 1, type: { kind: "scalar", scalar: "int32" }, optional: true, readonly: false },
      ...{ doc: "", tags: {}, at: at(6) },
    });
    const kind = shape(remembered, "Kind");
    expect(kind).toMatchObject({ kind: "enum", origin: "enum" });
    expect(kind.kind === "enum" && kind.values[0]).toEqual({ name: "x", value: "x", id: 1, doc: "", at: at(3) });
  });

  test("include a removed case without an `@id` tag if not all cases of the current Oneof have one", () => {
    const one = (cases: string) => `export type One = Oneof<{ ${cases} }>;\n`;
    for (const after of [one("/** @id 1 */ a: Int32; c: string"), "export interface One {}\n"]) {
      const found = shape(remember(one("a: Int32; b: string; c: string"), after).remembered, "One");
      expect(found.kind === "oneof" && found.cases.map(({ name, tags }) => [name, name === "b" && tags])).toEqual([
        ["a", false],
        ["b", {}],
        ["c", false],
      ]);
    }
  });

  test("have the current discriminant of their union, or `kind` if it is no union any more", () => {
    const before = 'export type Choice = { kind: "a" } | { kind: "b" };\n';
    const discriminant = (after: string) => {
      const choice = shape(remember(before, after).remembered, "Choice");
      return choice.kind === "union" && choice.discriminant;
    };
    expect(discriminant(before.replaceAll("kind:", "is:"))).toBe("is");
    expect(discriminant("export type Choice = Int32;\n")).toBe("kind");
  });

  test.each([
    ["1 | 'a'", "1", [1, "a"]],
    ["'a' | 'b'", "'a'", ["a", "b"]],
    ["1 | 2", "1", [1, 2]],
    ["{ A = 0, B = 1 }", "{ A = 0 }", [0, 1]],
    ["{ A = 0, B = 1 }", "{ C = 0, D = 1 }", [0, 1]],
    ['{ A = "a", B = "b" }', '{ C = "c" }', ["A", "B"]],
    ['{ A = "a", B = "b" }', '{ A = "a", /** @was B */ C = "c" }', ["a", "B"]],
    ["{ A = 5, B = 7 }", "{ A = 5, C = 9 }", [5, 7]],
  ])("include the values of the enum %s after a change to %s", (before, after, values) => {
    const declare = (text: string) => (text.startsWith("{") ? `export enum E ${text}\n` : `export type E = ${text};\n`);
    const found = shape(remember(declare(before), declare(after)).remembered, "E");
    expect(found.kind === "enum" && found.values.map(({ value }) => value)).toEqual(values);
  });
});

test("an unchanged schema is remembered with the details that the lock does not record", () => {
  const text = `/** A tree. */
export interface Tree {
  /** @json leaves */ readonly a: readonly Int32[];
  b?: [x: Int32, y?: string];
  c: Pair;
  d: { is: "x" } | { is: "y"; z: Int32 };
  e: Map<string, { f: Int32 }>;
}
export type Pair = [x: Int32, { y: string }];
export enum Mode { /** On. */ On = "on", Off = "off" }
export interface Clock extends Actor<[zone: string]> {
  /** @timeout 5s @idempotent */ get(key: string, limit?: Int32): [a: Int32, b: string];
  ticks(): Stream<Tree>;
}
`.replace("/** @timeout 5s @idempotent */", "/** @idempotent */");
  const { is, remembered } = remember(text, text);
  const enums = (schema: Schema) =>
    JSON.parse(JSON.stringify(schema).replaceAll('"origin":"literals"', '"origin":"enum"'));
  expect(enums(remembered)).toEqual(enums(is));
});
