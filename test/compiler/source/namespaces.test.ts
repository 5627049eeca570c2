/** Types in namespaces: which types a schema contains, their qualified names, and how references to them resolve. */
import { describe, expect, test } from "vitest";
import { fingerprint } from "../../../compiler/model/fingerprint.js";
import { indexSchema } from "../../../compiler/model/resolve.js";
import { fieldsOf, readFiles, readText, shapeOf, show, showShape } from "./read.js";

function typesOf(text: string) {
  return readText(text).modules[0]!.types;
}

function namesOf(text: string): readonly string[] {
  return typesOf(text).map(({ name, exported }) => (exported ? name : `${name} (hidden)`));
}

function found(files: Readonly<Record<string, string>>): readonly string[] {
  return readFiles(files).diagnostics.map(({ code, file, line, text, fix }) => {
    return `${file}:${line} ${code} ${text}${fix === undefined ? "" : ` / ${fix}`}`;
  });
}

describe("type declarations in a namespace", () => {
  test("have qualified names, also if a type or an enum has the same name as the namespace", () => {
    const text = `
export interface Order { lines: Order.Line[] }
export namespace Order { export interface Line { sku: string } export type Status = "open" | "closed" }
export type Key = string;
export namespace Key { export enum Kind { A = 1 } }
export enum State { On = 1 }
export namespace State { export interface Reason { why: string } }
export namespace Alone { export interface Page<T> { items: T[] } }`;
    expect(namesOf(text)).toEqual([
      "Order",
      "Order.Line",
      "Order.Status",
      "Key",
      "Key.Kind",
      "State",
      "State.Reason",
      "Alone.Page",
    ]);
    expect(typesOf(text).map(({ key }) => key)).toContain("schemas/a.ts#Order.Line");
  });

  test("may be nested to any depth, in several blocks and in the dotted form", () => {
    expect(
      namesOf(`
export namespace A { export namespace B { export interface C {} } }
export namespace A.B { export namespace D.E { export interface F { c: C; g: A.G } } }
export namespace A { export interface G {} }`),
    ).toEqual(["A.B.C", "A.B.D.E.F", "A.G"]);
  });

  test("are part of the schema without an export if an exported type refers to them", () => {
    const text = (word: string) => `${word} namespace Inner {
  export interface Open { hidden: Hidden }
  interface Hidden { a: string }
  interface Unused { a: string }
}
export interface Uses { open: Inner.Open }`;
    expect(namesOf(text("export"))).toEqual(["Inner.Open", "Inner.Hidden (hidden)", "Uses"]);
    expect(namesOf(text(""))).toEqual(["Inner.Open (hidden)", "Inner.Hidden (hidden)", "Uses"]);
  });

  test("are exported if the namespace is ambient without exports or in an export list of the file", () => {
    expect(namesOf("export declare namespace Inner { interface One {} namespace Deep { type Two = string } }")).toEqual(
      ["Inner.One", "Inner.Deep.Two"],
    );
    expect(namesOf("namespace Inner { export interface One {} }\nexport { Inner };")).toEqual(["Inner.One"]);
  });

  test("keep their doc comments and tags", () => {
    const [line] = typesOf(`export namespace Order {
  /**
   * A line.
   * @reserved 4, old
   */
  export interface Line {
    /**
     * What it is.
     * @id 7
     */
    sku: string;
  }
}`);
    expect(line).toMatchObject({ doc: "A line.", reserved: { numbers: [4], names: ["old"] }, at: { line: 7 } });
    expect(line?.shape).toMatchObject({ fields: [{ name: "sku", doc: "What it is.", tags: { id: 7 } }] });
  });
});

describe("references to types in namespaces", () => {
  test("resolve by the scope rules of TypeScript", () => {
    const schema = readText(`
export interface Line { top: string }
export type TopLine = Line;
export interface Order { line: Line; nested: Order.Line }
export namespace Order {
  export interface Line { parent?: Order; other?: Deep.Line; same?: Line; top?: TopLine; status: Status.Open }
  export namespace Deep { export interface Line { of: Order.Line } }
  export enum Status { Open = 1, Closed = 2 }
}`);
    const types = (name: string) => fieldsOf(schema, name).map((field) => show(field.type));
    expect(types("Order")).toEqual(["Line", "Order.Line"]);
    expect(types("Order.Line")).toEqual(["Order", "Order.Deep.Line", "Order.Line", "TopLine", "1"]);
    expect(types("Order.Deep.Line")).toEqual(["Order.Line"]);
  });

  test("resolve in other files through every form of import", () => {
    const { schema, diagnostics } = readFiles({
      "schemas/order.ts": `export interface Order {}
export namespace Order { export interface Line { n: number } export interface Page<T> { items: T[] } }
export namespace Alone { export interface One { n: number } }`,
      "schemas/user.ts": `import type { Alone, Order as Bought } from "./order.js";
import type * as shop from "./order.js";
import { Order as Value } from "./order.js";
import Short = Value.Line;
export interface User {
  line: Bought.Line;
  star: shop.Order.Line;
  page: shop.Order.Page<Alone.One>;
  imported: import("./order.js").Order.Line;
  short: Short;
  computed: Pick<Bought.Line, "n">;
  partial: Partial<Bought.Page<Bought.Line>>;
}`,
    });
    expect(diagnostics).toEqual([]);
    expect(fieldsOf(schema, "User").map((field) => show(field.type))).toEqual([
      "Order.Line",
      "Order.Line",
      "Order.Page<Alone.One>",
      "Order.Line",
      "Order.Line",
      "{ n: double }",
      "{ items?: Order.Line[] }",
    ]);
  });

  test("resolve in extends clauses, intersections and unions", () => {
    const schema = readText(`
export namespace Shape {
  export interface Named { name: string }
  export interface Circle extends Named { kind: "circle"; radius: number }
  export interface Square { kind: "square"; side: number }
  export type Any = Circle | Square;
  export type Both = Named & { more: boolean };
}
export interface Drawing extends Shape.Named { shape: Shape.Circle | Shape.Square }`);
    expect(showShape(shapeOf(schema, "Shape.Any"))).toBe("union kind { circle: Shape.Circle; square: Shape.Square }");
    expect(fieldsOf(schema, "Shape.Both").map(({ name }) => name)).toEqual(["name", "more"]);
    expect(fieldsOf(schema, "Drawing").map(({ name }) => name)).toEqual(["name", "shape"]);
  });
});

describe("unsupported contents of a namespace", () => {
  test("a value in a namespace gets the same diagnostic as a value at the top level", () => {
    expect(
      found({
        "schemas/a.ts": `export namespace Order {
  export const limit = 3;
  export function check(): void {}
  export class Line {}
  const hidden = 4;
  export interface Uses { line: Line }
}`,
      }),
    ).toEqual([
      "schemas/a.ts:2 VC1009 Order.limit is a variable: schema files contain types, and no code is generated for it / Move it to another file.",
      "schemas/a.ts:3 VC1009 Order.check is a function: schema files contain types, and no code is generated for it / Move it to another file.",
      "schemas/a.ts:4 VC1009 Order.Line is a class: schema files contain types, and no code is generated for it / Move it to another file.",
      "schemas/a.ts:6 VC1103 cannot send instances of class Order.Line / Declare an interface with the fields to send.",
    ]);
  });

  test("a type that is declared in `declare global` cannot be sent", () => {
    const [first, second] = found({
      "schemas/a.ts": `declare global { interface Everywhere { a: string } }
declare module "other" { export interface There { a: string } }
export interface Uses { a: Everywhere }`,
    });
    expect([first, second].join("\n")).toContain("VC1104 cannot send Everywhere: it is declared neither");
  });

  test("an actor in a namespace is refused once, even if other actors refer to it", () => {
    const actor =
      "cannot declare actor Shop.Till in a namespace: an actor is a service in protobuf, and services do not nest";
    const fix =
      "Declare it at the top level of the file: `export interface Till extends Actor`. Its messages can stay in the namespace.";
    expect(
      found({
        "schemas/a.ts": `import type { Actor, Mesh } from "viceroy/schema";
export namespace Shop { export interface Till extends Actor { total(): number } }
export interface Office extends Actor { count(tills: Mesh<Shop.Till>): void }
export interface Other extends Shop.Till { more(): void }`,
      }),
    ).toEqual([`schemas/a.ts:2 VC1219 ${actor} / ${fix}`]);
  });

  test("a type that two blocks of a namespace declare gets one diagnostic", () => {
    const twice = "namespace A { export interface B { a: string } }\n";
    expect(found({ "schemas/a.ts": `export ${twice}export ${twice.replace("a:", "b:")}` })).toEqual([
      "schemas/a.ts:2 VC1201 A.B is declared more than once / Merge the declarations. A name can belong to one type only.",
    ]);
  });
});

test("the diagnostic of an unknown name suggests the qualified name and the missing import", () => {
  const missing = found({
    "schemas/order.ts": "export namespace Order { export interface Line { n: number } }\n",
    "schemas/user.ts":
      "export namespace Own { export interface Part {} }\nexport interface User { a: Line; b: Part }\n",
  });
  expect(missing).toEqual([
    "schemas/user.ts:2 VC1002 TypeScript reports an error: Cannot find name 'Line' (TS2304) / Write `Order.Line`, if that is meant. Add `import type { Order } from \"./order.js\";`.",
    "schemas/user.ts:2 VC1002 TypeScript reports an error: Cannot find name 'Part' (TS2304) / Write `Own.Part`, if that is meant.",
  ]);
});

test("a type in a namespace has the same fingerprint as at the top level", () => {
  const print = (text: string, name: string) => {
    const schema = readText(text);
    const key = schema.modules[0]!.types.find((type) => type.name === name)!.key;
    return fingerprint(indexSchema(schema)).declaration(key);
  };
  const line = "export interface Line { sku: string; next?: Line; level: Level }\nexport type Level = 'a' | 'b';";
  expect(print(`export namespace Order {\n${line}\n}`, "Order.Line")).toBe(print(line, "Line"));
  expect(print(line.replaceAll("Line", "Row"), "Row")).not.toBe(print(line, "Line"));
});
