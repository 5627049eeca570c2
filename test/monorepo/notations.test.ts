/** `.proto`, JSON Schema and Cap'n Proto files of schemas that import types of other packages, read by other programs. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compile } from "../../compiler/cli/commands/compile.js";
import { Project } from "../../compiler/cli/project.js";
import { describeText } from "../compiler/emit/proto/protoc.js";
import { addFiles, folderWith, listFiles, read, TestIo } from "../compiler/folder.js";
import { peer, runPeer } from "../peers.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const config = (emit: string) => `export default { schemas: "schemas/*.ts", emit: ${emit} };\n`;
const manifest = (name: string) =>
  JSON.stringify({ name: `@acme/${name}`, type: "module", exports: { "./*": "./generated/*.ts" } });

const prices = (more: string) => `import type { Int32, Int64 } from "viceroy/schema";
import type { Currency } from "@acme/money/money";
import type { Discount } from "./discount.js";
/** What something costs. */
export interface Price { cents: Int32; ${more}currency: Currency; kind: "net" | "gross"; discounts: Discount[] }
export interface Page<T> { items: T[]; order: "up" | "down"; total?: Price.Sum }
export interface Box<T> { content: T; lid: "open" | "shut" }
export namespace Price { export interface Sum { cents: Int64 } }
export interface PricePage { page: Page<Price> }
`;

/**
 * A shop imports types from prices, whose types refer to those of money. Prices and offers have types and values of the
 * same names.
 */
const folder = folderWith({
  "money/package.json": manifest("money"),
  "money/viceroy.config.ts": config('["ts", "contract"]'),
  "money/schemas/money.ts": `export enum Currency { EUR, USD = 7 }\nexport interface Unused { a: string }\n`,
  "prices/package.json": manifest("prices"),
  "prices/viceroy.config.ts": config('["ts", "contract"]'),
  "prices/schemas/price.ts": prices("note?: string; "),
  "prices/schemas/discount.ts": `import type { Price } from "./price.js";
import type { Actor } from "viceroy/schema";
export interface Discount { percent: number; least?: Price }
export interface Discounts extends Actor { of(price: Price): Discount }
`,
  "offers/package.json": manifest("offers"),
  "offers/viceroy.config.ts": config('["ts", "contract"]'),
  "offers/schemas/offer.ts": 'export interface Price { kind: "net" | "gross" }\n',
  "shop/package.json": manifest("shop"),
  "shop/viceroy.config.ts": config('["ts", "proto", "descriptor", "jsonschema", "capnp", "connect"]'),
  "shop/schemas/shop.ts": `import type { Box, Page, Price } from "@acme/prices/price";
import type { Discounts } from "@acme/prices/discount";
import type { Price as Offer } from "@acme/offers/offer";
export interface Item { price: Price; offer: Offer; sum?: Price.Sum; color: "red" | "blue"; boxes: Map<string, Box<Offer>> }
export interface Shop extends Discounts { items(): Page<Item>; prices(): Page<Price>; sell(item: Item): void }
`,
});
const shop = path.join(folder, "shop");
const proto = path.join(shop, "generated/proto");

async function compiled(name: string): Promise<readonly string[]> {
  const io = new TestIo();
  const project = new Project(path.join(folder, name));
  expect({ code: await compile(project, { check: false, json: true, draft: false, base: false }, io), ...io }).toEqual({
    ...{ code: 0, lines: [], errors: [] },
  });
  return listFiles(path.join(folder, name, "generated"));
}

/** Runs a module in the shop, and returns its output. */
function runModule(text: string): Buffer {
  writeFileSync(path.join(shop, "run.ts"), text);
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", "run.ts"], { cwd: shop });
  expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

const value = `{
  price: { cents: 5, currency: Currency.USD, kind: "gross", discounts: [{ percent: 2.5 }] },
  offer: { kind: "net" },
  sum: { cents: 7n },
  color: "blue",
  boxes: new Map([["a", { content: { kind: "gross" }, lid: "shut" }]]),
} satisfies Item`;
const imports = `import { Currency } from "@acme/money/money";
import { type Item, ItemCodec } from "./generated/shop.js";
`;

beforeAll(async () => {
  mkdirSync(path.join(folder, "node_modules/@acme"), { recursive: true });
  for (const name of ["money", "prices", "offers"])
    symlinkSync(path.join(folder, name), path.join(folder, "node_modules/@acme", name));
  symlinkSync(root, path.join(folder, "node_modules/viceroy"));
  for (const name of ["tsx", "@types", "@connectrpc"])
    symlinkSync(path.join(root, "node_modules", name), path.join(folder, "node_modules", name));
  for (const name of ["money", "prices"]) await compiled(name);
  // A member that was removed reserves its number and its position.
  addFiles(folder, { "prices/schemas/price.ts": prices("") });
  for (const name of ["prices", "offers", "shop"]) await compiled(name);
});
afterAll(() => rmSync(folder, { recursive: true }));

test("the types of another package are in its protobuf package, and those that nobody needs are left out", () => {
  expect(listFiles(proto)).toEqual([
    "acme/money/v1/money.proto",
    "acme/offers/v1/offer.proto",
    "acme/prices/v1/discount.proto",
    "acme/shop/v1/shop.proto",
    "buf.yaml",
  ]);
  const text = read(proto, "acme/shop/v1/shop.proto");
  expect(text).toContain('import "acme/offers/v1/offer.proto";\nimport "acme/prices/v1/discount.proto";\n');
  expect(text).toContain("  acme.prices.v1.Price price = 1;\n  acme.offers.v1.Price offer = 2;\n");
  // prices has no instance of Box, whose enum is there nevertheless.
  expect(text).toContain(
    "message BoxOfPrice {\n  acme.offers.v1.Price content = 1;\n  acme.prices.v1.BoxLid lid = 2;\n",
  );
  expect(text).toContain("  repeated Item items = 1;\n  acme.prices.v1.PageOrder order = 2;\n");
  expect(read(proto, "acme/prices/v1/discount.proto")).toMatch(
    /^\/\/ Generated by viceroy \S+ from @acme\/prices\/schemas\/discount\.ts, @acme\/prices\/schemas\/price\.ts\. [\s\S]*message Price \{\n {2}reserved 2;\n {2}reserved "note";\n/,
  );
});

describe.skipIf(peer("protoc") === undefined)("protoc", () => {
  const files = () => listFiles(proto).filter((file) => file.endsWith(".proto"));

  test("accepts the files and describes them like the descriptor set", () => {
    const out = path.join(folder, "protoc.binpb");
    const { status, stderr } = runPeer("protoc", ["-I", proto, "-o", out, ...files()]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(describeText(path.join(shop, "generated/descriptor.binpb"))).toEqual(describeText(out));
  });

  test("reads the bytes of the codecs, and the codecs read its bytes", () => {
    const bytes = runModule(`${imports}process.stdout.write(ItemCodec.toProtobuf(${value}));`);
    const convert = (option: string, input: Uint8Array) => {
      const { status, stderr, stdout } = runPeer("protoc", ["-I", proto, option, ...files()], { input });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      return stdout;
    };
    const text = convert("--decode=acme.shop.v1.Item", bytes).toString();
    // No field is unknown: unknown fields are printed by their numbers.
    expect(text).not.toMatch(/^\s*\d/m);
    expect(text).toContain("currency: CURRENCY_USD\n  kind: PRICE_KIND_GROSS");
    expect(text).toContain("lid: BOX_LID_SHUT");
    addFiles(shop, { "item.txt": text });
    writeFileSync(path.join(shop, "item.bin"), convert("--encode=acme.shop.v1.Item", Buffer.from(text)));
    runModule(`${imports}import assert from "node:assert";
import { readFileSync } from "node:fs";
assert.deepStrictEqual(ItemCodec.fromProtobuf(readFileSync("item.bin")), ${value});`);
  });
});

test("JSON Schema contains copies of the types and accepts the JSON of the codecs", () => {
  const json: unknown = JSON.parse(
    runModule(`${imports}console.log(JSON.stringify(ItemCodec.toJson(${value})));`).toString(),
  );
  const schema = JSON.parse(read(shop, "generated/jsonschema.json")) as { readonly $defs: object };
  expect(Object.keys(schema.$defs)).toEqual(
    expect.arrayContaining(["Item", "acme.offers.v1.Price", "acme.prices.v1.Price", "acme.money.v1.Currency"]),
  );
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, ownProperties: true });
  const validate = ajv.addSchema(schema).compile({ $ref: "urn:viceroy:acme.shop.v1#/$defs/Item" });
  expect({ valid: validate(json), errors: validate.errors }).toEqual({ valid: true, errors: null });
  const wrong = { ...(json as object), price: { cents: "five" } };
  expect(validate(wrong)).toBe(false);
});

describe.skipIf(peer("capnp") === undefined)("capnp", () => {
  test("reads messages of the generated writers and writes them again, with the position of a removed member", () => {
    expect(listFiles(path.join(shop, "generated/capnp"))).toEqual([
      ...["@acme/money/money", "@acme/offers/offer", "@acme/prices/discount", "@acme/prices/price"].flatMap((name) => [
        `packages/${name}.capnp`,
        ...(name === "@acme/money/money" ? [] : [`packages/${name}.ts`]),
      ]),
      ...["shop.capnp", "shop.ts"],
    ]);
    expect(read(shop, "generated/capnp/packages/@acme/prices/price.capnp")).toContain("obsoleteNote @1 ");
    const capnp = 'import { decodeItemCapnp, writeItemCapnp } from "./generated/capnp/shop.js";\n';
    const bytes = runModule(`${imports}${capnp}process.stdout.write(writeItemCapnp(${value}));`);
    const convert = (formats: string, input: Uint8Array) => {
      const args = ["convert", "--quiet", formats, path.join(shop, "generated/capnp/shop.capnp"), "Item"];
      const { status, stderr, stdout } = runPeer("capnp", args, { input });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      return stdout;
    };
    const json = convert("binary:json", bytes);
    expect(JSON.parse(json.toString())).toMatchObject({ price: { cents: 5, kind: "gross" }, color: "blue" });
    writeFileSync(path.join(shop, "item.capnp"), convert("json:binary", json));
    runModule(`${imports}${capnp}import assert from "node:assert";
import { readFileSync } from "node:fs";
assert.deepStrictEqual(decodeItemCapnp(readFileSync("item.capnp")), ${value});`);
  });
});

test("the generated TypeScript of all notations has no type error", () => {
  const options = {
    compilerOptions: {
      ...{ target: "es2022", module: "nodenext", strict: true, noEmit: true, skipLibCheck: true },
      ...{ lib: ["esnext"], types: ["node"], allowImportingTsExtensions: true },
    },
    include: ["generated"],
  };
  writeFileSync(path.join(shop, "tsconfig.json"), JSON.stringify(options));
  const tsc = path.join(root, "node_modules/.bin/tsc");
  const { status, stdout } = spawnSync(tsc, ["-p", "tsconfig.json"], { cwd: shop });
  expect({ status, output: stdout.toString() }).toEqual({ status: 0, output: "" });
});

const lint = "lint:\n  use:\n    - STANDARD\n";

function runBuf(modules: readonly string[]): void {
  const paths = modules.map((name) => `  - path: ${name}/generated/proto\n`).join("");
  writeFileSync(path.join(folder, "buf.yaml"), `version: v2\nmodules:\n${paths}${lint}`);
  for (const command of ["lint", "build"]) {
    const { status, stdout, stderr } = runPeer("buf", [command], { cwd: folder });
    expect({ command, status, output: `${stdout}${stderr}` }).toEqual({ command, status: 0, output: "" });
  }
}

test.skipIf(peer("buf") === undefined)(
  "buf accepts the copies, and the files of another package once it emits them itself",
  async () => {
    runBuf(["shop"]);
    const copy = read(proto, "acme/prices/v1/discount.proto");
    addFiles(folder, { "prices/viceroy.config.ts": config('["ts", "contract", "proto"]') });
    await compiled("prices");
    const withoutHeader = (text: string) => text.slice(text.indexOf("\n"));
    expect(withoutHeader(read(folder, "prices/generated/proto/acme/prices/v1/discount.proto"))).toBe(
      withoutHeader(copy),
    );
    await compiled("shop");
    expect(existsSync(path.join(proto, "acme/prices"))).toBe(false);
    expect(read(proto, "acme/shop/v1/shop.proto")).toContain('import "acme/prices/v1/discount.proto";\n');
    // Both packages have a copy of the types of money, which emits none, so money must emit its own.
    addFiles(folder, { "money/viceroy.config.ts": config('["ts", "contract", "proto"]') });
    for (const name of ["money", "prices", "shop"]) await compiled(name);
    runBuf(["money", "prices", "shop"]);
    expect(readFileSync(path.join(shop, "generated/descriptor.binpb")).includes("acme/prices/v1/discount.proto")).toBe(
      true,
    );
  },
);
