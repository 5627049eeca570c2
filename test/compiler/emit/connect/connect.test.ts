/** Generated clients: what they contain, drift, and conflicts. Tests of their calls are in test/gateway. */
import { spawnSync } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { compile } from "../../../../compiler/cli/commands/compile.js";
import { Project } from "../../../../compiler/cli/project.js";
import { addFiles, folderWith, listFiles, read, TestIo } from "../../folder.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const biome = createRequire(import.meta.url).resolve("@biomejs/biome/bin/biome");

const schemas = {
  "schemas/things/shop.ts": `import type { Actor, Port, Stream, Uint32 } from "viceroy/schema";
export interface Item { name: string }
/** Sells. */
export interface Shop extends Actor<[name: string]> {
  /**
   * Sells an item.
   * @name SellOne
   */
  sell(item: Item, count?: Uint32): Item | null;
  /** @respond */
  later(to: Port<Item>, name: string): void;
  follow(): Stream<Item[]>;
  subscribe(to: Port<Item>): void;
  close(): void;
}
export interface Relay extends Actor { port(): Port<string> }`,
  "schemas/item.ts": "export interface Other { name: string }",
};

function project(emit: readonly string[]): string {
  return folderWith({
    "package.json": '{ "name": "shop" }',
    "viceroy.config.ts": `export default ${JSON.stringify({ schemas: "schemas/**/*.ts", emit })};`,
    ...schemas,
  });
}

async function run(folder: string, check = false) {
  const io = new TestIo();
  const code = await compile(new Project(folder), { check, json: true, draft: false }, io);
  return { code, found: io.lines.map((line) => JSON.parse(line) as Record<string, unknown>), errors: io.errors };
}

test("a client has the endpoints that the gateway serves, with the types of the schema", async () => {
  const folder = project(["ts", "connect"]);
  expect((await run(folder)).code).toBe(0);
  expect(listFiles(path.join(folder, "generated"))).toEqual([
    "connect/things/shop.ts",
    "item.ts",
    "registry.ts",
    "things/shop.ts",
  ]);
  const text = read(folder, "generated/connect/things/shop.ts");
  expect(text).toContain(`import { type Item, shopDescriptor } from "../../things/shop.js";

/**
 * Calls \`Shop\` actors through a gateway.
 *
 * It lacks \`subscribe\`: handles do not pass the gateway.
 */
export interface ShopClient {
  /** Sells an item. */
  readonly sell: UnaryMethod<[item: Item, count?: number], Item | null>;
  readonly later: UnaryMethod<[name: string], Item>;
  readonly follow: ServerStreamMethod<[], Item[]>;
  readonly close: UnaryMethod<[], void>;
}
`);
  // No endpoint of Relay is served.
  expect(text).not.toContain("Relay");
});

test("clients pass the formatter and the linter", async () => {
  const folder = project(["ts", "connect"]);
  await run(folder);
  addFiles(folder, { "biome.json": readFileSync(path.join(root, "biome.json"), "utf8") });
  const args = [biome, "check", "--error-on-warnings", "generated"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  expect({ status, output: status === 0 ? "" : stdout + stderr }).toEqual({ status: 0, output: "" });
});

test("an edited client is drift, and clients that are no longer requested are removed", async () => {
  const folder = project(["ts", "connect"]);
  await run(folder);
  const file = "generated/connect/things/shop.ts";
  expect(await run(folder, true)).toEqual({ code: 0, found: [], errors: expect.anything() });
  appendFileSync(path.join(folder, file), "\n");
  const { code, found } = await run(folder, true);
  expect(code).toBe(1);
  expect(found).toEqual([
    expect.objectContaining({ code: "VC3001", file, text: `${file} is not up to date with the schemas` }),
  ]);
  addFiles(folder, {
    "viceroy.config.ts": `export default ${JSON.stringify({ schemas: "schemas/**/*.ts", emit: ["ts"] })};`,
  });
  await run(folder);
  expect(listFiles(path.join(folder, "generated"))).toEqual(["item.ts", "registry.ts", "things/shop.ts"]);
});

test("a client whose file a schema file has taken is refused", async () => {
  const folder = project(["ts", "connect"]);
  addFiles(folder, { "schemas/connect/things/shop.ts": "export interface Taken { name: string }" });
  const { code, found } = await run(folder);
  expect(code).toBe(2);
  expect(found).toEqual([
    expect.objectContaining({
      code: "VC1008",
      file: "schemas/things/shop.ts",
      text: expect.stringContaining("connect/things/shop.ts"),
    }),
  ]);
});

test("clients without TypeScript are refused", async () => {
  const folder = project(["connect"]);
  const text =
    'cannot use viceroy.config.ts: invalid "emit": "connect" requires "ts", whose types and codecs its clients use';
  expect(await run(folder)).toMatchObject({ code: 3, found: [{ code: "VC4001", text }] });
});
