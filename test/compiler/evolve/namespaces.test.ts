/** `viceroy break`, `viceroy rename` and the check against the lock, with types in namespaces. */
import { describe, expect, test } from "vitest";
import { compile } from "../../../compiler/cli/commands/compile.js";
import { rename } from "../../../compiler/cli/commands/rename.js";
import { Project } from "../../../compiler/cli/project.js";
import { addFiles, folderWith, read, TestIo } from "../folder.js";
import { breaksBetween } from "./sides.js";

const order = (line: string) => `export interface Order {
  lines: Order.Line[];
}
export namespace Order {
  export interface Line {
${line}
  }
  export type Status = "open" | "closed";
}
`;

describe("viceroy break", () => {
  test("reports changes in a type of a namespace", async () => {
    const found = await breaksBetween(
      order("    sku: string;\n    count: Int32;\n    size: { width: Int32 };\n    status: Status;"),
      order("    sku: string;\n    count: string;\n    size: { width: Int64 };").replace('"open" | ', ""),
    );
    expect(found.map((line) => line.replace(/: .*/, ""))).toEqual([
      "schemas/a.ts:8 VC5001 WIRE Order.Line.count",
      "schemas/a.ts:9 VC5001 WIRE Order.Line.size.width",
      "schemas/a.ts:10 VC5005 WIRE Order.Line.status",
      "schemas/a.ts:12 VC5035 SOURCE the value open has gone",
    ]);
  });

  const top = `export interface Order {
  lines: Line[];
}
export interface Line {
  count: Int32;
  sku: string;
}
`;
  const nested = order("    sku: string;\n    count: Int32;");

  test("reports a move into or out of a namespace as a source break and not as a wire break", async () => {
    const moved = (from: string, to: string) =>
      `VC5031 SOURCE ${from} is called ${to} now: code that names it, or its codec, does not compile, and the type URL in an Any is another`;
    expect(await breaksBetween(top, nested)).toEqual([`schemas/a.ts:6 ${moved("Line", "Order.Line")}`]);
    const back = await breaksBetween(nested, top);
    expect(back).toContain(`schemas/a.ts:5 ${moved("Order.Line", "Line")}`);
    expect(back.filter((line) => line.includes("WIRE"))).toEqual([]);
    expect(
      await breaksBetween(nested, nested.replace("namespace Order", "namespace Shop").replace("Order.L", "Shop.L")),
    ).toEqual([
      `schemas/a.ts:6 ${moved("Order.Line", "Shop.Line")}`,
      `schemas/a.ts:10 ${moved("Order.Status", "Shop.Status")}`,
    ]);
  });

  test("reports other changes in a type that has moved", async () => {
    const found = await breaksBetween(top, order("    sku: string;\n    count: Int64;"));
    expect(found.join("\n")).toContain("VC5001 WIRE Order.Line.count: its type was int32 and is int64");
  });

  test("compares the Cap'n Proto layout of a type that has moved", async () => {
    const settings = ', emit: ["ts", "capnp"]';
    expect((await breaksBetween(top, nested, { settings })).filter((line) => line.includes("VC5020"))).toEqual([]);
    const wider = order("    sku: string;\n    count?: Int32;");
    expect((await breaksBetween(top, wider, { settings })).join("\n")).toContain("VC5020 WIRE Order.lines.count");
  });
});

test("Cap'n Proto keeps the place of a removed member whose type has moved to a namespace", async () => {
  const settings = ', emit: ["ts", "capnp"]';
  const before =
    "export interface Order { mode: Mode; count: Int32 }\nexport type Mode = 'a' | 'b';\nexport interface Uses { mode: Mode }\n";
  const folder = folderWith({
    ...files,
    "viceroy.config.ts": `export default { schemas: "schemas/**/*.ts"${settings} };\n`,
    "schemas/a.ts": head + before,
  });
  expect(await run(folder)).toEqual(["exit code 0"]);
  const places = () => /struct Order [\s\S]*?\n}/.exec(read(folder, "generated/capnp/a.capnp"))?.[0];
  expect(places()).toContain("count @1 :Int32;");
  addFiles(folder, { "schemas/a.ts": head + before.replace("mode: Mode; count", "count") });
  await run(folder);
  expect(places()).toContain("count @1 :Int32;");
  const moved =
    "export interface Order { count: Int32 }\nexport namespace Order { export type Mode = 'a' | 'b' }\nexport interface Uses { mode: Order.Mode }\n";
  addFiles(folder, { "schemas/a.ts": head + moved });
  expect((await run(folder)).filter((line) => line.startsWith("VC4"))).toEqual([]);
  expect(places()).toContain("obsoleteMode @0 :UInt16;");
  expect(places()).toContain("count @1 :Int32;");
});

const files = {
  "package.json": '{ "name": "example", "type": "module" }\n',
  "viceroy.config.ts": 'export default { schemas: "schemas/**/*.ts" };\n',
};
const head = 'import type { Int32, Int64 } from "viceroy/schema";\n\n';

/** Runs `compile` and returns the codes and texts of its diagnostics, and its exit code. */
async function run(folder: string, check = false): Promise<readonly string[]> {
  const io = new TestIo();
  const code = await compile(new Project(folder), { check, json: true, draft: false }, io);
  const found = io.lines.map((line) => JSON.parse(line) as Readonly<Record<string, string>>);
  return [...found.map((one) => `${one["code"]} ${one["text"]}`), `exit code ${code}`];
}

describe("the check against the lock", () => {
  const start = (text: string) => folderWith({ ...files, "schemas/a.ts": head + text });
  const top =
    "export interface Order {\n  line: Line;\n}\nexport interface Line {\n  b: Int32;\n  a: { n: Int32 };\n}\n";
  const nested = (b: string, n = "Int32") =>
    `export interface Order {\n  line: Order.Line;\n}\nexport namespace Order {\n  export interface Line {\n    a: { n: ${n} };\n    b: ${b};\n  }\n}\n`;

  test("reports breaks in a type of a namespace", async () => {
    const folder = start(nested("Int32"));
    expect(await run(folder)).toEqual(["exit code 0"]);
    addFiles(folder, { "schemas/a.ts": head + nested("Int64", "Int64") });
    const found = (await run(folder, true)).filter((line) => line.startsWith("VC5"));
    expect(found.map((line) => line.replace(/: .*/, ""))).toEqual(["VC5001 Order.Line.a.n", "VC5001 Order.Line.b"]);
  });

  test("reports no break in a type that only moves, but the breaks in a type that moves and changes", async () => {
    const folder = start(top);
    expect(await run(folder)).toEqual(["exit code 0"]);
    addFiles(folder, { "schemas/a.ts": head + nested("Int64", "Int64") });
    const found = (await run(folder, true)).filter((line) => line.startsWith("VC5"));
    expect(found.map((line) => line.replace(/: .*/, ""))).toEqual(["VC5001 Order.Line.a.n", "VC5001 Order.Line.b"]);
    addFiles(folder, { "schemas/a.ts": head + nested("Int32") });
    expect(await run(folder)).toEqual(["exit code 0"]);
    expect(read(folder, "viceroy.lock").split("\n").slice(1)).toEqual([
      "message Order in schemas/a next=2",
      "  1 line Order.Line",
      "message Order.Line in schemas/a next=3",
      "  1 b int32",
      "  2 a message",
      "message Order.Line.a in schemas/a next=2",
      "  1 n int32",
      "",
    ]);
    expect(await run(folder, true)).toEqual(["exit code 0"]);
  });

  test("remembers a removed type of a namespace to compare the fields that referred to it", async () => {
    const folder = start(nested("Int32"));
    expect(await run(folder)).toEqual(["exit code 0"]);
    addFiles(folder, {
      "schemas/a.ts": `${head}export interface Order {\n  line: Other;\n}\nexport interface Other {\n  b: Int64;\n}\n`,
    });
    expect((await run(folder, true)).filter((line) => line.startsWith("VC5")).join("\n")).toContain("VC5001 ");
  });
});

describe("viceroy rename", () => {
  const text = `${head}export interface Order {
  Line: { n: Int32 };
  Tax: Order.Tax;
}
export namespace Order {
  export interface Tax {
    sku: string;
    size: { n: Int32 };
  }
}
`;
  const start = async () => {
    const folder = folderWith({ ...files, "schemas/a.ts": text });
    expect(await run(folder)).toEqual(["exit code 0"]);
    return folder;
  };

  test("accepts the qualified name of a type", async () => {
    const folder = await start();
    const io = new TestIo();
    expect(await rename(new Project(folder), "Order.Tax.size", "extent", io)).toBe(0);
    expect(io.lines[0]).toBe("renamed Order.Tax.size to extent in schemas/a.ts and viceroy.lock");
    expect(read(folder, "schemas/a.ts")).toBe(text.replace("size:", "extent:"));
    expect(read(folder, "viceroy.lock")).toContain(
      "\n  2 extent message was=size\nmessage Order.Tax.extent in schemas/a next=2\n",
    );
    expect(await run(folder, true)).toEqual(["exit code 0"]);
    expect(await rename(new Project(folder), "Order.Tax.none", "x", io)).toBe(3);
    expect(io.errors.at(-1)).toBe("cannot rename Order.Tax.none: Order.Tax has no member none; it has sku, extent");
    expect(await rename(new Project(folder), "Order.None.a", "x", io)).toBe(3);
    expect(io.errors.at(-1)).toBe("cannot rename Order.None.a: there is no type or actor Order.None with members");
    expect(await rename(new Project(folder), "Order", "x", io)).toBe(3);
    expect(io.errors.at(-1)).toBe("cannot rename Order: expected Type.member");
  });

  test("keeps a type that has the same name as the renamed member", async () => {
    const folder = await start();
    expect(await rename(new Project(folder), "Order.Tax", "vat", new TestIo())).toBe(0);
    expect(await rename(new Project(folder), "Order.Line", "row", new TestIo())).toBe(0);
    const lock = read(folder, "viceroy.lock");
    expect(lock).toContain("\nmessage Order.Tax in schemas/a next=3\n");
    expect(lock).toContain("\nmessage Order.Tax.size in schemas/a next=2\n");
    expect(lock).toContain("\nmessage Order.row in schemas/a next=2\n");
    expect(await run(folder, true)).toEqual(["exit code 0"]);
  });

  test("is the subject of a diagnostic if a field of a type in a namespace is replaced by another", async () => {
    const folder = await start();
    addFiles(folder, { "schemas/a.ts": text.replace("sku", "code").replace("Line: { n", "Line: { m") });
    const found = (await run(folder)).filter((line) => line.startsWith("VC2007"));
    expect(found[1]).toContain("Order.Tax");
    expect(found[0]).not.toContain("npx viceroy rename");
  });
});
