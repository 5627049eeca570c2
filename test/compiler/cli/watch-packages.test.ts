/** `viceroy compile --watch` as a process, whose schemas and actors use the packages beside it. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { addFiles, folderWith, read } from "../folder.js";

const binary = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));

const price = (field: string) => `import type { Actor } from "viceroy/schema";
export interface Price { ${field}: string }
export interface Pricing extends Actor { price(): Price }
`;

let folder: string;
let watcher: ChildProcess | undefined;
let said = "";

/** A package of prices, which is not installed yet, and a shop that uses its types and its actors. */
function workspace(): void {
  folder = folderWith({
    "prices/package.json": '{ "name": "@acme/prices", "exports": { "./price": "./generated/price.ts" } }',
    "prices/viceroy.config.ts": 'export default { schemas: "schemas/*.ts", emit: ["ts", "contract"] };\n',
    "prices/schemas/price.ts": price("first"),
    "staff/package.json": '{ "name": "@acme/staff", "exports": "./index.ts" }',
    "staff/index.ts": 'export { Fixed } from "./fixed.js";\n',
    "staff/fixed.ts":
      'import { PricingActor } from "@acme/prices/price";\nexport class Fixed extends PricingActor {}\n',
    "shop/package.json": '{ "name": "@acme/shop" }',
    "shop/viceroy.config.ts": 'export default { schemas: "schemas/*.ts", actors: ["@acme/staff"] };\n',
    "shop/schemas/shop.ts":
      'import type { Price } from "@acme/prices/price";\nexport interface Item { price: Price }\n',
  });
}

function install(name: string): void {
  mkdirSync(path.join(folder, "node_modules/@acme"), { recursive: true });
  symlinkSync(path.join(folder, name), path.join(folder, "node_modules/@acme", name));
}

function startWatcher(): void {
  said = "";
  watcher = spawn(process.execPath, [binary, "compile", "--watch"], {
    cwd: path.join(folder, "shop"),
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [watcher.stdout, watcher.stderr]) stream?.on("data", (chunk) => (said += String(chunk)));
}

/** Waits until the watcher says a text that it has not said before. */
async function says(text: string): Promise<void> {
  // The limit is far longer than any machine needs: a watcher that misses a change never sees it.
  const end = Date.now() + 30_000;
  while (!said.includes(text)) {
    if (Date.now() > end || watcher?.exitCode !== null) throw new Error(`expected ${text}, the watcher said:\n${said}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  said = said.slice(said.indexOf(text) + text.length);
}

function compilePrices(): void {
  execFileSync(process.execPath, [binary, "compile"], { cwd: path.join(folder, "prices"), stdio: "ignore" });
}

afterEach(async () => {
  const ended = new Promise((resolve) => watcher?.once("exit", resolve));
  watcher?.kill("SIGTERM");
  await ended;
});

test("the watcher sees that another package is installed, compiled, edited and compiled again", async () => {
  workspace();
  startWatcher();
  await says("the package @acme/prices is not installed for @acme/shop");
  install("prices");
  await says('the package @acme/prices is installed, but "@acme/prices/price" is no file of it');
  compilePrices();
  await says("cannot use the package @acme/staff: the package @acme/staff is not installed for @acme/shop");
  install("staff");
  await says("wrote   generated/shop.ts");
  for (const field of ["second", "third"]) {
    // Editors replace a file by a rename.
    addFiles(folder, { "prices/schemas/price.ts.tmp": price(field) });
    renameSync(path.join(folder, "prices/schemas/price.ts.tmp"), path.join(folder, "prices/schemas/price.ts"));
    await says("the contract of @acme/prices is older than its schemas/price.ts");
    if (field === "third") rmSync(path.join(folder, "prices/generated"), { recursive: true });
    compilePrices();
    await says("updated generated/shop.ts");
  }
});

test("the watcher sees a new actor in a file of another package, and its output is that of a new compilation", async () => {
  workspace();
  install("prices");
  install("staff");
  compilePrices();
  startWatcher();
  await says("wrote   generated/shop.ts");
  addFiles(folder, {
    "staff/fixed.ts": `${read(folder, "staff/fixed.ts")}export class Other extends PricingActor {}\n`,
    "staff/index.ts": 'export { Fixed, Other } from "./fixed.js";\n',
  });
  await says("updated generated/registry.ts");
  expect(read(folder, "shop/generated/registry.ts")).toContain('"@acme/staff#Other"');
  addFiles(folder, { "prices/schemas/price.ts": price("second") });
  await says("is older than");
  compilePrices();
  await says("updated generated/shop.ts");
  const files = ["shop/generated/shop.ts", "shop/generated/registry.ts"];
  const watched = files.map((file) => read(folder, file));
  rmSync(path.join(folder, "shop/generated"), { recursive: true });
  execFileSync(process.execPath, [binary, "compile"], { cwd: path.join(folder, "shop"), stdio: "ignore" });
  expect(files.map((file) => read(folder, file))).toEqual(watched);
});
