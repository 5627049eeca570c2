/** Schema changes that are easily confused: findings say how data is read, and a rename is only a rename. */
import { describe, expect, test } from "vitest";
import { rename } from "../../../compiler/cli/commands/rename.js";
import { TestIo } from "../folder.js";
import { breaksBetween } from "./sides.js";

/** Lists the findings without their class. Line 1 of the schema is an import. */
async function found(older: string, newer: string): Promise<readonly string[]> {
  return (await breaksBetween(older, newer)).map((line) => line.replace(/ (WIRE|SOURCE|BEHAVIOUR|DANGEROUS) /, " "));
}

describe("the replacement of one enum by another", () => {
  const color = 'export type Color = "red" | "green";\n';
  const size = 'export type Size = "small" | "large";\n';
  const holder = (type: string) => `export interface Tree {\n  is: ${type};\n}\n`;
  const other = "its number 1 was that of RED: each reads as the other";

  test("is reported at the field if both enums exist", async () => {
    expect((await found(color + size + holder("Color"), color + size + holder("Size")))[0]).toBe(
      `schemas/a.ts:5 VC5001 Tree.is: its type was enum example.v1.Color and is enum example.v1.Size: example.v1.Size.SIZE_SMALL: ${other}`,
    );
  });

  test("is reported at the values if one enum is removed and the other added", async () => {
    const lines = await found(color + holder("Color"), size + holder("Size"));
    expect(lines).toContain(`schemas/a.ts:2 VC5009 Size.small: ${other}`);
    expect(lines).toContain(
      "schemas/a.ts:2 VC5009 Size.large: its number 2 was that of GREEN: each reads as the other",
    );
  });

  test("is reported between inline values and a named enum", async () => {
    expect(await found(holder('"red" | "green"'), size + holder("Size"))).toContain(
      `schemas/a.ts:2 VC5009 Size.small: ${other}`,
    );
    expect(await found(color + holder("Color"), color + holder('"small" | "large"'))).toContain(
      `schemas/a.ts:4 VC5001 Tree.is: its type was enum example.v1.Color and is enum example.v1.TreeIs: example.v1.TreeIs.TREE_IS_SMALL: ${other}`,
    );
  });

  test("is reported for enums with numeric values", async () => {
    const older = "export enum Color { Red = 1, Green = 2 }\n";
    const newer = "export enum Size { Small = 1, Large = 2 }\n";
    expect((await found(older + newer + holder("Color"), older + newer + holder("Size")))[0]).toContain(
      "5 VC5001 Tree.is",
    );
    const inPlace = await found(older + holder("Color"), newer.replace("Size", "Color") + holder("Color"));
    expect(inPlace).toContain(`schemas/a.ts:2 VC5009 Color.Small: ${other}`);
  });

  test("is reported if an enum of numbers takes the name of a string enum", async () => {
    const lines = await found(
      color + holder("Color"),
      `export enum Color { Small = 1, Large = 2 }\n${holder("Color")}`,
    );
    expect(lines).toContain(`schemas/a.ts:2 VC5009 Color.Small: ${other}`);
  });

  test("is reported inside of messages that replace each other", async () => {
    const inner = (name: string, values: string) => `export interface ${name} {\n  a: ${values};\n}\n`;
    const both = inner("Old", '"red"') + inner("New", '"small"');
    const [line] = await found(both + holder("Old"), both + holder("New"));
    expect(line).toMatch(/^schemas\/a.ts:9 VC5001 Tree.is: .*NewA.NEW_A_SMALL: its number 1 was that of RED/);
  });

  test("is not reported for a renamed enum or for an additional name of a value", async () => {
    const renamed = await found(color + holder("Color"), color.replace("Color", "Colour") + holder("Colour"));
    expect(renamed.map((line) => line.split(" ")[1])).toEqual(["VC5030", "VC5036"]);
    const older = "export enum Color { Red = 1, Green = 2 }\n";
    const more = "export enum Color { Green = 2, Red = 1, Rot = 1 }\n";
    expect(await found(older + holder("Color"), more + holder("Color"))).toEqual([]);
  });

  test("is not reported for values that were renamed with `@was`, once or twice", async () => {
    const [first, second, third] = ["Red = 1", "/** @was Red */ Rot = 1", "/** @was Rot */ Rouge = 1"].map(
      (value) => `export enum Color {\n  ${value},\n  Green = 2 }\n${holder("Color")}`,
    ) as [string, string, string];
    for (const [older, newer, last] of [
      [first, second, "Rot"],
      [second.replace("/** @was Red */ ", ""), third, "Rouge"],
    ] as const) {
      const lines = await found(older, newer);
      expect(lines.map((line) => line.split(" ")[1])).toEqual(["VC5034"]);
      expect(lines[0]).toContain(`is called ${last} now`);
    }
  });

  test("a `@was` that names no value with this number is an error", async () => {
    const values = (red: string) => `export enum Color {\n  ${red},\n  Green = 2 }\n${holder("Color")}`;
    expect(await found(values("Red = 1"), values("/** @was Green */ Rot = 1"))).toEqual([
      "schemas/a.ts:3 VC2011 undefined @was Green of Color.Rot: the lock has no such name",
    ]);
  });
});

describe("the replacement of one message by another", () => {
  const holder = (type: string) => `export interface Tree {\n  is: ${type};\n}\n`;

  test.each([
    ["interfaces", "interface A { a: Int32; b: string }", "interface B { c: Int32; d: string }"],
    ["unions", 'type A = { kind: "a" } | { kind: "b" };', 'type B = { kind: "c" } | { kind: "d" };'],
    ["oneofs", "type A = Oneof<{ a: Int32; b: string }>;", "type B = Oneof<{ c: Int32; d: string }>;"],
  ])("is reported for %s", async (_, a, b) => {
    const both = `export ${a}\nexport ${b}\n`;
    expect((await found(both + holder("A"), both + holder("B")))[0]).toBe(
      "schemas/a.ts:5 VC5001 Tree.is: its type was message example.v1.A and is message example.v1.B: example.v1.B.c: its number 1 was that of a of example.v1.A: each reads as the other",
    );
  });

  test("is reported for a renamed type only if the order of its members has changed", async () => {
    const older = "export interface Point {\n  x: number;\n  y: number;\n}\n";
    const newer = "export interface Spot {\n  y: number;\n  x: number;\n}\n";
    const lines = await found(older + holder("Point"), newer + holder("Spot"));
    expect(lines).toContain(
      "schemas/a.ts:3 VC5021 Spot.y: its number 1 was that of x of example.v1.Point: each reads as the other",
    );
    expect(
      await found(older + holder("Point"), newer.replace(/( {2}y.*)\n( {2}x.*)/, "$2\n$1") + holder("Spot")),
    ).toEqual([
      "schemas/a.ts:2 VC5030 Point has gone: code that imports it, or its codec, does not compile",
      "schemas/a.ts:7 VC5036 Tree.is was Point and is Spot: code that uses it may not compile",
    ]);
  });
});

test("a change between NullValue and a number is reported because every number reads as null", async () => {
  const holder = (type: string) => `export interface Tree {\n  is: ${type};\n}\n`;
  for (const [older, newer] of [
    ["Int32", "NullValue"],
    ["NullValue", "Int32"],
    ["Int32[]", "NullValue[]"],
  ] as const) {
    expect(await found(holder(older), holder(newer))).toEqual([
      expect.stringMatching(/^schemas\/a.ts:3 VC5001 Tree.is: .*: every number reads as null, and is written as 0$/),
    ]);
  }
});

test("a Oneof whose cases stop being fields of the enclosing message is reported once", async () => {
  const holder = (optional: string, one: string, two: string, end = "") =>
    `export interface Tree {\n  z: Int32;\n  is${optional}: Oneof<{ ${one} a: Int32; ${two} b: string }>${end};\n}\n`;
  const [one, two] = ["/** @id 11 */", "/** @id 12 */"];
  const moved = "schemas/a.ts:4 VC5022 Tree.is: its cases were fields of the message that it stands in";
  expect((await found(holder("?", one, two), holder("?", "", "")))[0]).toContain(moved);
  expect(await found(holder("?", one, two), holder("?", "", ""))).toHaveLength(1);
  // A Oneof that may be absent or null is a message of its own, with `@id` or without.
  expect((await found(holder("?", one, two), holder("?", one, two, " | null")))[0]).toContain(moved);
  // For a required Oneof the missing value is reported already.
  expect(await found(holder("", one, two), holder("", "", ""))).toEqual([expect.stringContaining("VC5004")]);
});

test("a changed literal of a string enum is reported", async () => {
  const color = (red: string, green: string) => `export enum Color {\n  Red = "${red}",\n  Green = "${green}",\n}\n`;
  expect(await found(color("red", "green"), color("green", "red"))).toEqual([
    'schemas/a.ts:3 VC5056 Color.Red was "red" and is "green": what one side sends as "red" arrives as "green"',
    'schemas/a.ts:4 VC5056 Color.Green was "green" and is "red": what one side sends as "green" arrives as "red"',
  ]);
});

describe("names that appear only in JSON", () => {
  const actor = (endpoint: string) => `export interface Clock extends Actor<[zone: string]> {\n  ${endpoint}\n}\n`;

  test("a renamed parameter is reported, except constructor arguments and the port of `@respond`", async () => {
    expect(await found(actor("add(by: Int32): void;"), actor("add(amount: Int32): void;"))).toEqual([
      "schemas/a.ts:3 VC5055 the parameter amount of Clock.add was by in JSON and is amount: what callers in JSON give as by is not found",
    ]);
    // JSON callers pass neither constructor arguments nor the port of `@respond`.
    const respond = (port: string) => `/** @respond */ get(${port}: Port<Int32>, of: string): void;`;
    expect(await found(actor(respond("a")), actor(respond("b")).replace("zone", "area"))).toEqual([]);
  });

  test("a changed label of a tuple is reported at any depth", async () => {
    const tree = (label: string) =>
      `export interface Tree {\n  a: number;\n  at: Map<string, [${label}: Int32][]> | null;\n}\n`;
    expect(await found(tree("x"), tree("y"))).toEqual([
      "schemas/a.ts:4 VC5055 element 1 of Tree.at was x in JSON and is y: what the other side writes as x is not read as this element",
    ]);
    expect(await found(tree("x"), tree("x"))).toEqual([]);
  });

  test("a changed `@json` name of a field is reported", async () => {
    const tree = (tag: string) =>
      `export interface Tree {\n  ${tag} leafCount: Int32;\n  one: Oneof<{ a: Int32 }>;\n}\n`;
    expect(await found(tree("/** @json leaves */"), tree(""))).toEqual([
      "schemas/a.ts:3 VC5055 Tree.leafCount was leaves in JSON and is leafCount: readers of JSON do not find it",
    ]);
    expect(await found(tree("/** @json leafCount */"), tree(""))).toEqual([]);
  });

  test("a changed `@name` of an endpoint is reported", async () => {
    expect(await found(actor("add(): void;"), actor("/** @name plus */ add(): void;"))).toEqual([
      "schemas/a.ts:3 VC5055 Clock.add was Add in .proto files and at the gateway and is Plus: callers from outside do not find it",
    ]);
  });
});

describe("a rename of a declaration with an inline shape", () => {
  const shapes = ["{ a: Int32; deep: { b: Int32 }[] }", "Oneof<{ a: Int32; b: { c: string } }>", '"a" | "b"'];

  test.each(shapes)("is the only finding for a member of type %s", async (shape) => {
    const wanted = "schemas/a.ts:3 VC5034 SOURCE Tree.meta is called info now: code that uses it does not compile";
    const older = `export interface Tree {\n  meta: ${shape};\n}\n`;
    const tagged = `export interface Tree {\n  /** @was meta */ info: ${shape};\n}\n`;
    const change = async (newer: Parameters<typeof rename>[0]) => rename(newer, "Tree.meta", "info", new TestIo());
    for (const lines of [await breaksBetween(older, tagged), await breaksBetween(older, undefined, { change })]) {
      // The JSON names of enum values contain the name of the member, so they change with it.
      expect(lines.filter((line) => !line.includes("VC5055"))).toEqual([wanted]);
    }
  });

  test("gives one finding for an endpoint and one for its parameter", async () => {
    const actor = (name: string, parameter: string) =>
      `export interface Clock extends Actor {\n  ${name}(${parameter}: { a: Int32 }): { b: Int32 };\n}\n`;
    const lines = await found(actor("get", "of"), actor("/** @was get */ read", "by"));
    expect(lines.map((line) => line.split(" ")[1])).toEqual(["VC5034", "VC5055"]);
  });

  test("gives one finding for a member and one for a renamed field in its shape", async () => {
    const older = "export interface Tree {\n  at: { x: number; y: number };\n}\n";
    const newer = "export interface Tree {\n  /** @was at */ to: { /** @was x */ z: number; y: number };\n}\n";
    expect((await found(older, newer)).map((line) => line.split(" ")[1])).toEqual(["VC5034", "VC5034"]);
  });
});

describe("the line of a finding", () => {
  test("is the line of the alias if the type of the alias has changed", async () => {
    const tree = (row: string) =>
      `export type Row = ${row};\nexport type Rows = Row[];\nexport interface Tree {\n  row: Row;\n  rows: Map<string, Rows>;\n}\n`;
    const lines = await found(tree("Int32"), tree("string"));
    expect(lines.map((line) => line.replace(/: .*/, ""))).toEqual([
      "schemas/a.ts:2 VC5001 Row",
      "schemas/a.ts:2 VC5001 Rows",
      "schemas/a.ts:2 VC5001 Tree.row",
    ]);
  });

  test("is the line of the declaration if its kind has changed", async () => {
    const tree = (size: string) => `export interface Tree {\n  size: Size;\n}\nexport ${size}\n`;
    const lines = await found(tree('type Size = "s" | "l";'), tree("interface Size { value: Int32 }"));
    expect(lines).toContainEqual(expect.stringMatching(/^schemas\/a.ts:5 VC5001 Tree.size: /));
  });

  test("is the line of the alias if a result refers to a changed alias", async () => {
    const actor = (row: string) =>
      `export type Row = ${row};\nexport interface Clock extends Actor {\n  get(): Row;\n}\n`;
    const lines = await found(actor("Int32"), actor("string"));
    expect(lines).toContainEqual(expect.stringMatching(/^schemas\/a.ts:2 VC5001 the result of Clock.get: /));
  });
});
