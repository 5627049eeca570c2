/** The declarations that a lock remembers after they changed their kind, were removed or moved. */
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
/** Tells whether neither of two declarations is an enum of numbers, of which the lock keeps only the names. */
const named = ({ 2: older, 3: newer }: readonly string[]) => !`${older}${newer}`.includes("enum X");
const pairs = Object.entries(kinds).flatMap(([was, older]) =>
  Object.entries(kinds).map(([is, newer]) => [was, is, older, newer] as const),
);

describe("a declaration", () => {
  test.each(pairs)("of kind %s is remembered after a change to kind %s", (_, __, older, newer) => {
    const tree = "export interface Tree {\n  x: X;\n  list: X[];\n}\n";
    const { was, remembered } = remember(`export ${older}\n${tree}`, `export ${newer}\n${tree}`);
    // The lock keeps only the names of enum values.
    const hasNumbers = `${older}${newer}`.includes("enum X");
    const text = (of: Schema) => JSON.stringify(said(of)).replace(hasNumbers ? /,"value":(\d+|"[^"]*")/g : "", "");
    expect(JSON.parse(text(remembered))).toEqual(JSON.parse(text(was)));
  });

  test("that was removed is remembered as a message at its line of the lock, with the references to it", () => {
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

  test("that the lock had retired before is not remembered", () => {
    const leaf = "export interface Leaf {\n  a: Int32;\n}\n";
    const tree = "export interface Tree {\n  x?: Int32;\n}\n";
    const retired = (lock: string) => lock.replace("message Leaf", "-message Leaf");
    const { remembered } = remember(leaf + tree, tree, { before: retired });
    expect(remembered.modules[0]?.types.map(({ name }) => name)).toEqual(["Tree"]);
  });

  test("that was added has its current shape, also if it refers to an added actor", () => {
    const { is, remembered } = remember(
      "export interface Tree {\n  a: Int32;\n}\n",
      'export interface Tree {\n  a: Int32;\n  leaf?: Leaf;\n}\nexport interface Leaf {\n  b: { c: "x" };\n  clock: Mesh<Clock>;\n}\nexport type Row = { d: Int32 }[];\nexport interface Clock extends Actor {\n  get(): Leaf;\n}\n',
    );
    for (const name of ["Leaf", "Row"]) expect(shape(remembered, name)).toEqual(shape(is, name));
    expect(remembered.modules[0]?.actors).toEqual(is.modules[0]?.actors);
  });

  test("is matched by its file if two files use its name, and by its name if it has moved", () => {
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

  test("in a new file is not matched if two other files had a declaration of its name", () => {
    const leaf = "export interface Leaf {\n  a: string;\n}\n";
    const { is, remembered } = remember(
      { "schemas/a.ts": leaf, "schemas/b.ts": leaf },
      { "schemas/c.ts": leaf.replace("string", "boolean") },
    );
    expect(remembered.modules).toEqual(is.modules);
  });

  test("that has moved to a namespace is remembered by its earlier name", () => {
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

test("an alias that has moved to a namespace and became an enum is remembered as an alias", () => {
  const { remembered } = remember(
    "export interface Tree {\n  row: Row;\n}\nexport type Row = Int32;\n",
    "export interface Tree {\n  row: Order.Row;\n}\nexport namespace Order {\n  export type Row = 'x' | 'y';\n}\n",
  );
  expect(shape(remembered, "Order.Row")).toEqual({ kind: "alias", type: { kind: "scalar", scalar: "int32" } });
});

describe("a declaration in a namespace", () => {
  /** Returns a shape without the details that the lock does not record. */
  const core = (schema: Schema, name: string) =>
    JSON.parse(JSON.stringify(shape(schema, name), (key, value: unknown) => (unsaid.has(key) ? undefined : value)));

  test.each(pairs.filter(named))(
    "that was a top-level %s is remembered after a change to %s, with the references to it",
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

  test("that was added is not matched with a top-level type of the same name", () => {
    const { remembered } = remember(leaf("a: Int32;"), leaf("a: string;") + order("b: string;"));
    expect(shape(remembered, "Leaf")).toMatchObject({ fields: [{ name: "a", type: { scalar: "int32" } }] });
    expect(shape(remembered, "Order.Leaf")).toMatchObject({ fields: [{ name: "b", type: { scalar: "string" } }] });
  });

  test("that was removed is not matched with a top-level type of the same name", () => {
    const { remembered } = remember(leaf("a: Int32;") + order("b: string;"), leaf("a: string;"));
    expect(shape(remembered, "Leaf")).toMatchObject({ fields: [{ name: "a", type: { scalar: "int32" } }] });
  });

  test("that has left its namespace is not matched with a type of the same name in another file", () => {
    const { remembered } = remember(
      { "schemas/a.ts": leaf("a: string;"), "schemas/b.ts": order("b: string;") },
      { "schemas/a.ts": leaf("a: boolean;"), "schemas/b.ts": leaf("b: boolean;") },
    );
    const [, moved] = remembered.modules.flatMap(({ types }) => types);
    expect(moved?.shape).toMatchObject({ fields: [{ name: "b", type: { scalar: "string" } }] });
  });
});
