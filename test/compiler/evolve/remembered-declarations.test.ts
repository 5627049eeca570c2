/** What a lock remembers of declarations that are of another kind now, have gone, or have moved. */
import { describe, expect, test } from "vitest";
import type { Schema } from "../../../compiler/model/index.js";
import { expectRemembered, remember, said, shape, unsaid } from "./remember.js";

const kinds = {
  interface: "interface X { a?: Int32; b: string }",
  Oneof: "type X = Oneof<{ a: Int32; b: string }>;",
  union: 'type X = { kind: "a"; x: Int32 } | { kind: "b" };',
  enumeration: 'type X = "a" | "b";',
  "enumeration of numbers": "enum X { A = 0, B = 7 }",
  alias: "type X = Int32;",
};
/** Whether neither of two declarations has numbers, of which the lock keeps the names alone. */
const named = ({ 2: older, 3: newer }: readonly string[]) => !`${older}${newer}`.includes("enum X");
const pairs = Object.entries(kinds).flatMap(([was, older]) =>
  Object.entries(kinds).map(([is, newer]) => [was, is, older, newer] as const),
);

describe("declarations", () => {
  test.each(pairs)("of kind %s are remembered beside one of kind %s", (_, __, older, newer) => {
    const tree = "export interface Tree {\n  x: X;\n  list: X[];\n}\n";
    const { was, remembered } = remember(`export ${older}\n${tree}`, `export ${newer}\n${tree}`);
    // The names of values are all that the lock has of them.
    const hasNumbers = `${older}${newer}`.includes("enum X");
    const text = (of: Schema) => JSON.stringify(said(of)).replace(hasNumbers ? /,"value":(\d+|"[^"]*")/g : "", "");
    expect(JSON.parse(text(remembered))).toEqual(JSON.parse(text(was)));
  });

  test("that have gone are remembered as messages of which nothing is known, for those who refer to them", () => {
    const tree = "export interface Tree {\n  x?: Gone;\n  list: Other[];\n}\n";
    const { is, remembered } = remember(
      `${tree}export interface Gone {\n  a: Int32;\n}\nexport interface Other {\n  b: { c: Int32 };\n}\n`,
      "export interface Tree {\n  x?: Int32;\n  list: Int32[];\n}\n",
    );
    expect(remembered.modules[0]?.types.map(({ name }) => name)).toEqual(["Tree", "Gone", "Other"]);
    expect(shape(remembered, "Tree")).toMatchObject({
      fields: [
        { name: "x", type: { kind: "ref", target: "schemas/a.ts#Gone", args: [] }, optional: true },
        { name: "list", type: { kind: "array", element: { kind: "ref", target: "schemas/a.ts#Other", args: [] } } },
      ],
    });
    expect(remembered.modules[0]?.types[2]).toEqual({
      ...{ key: "schemas/a.ts#Other", name: "Other", exported: true, doc: "", typeParameters: [] },
      shape: { kind: "message", fields: [expect.objectContaining({ name: "b" })] },
      at: { file: "viceroy.lock", line: 4, column: 1 },
    });
    expect(is.modules[0]?.types.map(({ name }) => name)).toEqual(["Tree"]);
  });

  test("that had gone before are not", () => {
    const leaf = "export interface Leaf {\n  a: Int32;\n}\n";
    const tree = "export interface Tree {\n  x?: Int32;\n}\n";
    const retired = (lock: string) => lock.replace("message Leaf", "-message Leaf");
    const { remembered } = remember(leaf + tree, tree, { before: retired });
    expect(remembered.modules[0]?.types.map(({ name }) => name)).toEqual(["Tree"]);
  });

  test("that have come are as they are", () => {
    const { is, remembered } = remember(
      "export interface Tree {\n  a: Int32;\n}\n",
      'export interface Tree {\n  a: Int32;\n  leaf?: Leaf;\n}\nexport interface Leaf {\n  b: { c: "x" };\n}\nexport type Row = { d: Int32 }[];\nexport interface Clock extends Actor {\n  get(): Leaf;\n}\n',
    );
    for (const name of ["Leaf", "Row"]) expect(shape(remembered, name)).toEqual(shape(is, name));
    expect(remembered.modules[0]?.actors).toEqual([]);
  });

  test("of one name in two files are told apart by their files, and one that has moved follows its name", () => {
    const declare = (type: string) =>
      `export interface Leaf {\n  a: ${type};\n  next?: Leaf;\n  all: Leaf[];\n  in: { b: ${type} };\n}\n`;
    expectRemembered(
      { "schemas/a.ts": declare("string"), "schemas/b.ts": declare("boolean") },
      { "schemas/a.ts": declare("Date"), "schemas/b.ts": declare("Uint8Array") },
    );
    expectRemembered(
      { "schemas/a.ts": declare("string"), "schemas/b.ts": declare("boolean") },
      {
        "schemas/a.ts": declare("Date").replace("Leaf[]", "string"),
        "schemas/b.ts": declare("Date").replace("Leaf[]", "string"),
      },
    );
    const { remembered } = remember({ "schemas/a.ts": declare("string") }, { "schemas/c.ts": declare("Date") });
    expect(shape(remembered, "Leaf")).toMatchObject({
      fields: [
        { name: "a", type: { scalar: "string" } },
        { name: "next", type: { target: "schemas/c.ts#Leaf" } },
        {},
        { name: "in" },
      ],
    });
  });

  test("of a name that two other files have are not taken for one of those", () => {
    const leaf = "export interface Leaf {\n  a: string;\n}\n";
    const { is, remembered } = remember(
      { "schemas/a.ts": leaf, "schemas/b.ts": leaf },
      { "schemas/c.ts": leaf.replace("string", "boolean") },
    );
    expect(remembered.modules).toEqual(is.modules);
  });

  test("that have moved to a namespace are remembered by the names that they had", () => {
    const before =
      "export interface Tree {\n  leaf: Leaf;\n  kind: Kind;\n}\nexport interface Leaf {\n  a: { b: Int32 };\n}\nexport type Kind = 'x' | 'y';\n";
    const { remembered } = remember(
      before,
      "export interface Tree {\n  leaf: Order.Leaf;\n  kind: Order.Kind;\n}\nexport namespace Order {\n  export interface Leaf {\n    a: { b: string };\n  }\n  export type Kind = 'y';\n}\n",
    );
    expect(remembered.modules[0]?.types.map(({ name }) => name)).toEqual(["Tree", "Order.Leaf", "Order.Kind"]);
    expect(shape(remembered, "Tree")).toMatchObject({
      fields: [{ type: { target: "schemas/a.ts#Order.Leaf" } }, { type: { target: "schemas/a.ts#Order.Kind" } }],
    });
    const inner = { kind: "message", fields: [{ name: "b", type: { scalar: "int32" } }] };
    expect(shape(remembered, "Order.Leaf")).toMatchObject({ fields: [{ type: { shape: inner } }] });
    expect(shape(remembered, "Order.Kind")).toMatchObject({ values: [{ name: "x" }, { name: "y" }] });
  });
});

test("an alias that has moved to a namespace, and is a shape now, is remembered", () => {
  const { remembered } = remember(
    "export interface Tree {\n  row: Row;\n}\nexport type Row = Int32;\n",
    "export interface Tree {\n  row: Order.Row;\n}\nexport namespace Order {\n  export type Row = 'x' | 'y';\n}\n",
  );
  expect(shape(remembered, "Order.Row")).toEqual({ kind: "alias", type: { kind: "scalar", scalar: "int32" } });
});

describe("declarations in namespaces", () => {
  /** A shape without what the lock does not say. */
  const core = (schema: Schema, name: string) =>
    JSON.parse(JSON.stringify(shape(schema, name), (key, value: unknown) => (unsaid.has(key) ? undefined : value)));

  test.each(pairs.filter(named))(
    "that were a top-level %s are remembered beside a %s, and those who referred to them",
    (_, __, older, newer) => {
      const { was, remembered } = remember(
        `export interface Tree {\n  x: X;\n  list: X[];\n}\nexport ${older}\n`,
        `export interface Tree {\n  x: Order.X;\n  list: Int32;\n}\nexport namespace Order {\n  export ${newer}\n}\n`,
      );
      expect(core(remembered, "Order.X")).toEqual(core(was, "X"));
      const target = "schemas/a.ts#Order.X";
      expect(shape(remembered, "Tree")).toMatchObject({
        fields: [{ type: { target } }, { type: { element: { target } } }],
      });
    },
  );

  const leaf = (field: string) => `export interface Leaf {\n  ${field}\n}\n`;
  const order = (field: string) => `export namespace Order {\n${leaf(field)}}\n`;

  test("that have come beside a namesake are as they are", () => {
    const { remembered } = remember(leaf("a: Int32;"), leaf("a: string;") + order("b: string;"));
    expect(shape(remembered, "Leaf")).toMatchObject({ fields: [{ name: "a", type: { scalar: "int32" } }] });
    expect(shape(remembered, "Order.Leaf")).toMatchObject({ fields: [{ name: "b", type: { scalar: "string" } }] });
  });

  test("that have gone are not taken for a namesake that is still there", () => {
    const { remembered } = remember(leaf("a: Int32;") + order("b: string;"), leaf("a: string;"));
    expect(shape(remembered, "Leaf")).toMatchObject({ fields: [{ name: "a", type: { scalar: "int32" } }] });
  });

  test("that have left theirs are not taken for a namesake in another file", () => {
    const { remembered } = remember(
      { "schemas/a.ts": leaf("a: string;"), "schemas/b.ts": order("b: string;") },
      { "schemas/a.ts": leaf("a: boolean;"), "schemas/b.ts": leaf("b: boolean;") },
    );
    const [, moved] = remembered.modules.flatMap(({ types }) => types);
    expect(moved?.shape).toMatchObject({ fields: [{ name: "b", type: { scalar: "string" } }] });
  });
});
