/** What the compiler says if a package that schemas or actors need cannot be used. */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { compile } from "../../compiler/cli/commands/compile.js";
import { Project } from "../../compiler/cli/project.js";
import type { Diagnostic } from "../../compiler/diagnostics/index.js";
import { version } from "../../compiler/version.js";
import { addFiles, folderWith, read, TestIo } from "../compiler/folder.js";

const config = (settings: string) => `export default ${settings};\n`;

/** A contract package, and a package that uses it, linked like a workspace. */
function workspace(user: Readonly<Record<string, string>>, settings: string): string {
  const folder = folderWith({
    "prices/package.json": '{ "name": "@acme/prices", "exports": { "./price": "./generated/price.ts" } }',
    "prices/viceroy.config.ts": config('{ schemas: "schemas/*.ts", emit: ["ts", "contract"] }'),
    "prices/schemas/price.ts": `import type { Actor, Int32 } from "viceroy/schema";
export interface Price { cents: Int32 }
export interface Pricing extends Actor { price(): Price }
`,
    "shop/package.json": '{ "name": "@acme/shop" }',
    "shop/viceroy.config.ts": config(settings),
  });
  addFiles(path.join(folder, "shop"), user);
  link(folder, "prices");
  return folder;
}

function link(folder: string, name: string): void {
  mkdirSync(path.join(folder, "node_modules/@acme"), { recursive: true });
  symlinkSync(path.join(folder, name), path.join(folder, "node_modules/@acme", name));
}

async function diagnose(folder: string, name: string): Promise<readonly string[]> {
  const io = new TestIo();
  const project = new Project(path.join(folder, name));
  await compile(project, { check: false, json: true, draft: false, base: false }, io);
  return io.lines.map((line) => {
    const { code, file, text, fix } = JSON.parse(line) as Diagnostic;
    return `${file} ${code}: ${text.replaceAll(folder, "<folder>")} ${fix}`;
  });
}

const schema = {
  "schemas/shop.ts": `import type { Price } from "@acme/prices/price";
export interface Item { price: Price }
`,
};
const ofSchemas = '{ schemas: "schemas/*.ts" }';
const actor = {
  "src/prices.ts": `import { PricingActor } from "@acme/prices/price";
export class FixedPrice extends PricingActor { price() { return { cents: 1 }; } }
`,
};
const ofActors = '{ actors: "src/*.ts" }';

function editContract(folder: string, edit: (text: string) => string): void {
  const file = path.join(folder, "prices/generated/contract.json");
  writeFileSync(file, edit(readFileSync(file, "utf8")));
}

test("a package that was not compiled is named, for schemas and for actors", async () => {
  const folder = workspace({ ...schema, ...actor }, '{ schemas: "schemas/*.ts", actors: "src/*.ts" }');
  expect(await diagnose(folder, "shop")).toEqual([
    'schemas/shop.ts VC1005: cannot import from "@acme/prices/price": the package @acme/prices is installed, but "@acme/prices/price" is no file of it ' +
      'Build @acme/prices, or add the module to "exports" of its package.json.',
  ]);
  // Generated code is there, and the contract is not.
  addFiles(folder, { "prices/generated/price.ts": "export class PricingActor {}\n" });
  const hint = 'Add "contract" to "emit" in the config of @acme/prices, and run `npx viceroy compile` there.';
  expect(await diagnose(folder, "shop")).toEqual([
    `schemas/shop.ts VC1005: cannot import from "@acme/prices/price": the package @acme/prices has no contract ${hint}`,
  ]);
  const actors = workspace(actor, ofActors);
  addFiles(actors, { "prices/generated/price.ts": "export class PricingActor {}\n" });
  expect(await diagnose(actors, "shop")).toEqual([
    `src/prices.ts VC1012: cannot register the actors of src/prices.ts: the package @acme/prices has no contract ${hint}`,
  ]);
});

test("a contract of another format, a damaged one and one of another package are refused", async () => {
  const folder = workspace(actor, ofActors);
  expect(await diagnose(folder, "prices")).toEqual([]);
  const why = async (edit: (text: string) => string) => {
    const before = read(folder, "prices/generated/contract.json");
    editContract(folder, edit);
    const found = await diagnose(folder, "shop");
    editContract(folder, () => before);
    return found.map((text) => text.replace("src/prices.ts VC1012: cannot register the actors of src/prices.ts: ", ""));
  };
  expect(
    await why((text) =>
      text.replace('"format": 1', '"format": 2').replace(`"viceroy": "${version}"`, '"viceroy": "0.9.0"'),
    ),
  ).toEqual([
    `the contract of @acme/prices was written by viceroy 0.9.0 in format 2, and viceroy ${version} reads format 1 ` +
      "Use the same version of Viceroy in both packages, and run `npx viceroy compile` in @acme/prices.",
  ]);
  expect(await why((text) => text.replace('"modules"', '"module"'))).toEqual([
    "the contract of @acme/prices is damaged: a part of it is missing Run `npx viceroy compile` in @acme/prices.",
  ]);
  expect((await why((text) => text.slice(0, 50)))[0]).toMatch(/^the contract of @acme\/prices is damaged: \S+/);
  expect(await why((text) => text.replace('"package": "@acme/prices"', '"package": "@acme/fork"'))).toEqual([
    "the contract of @acme/prices was compiled for @acme/fork Run `npx viceroy compile` in @acme/prices.",
  ]);
  expect(await diagnose(folder, "shop")).toEqual([]);
  expect(read(folder, "shop/generated/registry.ts")).toContain('"@acme/shop/src/prices#FixedPrice"');
});

test("a contract that this version reads differently is refused", async () => {
  const folder = workspace(schema, ofSchemas);
  await diagnose(folder, "prices");
  editContract(folder, (text) => text.replace(/"fingerprint": "[0-9a-f]{16}"/, '"fingerprint": "0000000000000001"'));
  expect(await diagnose(folder, "shop")).toEqual([
    `viceroy.config.ts VC4005: cannot use the schemas of another package: the contract of @acme/prices was written by viceroy ${version}, and this version ` +
      "reads it differently: its schemas/price.ts has another fingerprint now Use the same version of Viceroy in both packages, and run `npx viceroy compile` in @acme/prices.",
  ]);
});

test("the contract is older than the schemas of its package", async () => {
  const folder = workspace(schema, ofSchemas);
  await diagnose(folder, "prices");
  addFiles(folder, { "prices/schemas/price.ts": "export interface Price { cents: number }\n" });
  expect(await diagnose(folder, "shop")).toEqual([
    'schemas/shop.ts VC1005: cannot import from "@acme/prices/price": the contract of @acme/prices is older than its schemas/price.ts ' +
      "Run `npx viceroy compile` in @acme/prices.",
  ]);
});

test("two packages with the same actor id are reported", async () => {
  const folder = workspace(actor, ofActors);
  await diagnose(folder, "prices");
  // A copy of the whole package, with its lock.
  const copied = (name: string) => read(folder, `prices/${name}`).replaceAll("@acme/prices", "@acme/offers");
  const names = ["package.json", "viceroy.config.ts", "schemas/price.ts", "viceroy.lock"];
  addFiles(folder, Object.fromEntries(names.map((name) => [`offers/${name}`, copied(name)])));
  link(folder, "offers");
  expect(await diagnose(folder, "offers")).toEqual([]);
  addFiles(folder, {
    "shop/src/offers.ts": actor["src/prices.ts"].replace("@acme/prices", "@acme/offers").replace("FixedPrice", "Offer"),
  });
  const found = await diagnose(folder, "shop");
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(
    /^viceroy\.lock VC4003: @acme\/\w+\/schemas\/price#Pricing and @acme\/\w+\/schemas\/price#Pricing have the same id 0x[0-9a-f]{8} One of the packages has a copy/,
  );
});

test("a package of actors that is not installed, or exports no actors, is named", async () => {
  const folder = workspace({}, '{ actors: ["@acme/none", "@acme/prices/price"] }');
  await diagnose(folder, "prices");
  expect(await diagnose(folder, "shop")).toEqual([
    "viceroy.config.ts VC4002: cannot use the package @acme/none: the package @acme/none is not installed for @acme/shop Add @acme/none to the dependencies there, and install them.",
    "viceroy.config.ts VC4002: cannot use the package @acme/prices/price: it exports no class that extends a generated base class Export the actor classes from that module, or remove it from `actors`.",
  ]);
});

test("two installed versions of a contract cannot be mixed", async () => {
  const folder = workspace(
    {
      ...schema,
      "schemas/other.ts": 'import type { Offer } from "@acme/offers/offer";\nexport interface Other { offer: Offer }\n',
    },
    ofSchemas,
  );
  await diagnose(folder, "prices");
  addFiles(folder, {
    "offers/package.json": '{ "name": "@acme/offers", "exports": { "./offer": "./generated/offer.ts" } }',
    "offers/viceroy.config.ts": config('{ schemas: "schemas/*.ts", emit: ["ts", "contract"] }'),
    "offers/schemas/offer.ts":
      'import type { Price } from "@acme/prices/price";\nexport interface Offer { price: Price }\n',
  });
  link(folder, "offers");
  for (const name of [
    "package.json",
    "viceroy.config.ts",
    "schemas/price.ts",
    "viceroy.lock",
    "generated/price.ts",
    "generated/contract.json",
  ]) {
    addFiles(folder, { [`offers/node_modules/@acme/prices/${name}`]: read(folder, `prices/${name}`) });
  }
  expect(await diagnose(folder, "offers")).toEqual([]);
  const [found] = await diagnose(folder, "shop");
  expect(found).toMatch(
    /two versions of @acme\/prices are installed, at <folder>\/\S+ and <folder>\/\S+ Install one version/,
  );
});

test("package.json names the contract, if it is in another folder than the generated modules", async () => {
  const folder = workspace(schema, ofSchemas);
  const manifest = (contract: string) =>
    `{ "name": "@acme/prices", "viceroy": { "contract": ${contract} }, "exports": { "./price": "./dist/price.js" } }`;
  addFiles(folder, {
    "prices/viceroy.config.ts": config('{ schemas: "schemas/*.ts", out: "gen", emit: ["ts", "contract"] }'),
  });
  await diagnose(folder, "prices");
  addFiles(folder, {
    "prices/package.json": manifest('"./gen/contract.json"'),
    "prices/dist/price.js": "export const PriceCodec = 1, PricingActor = 2, pricingDescriptor = 3;\n",
    "prices/dist/price.d.ts": "export {};\n",
  });
  expect(await diagnose(folder, "shop")).toEqual([]);
  expect(read(folder, "shop/generated/shop.ts")).toContain('from "@acme/prices/price"');
  addFiles(folder, { "prices/package.json": manifest('"./none/contract.json"') });
  const refused = 'schemas/shop.ts VC1005: cannot import from "@acme/prices/price": ';
  expect(await diagnose(folder, "shop")).toEqual([
    `${refused}the package @acme/prices has no contract: there is no none/contract.json ` +
      'Add "contract" to "emit" in the config of @acme/prices, and run `npx viceroy compile` there.',
  ]);
  addFiles(folder, { "prices/package.json": manifest("true") });
  expect(await diagnose(folder, "shop")).toEqual([
    `${refused}the package.json of @acme/prices has no path in "viceroy.contract", got true ` +
      'Write the path of contract.json in the package: "viceroy": { "contract": "./generated/contract.json" }.',
  ]);
});

test("a class extends a class of another package, in TypeScript or compiled to JavaScript", async () => {
  const double = 'import { FixedPrice } from "@acme/staff";\nexport class Double extends FixedPrice {}\n';
  const folder = workspace({ "src/double.ts": double }, ofActors);
  await diagnose(folder, "prices");
  const fixed = `import { PricingActor } from "@acme/prices/price";
class Common extends PricingActor {}
export class FixedPrice extends Common {}
`;
  const variants = {
    "./index.ts": { "staff/index.ts": 'export * from "./fixed.js";\n', "staff/fixed.ts": fixed },
    "./dist/index.js": {
      "staff/dist/index.js": 'export { FixedPrice } from "./fixed.js";\n',
      "staff/dist/index.d.ts": 'export { FixedPrice } from "./fixed.js";\n',
      "staff/dist/fixed.js": fixed,
      "staff/dist/fixed.d.ts": "declare const Common: any;\nexport declare class FixedPrice extends Common {}\n",
    },
  };
  link(folder, "staff");
  for (const [exports, files] of Object.entries(variants)) {
    rmSync(path.join(folder, "staff"), { recursive: true, force: true });
    addFiles(folder, { "staff/package.json": JSON.stringify({ name: "@acme/staff", exports }), ...files });
    rmSync(path.join(folder, "shop/generated"), { recursive: true, force: true });
    expect(await diagnose(folder, "shop")).toEqual([]);
    const registry = read(folder, "shop/generated/registry.ts");
    expect(registry).toContain('"@acme/shop/src/double#Double": {\n      schema: "@acme/prices/schemas/price#Pricing"');
    // The class of the other package is not listed: the config does not name that package.
    expect(registry).not.toContain("FixedPrice");
  }
});

test("a package without schemas has no lock", async () => {
  const folder = workspace(actor, ofActors);
  await diagnose(folder, "prices");
  expect(await diagnose(folder, "shop")).toEqual([]);
  expect(() => read(folder, "shop/viceroy.lock")).toThrow("ENOENT");
  rmSync(folder, { recursive: true });
});
