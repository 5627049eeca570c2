import { describe, expect, test } from "vitest";
import { wellKnownNames } from "../../../compiler/model/index.js";
import { fieldsOf, readFiles, readText, shapeOf, show, showShape, showType } from "./read.js";

describe("types that a schema can hold", () => {
  test.each<readonly [string, string]>([
    ["boolean", "boolean"],
    ["number", "double"],
    ["string", "string"],
    ["Uint8Array", "bytes"],
    ["Uint8Array<ArrayBuffer>", "bytes"],
    ["Date", "date"],
    ...["Int32", "Uint32", "Sint32", "Fixed32", "Sfixed32", "Float32"].map(
      (name) => [name, name.toLowerCase()] as const,
    ),
    ...["Int64", "Uint64", "Sint64", "Fixed64", "Sfixed64"].map((name) => [name, name.toLowerCase()] as const),
    ["Int8Array", "int8array"],
    ["Uint8ClampedArray", "uint8clampedarray"],
    ["Float64Array", "float64array"],
    ["BigUint64Array", "biguint64array"],
    ["Int32[]", "int32[]"],
    ["readonly Int32[]", "readonly int32[]"],
    ["Array<Array<Date>>", "date[][]"],
    ["ReadonlyArray<string>", "readonly string[]"],
    ["Readonly<string[]>", "readonly string[]"],
    ["[Int32, string?]", "[int32, string?]"],
    ["[a: Int32, b?: string]", "[a: int32, b: string?]"],
    ["readonly [Int32, ...string[]]", "readonly [int32, ...string]"],
    ["[]", "[]"],
    ["Map<string, Int32>", "map<string, int32>"],
    ["ReadonlyMap<Int64, string[]>", "readonly map<int64, string[]>"],
    ["Set<'a' | 'b'>", 'set<"a" | "b">'],
    ["ReadonlySet<Int32>", "readonly set<int32>"],
    ["Record<string, Int32>", "record<int32>"],
    ["{ [key: string]: Int32 }", "record<int32>"],
    ['Record<"x" | "y", Int32>', "{ x: int32; y: int32 }"],
    ["string | null", "string | null"],
    ["(Int32 | null)[]", "int32 | null[]"],
    ["Int32 | undefined", "int32?"],
    ["Int32 | null | undefined", "int32 | null?"],
    ["true | false", "boolean"],
    ["boolean | null", "boolean | null"],
    ['"a" | "b"', '"a" | "b"'],
    ['"only"', '"only"'],
    ["1 | 2 | -3", "1 | 2 | -3"],
    ['"a" | "b" | null', '"a" | "b" | null'],
    ["{ x: Int32; readonly y?: string }", "{ x: int32; readonly y?: string }"],
    ["Oneof<{ a: Uint32; b: string }>", "oneof { a: uint32; b: string }"],
    ['{ kind: "a"; x: Int32 } | { kind: "b" }', "union kind { a: { x: int32 }; b: {  } }"],
    ["Port<string[]>", "port<string[]>"],
    ["RdmaBuffer", "rdmaBuffer"],
    ["Tensor", "tensor"],
    ["ObjectRef<string[]>", "objectRef<string[]>"],
    ...wellKnownNames.map((name) => [name, `google.protobuf.${name}`] as const),
    ["Value | null", "google.protobuf.Value | null"],
    ["(NullValue | null)[]", "google.protobuf.NullValue | null[]"],
    [
      "Partial<{ a: Value; b: Struct[]; c: NullValue | null }>",
      "{ a?: google.protobuf.Value; b?: google.protobuf.Struct[]; c?: google.protobuf.NullValue | null }",
    ],
    ["Exclude<Timestamp | Any, Any>", "google.protobuf.Timestamp"],
  ])("%s is read as a type of the schema", (written, read) => {
    expect(showType(written)).toBe(read);
  });

  test("optional fields are equal in every notation, and fields keep their order", () => {
    const members = "z?: Int32; a?: Int32 | undefined; m: Int32 | undefined; b?: Int32 | null";
    expect(showShape(shapeOf(readText(`export interface A { ${members} }`), "A"))).toBe(
      "{ z?: int32; a?: int32; m?: int32; b?: int32 | null }",
    );
  });
});

describe("names of types", () => {
  test("a reference to an alias keeps its name, and the alias resolves to its scalar type", () => {
    const schema = readText(
      "export type Id = Uint32;\nexport type Ids = Id[];\nexport interface A { ids: Ids; id: Id | null }",
    );
    expect(showShape(shapeOf(schema, "Id"))).toBe("uint32");
    expect(showShape(shapeOf(schema, "A"))).toBe("{ ids: Ids; id: Id | null }");
  });

  test("imports, renamed imports, namespace imports, re-exports and import types resolve to the declaration", () => {
    const { schema, diagnostics } = readFiles({
      "schemas/a.ts": [
        'import { type Leaf as Blatt } from "./barrel.js";',
        'import type * as all from "./tree.js";',
        'import type * as viceroy from "viceroy/schema";',
        "export interface A {",
        '  a: Blatt; b: all.Leaf; c: import("./tree.js").Leaf; d: viceroy.Int32;',
        "}",
      ].join("\n"),
      "schemas/barrel.ts": 'export * from "./tree.js";\n',
      "schemas/tree.ts": "interface Leaf { hidden: Hidden }\ninterface Hidden { x: string }\nexport type { Leaf };\n",
    });
    expect(diagnostics).toEqual([]);
    expect(fieldsOf(schema, "A").map(({ type }) => show(type))).toEqual(["Leaf", "Leaf", "Leaf", "int32"]);
    expect(fieldsOf(schema, "A")[0]?.type).toEqual({ kind: "ref", target: "schemas/tree.ts#Leaf", args: [] });
    const tree = schema.modules.find(({ path }) => path === "schemas/tree.ts");
    expect(tree?.types.map(({ name, exported }) => [name, exported])).toEqual([
      ["Leaf", true],
      ["Hidden", false],
    ]);
  });

  test("a declaration of the schema takes precedence over a library type of the same name", () => {
    expect(showType("Map", "export interface Map { x: Int32 }")).toBe("Map");
  });

  test("a type that no exported type refers to is left out of the schema", () => {
    const schema = readText("interface Unused { x: string }\nexport interface A { x: string }");
    expect(schema.modules[0]?.types.map(({ name }) => name)).toEqual(["A"]);
  });
});

describe("computed types", () => {
  const declarations = [
    'export interface Base { id: Int32; name?: string; kind: "b" | "a"; at: Date | null; tags: string[] }',
    'export type Lit = "a" | "b";',
    "export type Opt<T> = { [K in keyof T]?: T[K] };",
    'export type Shape = { kind: "x"; a: Int32 } | { kind: "y" } | { kind: "z" };',
  ].join("\n");
  test.each([
    ['Pick<Base, "kind" | "id">', '{ id: int32; kind: "b" | "a" }'],
    ['Omit<Base, "tags" | "at">', '{ id: int32; name?: string; kind: "b" | "a" }'],
    ['Partial<Pick<Base, "id" | "at">>', "{ id?: int32; at?: date | null }"],
    ['Required<Pick<Base, "name">>', "{ name: string }"],
    ['Readonly<Pick<Base, "id" | "tags">>', "{ readonly id: int32; readonly tags: string[] }"],
    ['Opt<Pick<Base, "id">>', "{ id?: int32 }"],
    ["{ [K in Lit]: Int32 }", "{ a: int32; b: int32 }"],
    ["keyof Pick<Base, 'id' | 'at'>", '"at" | "id"'],
    ["Base['tags']", "string[]"],
    ["Exclude<Lit, 'a'>", '"b"'],
    [`\`x-\${Lit}\``, '"x-a" | "x-b"'],
    ["Exclude<Shape, { kind: 'x' }>", "union kind { y: {  }; z: {  } }"],
    ["NonNullable<Int32 | null>", "int32"],
    ["Pick<Base, 'id'> & { more: Lit }", "{ id: int32; more: Lit }"],
  ])("%s is resolved", (written, read) => {
    expect(showType(written, declarations)).toBe(read);
  });
});

describe("declarations of types", () => {
  test("an interface inherits fields in the order of its extends clause and may redeclare them", () => {
    const schema = readText(`
      interface Box<T> { value: T }
      export interface A { a: Int32; shared?: string }
      export interface B extends A, Box<Int64[]>, Omit<{ x: string; y: string }, "x"> { shared: string; own: boolean }
    `);
    expect(showShape(shapeOf(schema, "B"))).toBe(
      "{ a: int32; shared: string; value: int64[]; y: string; own: boolean }",
    );
  });

  test("a generic type keeps its parameters, and missing type arguments get their defaults", () => {
    const schema = readText(`
      export interface Page<T, U = T[]> { items: T[]; meta: U; next?: Page<T, U> }
      export type Result<T> = { ok: "yes"; value: T } | { ok: "no"; error: string };
      export interface A { page: Page<string>; result: Result<Page<Int32, null | Date>> }
    `);
    expect(showShape(shapeOf(schema, "Page"))).toBe("{ items: T[]; meta: U; next?: Page<T, U> }");
    expect(showShape(shapeOf(schema, "A"))).toBe(
      "{ page: Page<string, string[]>; result: Result<Page<int32, date | null>> }",
    );
  });

  test("a union includes the variants of unions that it names, and a single alias keeps its name", () => {
    const schema = readText(`
      export interface Circle { kind: "circle"; r: number }
      export interface Square { kind: "square"; side: number; inside?: Shape }
      export type Shape = Circle | Square;
      export type More = Shape | { kind: "none" } | null;
      export interface A { one: Shape | null }
    `);
    expect(showShape(shapeOf(schema, "Shape"))).toBe("union kind { circle: Circle; square: Square }");
    expect(showShape(shapeOf(schema, "More"))).toBe("union kind { circle: Circle; square: Square; none: {  } } | null");
    expect(showShape(shapeOf(schema, "A"))).toBe("{ one: Shape | null }");
  });

  test("enums have their values, and enum members serve as discriminants of unions", () => {
    const schema = readText(`
      export enum Level { Low, High = 5, Higher }
      export enum Kind { A = "a", B = "b" }
      export type Choice = { kind: Kind.A; x: Level } | { kind: Kind.B };
      export type Wider = Kind | "c";
    `);
    expect(showShape(shapeOf(schema, "Level"))).toBe("0 | 5 | 6");
    expect(showShape(shapeOf(schema, "Choice"))).toBe("union kind { a: { x: Level }; b: {  } }");
    expect(showShape(shapeOf(schema, "Wider"))).toBe('"a" | "b" | "c"');
  });

  test("enum members have their own tags, and members with the same value become aliases", () => {
    const schema = readText(`
      export enum Level {
        /** @name LVL_LOW */
        Low,
        High = 1,
        /** As high. */
        Top = 1,
        /**
         * @id 7
         * @was Biggest
         */
        Max = 2,
      }
    `);
    const shape = shapeOf(schema, "Level");
    const values = shape.kind === "enum" ? shape.values.map(({ at: _, doc: __, ...value }) => value) : [];
    expect(values).toEqual([
      { name: "Low", wireName: "LVL_LOW", value: 0, id: 0, tags: { name: "LVL_LOW" } },
      { name: "High", value: 1, id: 0, aliases: [expect.objectContaining({ name: "Top", doc: "As high." })] },
      { name: "Max", value: 2, id: 0, tags: { id: 7, was: "Biggest" } },
    ]);
  });

  test("recursive interfaces, aliases and tuples are read", () => {
    const schema = readText(`
      export interface Tree { left?: Tree; right: Tree | null; children: Tree[] }
      export type List = { value: Int32; next: List | null };
      export type Nested = [value: string, rest: Nested[]];
    `);
    expect(showShape(shapeOf(schema, "Tree"))).toBe("{ left?: Tree; right: Tree | null; children: Tree[] }");
    expect(showShape(shapeOf(schema, "List"))).toBe("{ value: int32; next: List | null }");
    expect(showShape(shapeOf(schema, "Nested"))).toBe("[value: string, rest: Nested[]]");
  });
});
