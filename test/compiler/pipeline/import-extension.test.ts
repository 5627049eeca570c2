/** Generated code imports TypeScript files by the extension that the project uses. */
import path from "node:path";
import { expect, test } from "vitest";
import { compile } from "../../../compiler/cli/commands/compile.js";
import { Project } from "../../../compiler/cli/project.js";
import { chooseImportExtension } from "../../../compiler/pipeline/import-extension.js";
import { addFiles, folderWith, read, TestIo } from "../folder.js";

const options = (more: object) => JSON.stringify({ compilerOptions: more });

function extensionOf(files: Readonly<Record<string, string>>, texts: readonly string[] = []): string {
  return chooseImportExtension({ root: folderWith(files) }, () => texts).extension;
}

test.each<[string, Readonly<Record<string, string>>, readonly string[], string]>([
  ["no settings", {}, ['import "./a.js";'], ".js"],
  ["no option", { "tsconfig.json": options({ strict: true }) }, [], ".js"],
  ["allowImportingTsExtensions", { "tsconfig.json": options({ allowImportingTsExtensions: true }) }, [], ".ts"],
  ["a disabled option", { "tsconfig.json": options({ allowImportingTsExtensions: false }) }, [], ".js"],
  [
    "rewriteRelativeImportExtensions",
    { "tsconfig.json": options({ rewriteRelativeImportExtensions: true }) },
    [],
    ".ts",
  ],
  [
    "comments",
    { "tsconfig.json": '{ // yes\n"compilerOptions": { "allowImportingTsExtensions": true, }, }' },
    [],
    ".ts",
  ],
  [
    "a setting that is extended",
    { "tsconfig.json": '{ "extends": "./base.json" }', "base.json": options({ allowImportingTsExtensions: true }) },
    [],
    ".ts",
  ],
  ["an unreadable file", { "tsconfig.json": "{ nonsense" }, [], ".js"],
  ["an actor that imports .ts", {}, ['import { A } from "../generated/a.ts";'], ".ts"],
  ["a lazy import of .mts", {}, ['const a = await import("./a.mts");'], ".ts"],
  ["an export from .ts", {}, ['export { A } from "./a.ts";'], ".ts"],
  ["declarations", {}, ['import type { A } from "./a.d.ts";'], ".js"],
  ["a package whose name ends with .ts", {}, ['import { A } from "a.ts";'], ".js"],
])("with %s", (_, files, texts, extension) => {
  expect(extensionOf(files, texts)).toBe(extension);
});

test("the nearest tsconfig.json above the project counts, and the config counts before all", () => {
  const folder = folderWith({
    "tsconfig.json": options({ allowImportingTsExtensions: true }),
    "packages/app/viceroy.config.ts": "",
  });
  const root = path.join(folder, "packages/app");
  expect(chooseImportExtension({ root }, () => [])).toEqual({
    extension: ".ts",
    settings: [path.join(root, "tsconfig.json"), path.join(folder, "tsconfig.json")],
  });
  expect(chooseImportExtension({ root, importExtension: ".js" }, () => [])).toEqual({ extension: ".js", settings: [] });
});

function project(config = ""): string {
  return folderWith({
    "package.json": '{ "name": "shop", "type": "module" }',
    "viceroy.config.ts": `export default { schemas: "schemas/*.ts", actors: "src/*.ts"${config} };\n`,
    "schemas/store.ts":
      'import type { Actor } from "viceroy/schema";\nimport type { Entry } from "./entry.js";\nexport interface Store extends Actor { get(): Entry }\n',
    "schemas/entry.ts": "export interface Entry { key: string }\n",
    "src/store.ts":
      'import { StoreActor } from "../generated/store";\nexport class MemoryStore extends StoreActor {}\n',
  });
}

async function run(folder: string) {
  const io = new TestIo();
  const code = await compile(new Project(folder), { check: false, json: false, draft: false }, io).catch(
    (error: Error) => error.message,
  );
  return { code, out: io.lines.join("\n") };
}

function imports(folder: string): readonly string[] {
  const texts = ["generated/store.ts", "generated/registry.ts"].map((file) => read(folder, file)).join("\n");
  return [...texts.matchAll(/(?:from |import\()"(\.[^"]*)"/g)].map(([, from]) => from!);
}

test("a change of tsconfig.json changes the imports of all generated files at the next run", async () => {
  const folder = project();
  expect((await run(folder)).code).toBe(0);
  expect(new Set(imports(folder))).toEqual(new Set(["./entry.js", "../src/store.js"]));
  expect((await run(folder)).out).toBe("Nothing to do: generated code is up to date.");
  addFiles(folder, { "tsconfig.json": options({ allowImportingTsExtensions: true }) });
  expect((await run(folder)).code).toBe(0);
  expect(new Set(imports(folder))).toEqual(new Set(["./entry.ts", "../src/store.ts"]));
});

test("importExtension selects the extension, and another value is refused", async () => {
  const folder = project(', importExtension: ".ts"');
  expect((await run(folder)).code).toBe(0);
  expect(new Set(imports(folder))).toEqual(new Set(["./entry.ts", "../src/store.ts"]));
  expect((await run(project(', importExtension: "ts"'))).code).toBe(
    'cannot use viceroy.config.ts: invalid "importExtension": expected ".js" or ".ts", got "ts"',
  );
});
