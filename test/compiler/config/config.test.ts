import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { ts } from "ts-morph";
import { expect, test } from "vitest";
import { findConfig, loadConfig, nearestConfig, validateConfig } from "../../../compiler/config/index.js";

const transpile = (file: string, text: string) =>
  ts.transpileModule(text, { fileName: file, compilerOptions: { module: ts.ModuleKind.CommonJS } }).outputText;

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), "viceroy-config-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

test("a config in TypeScript is loaded, and missing keys get their defaults", () => {
  const folder = folderWith({
    "viceroy.config.ts":
      'import { defineConfig } from "viceroy/compiler";\nconst s: string = "./schemas/**/*.ts";\nexport default defineConfig({ schemas: s });',
  });
  expect(loadConfig(findConfig(folder), transpile)).toEqual({
    root: folder,
    file: "viceroy.config.ts",
    schemas: ["schemas/**/*.ts"],
    actors: [],
    actorPackages: [],
    out: "generated",
    lock: "viceroy.lock",
    emit: ["ts"],
    proto: {},
    break: { ignore: [] },
  });
});

test("the error for a missing config names the folder that was searched and what to do", () => {
  const folder = folderWith({});
  expect(() => findConfig(folder)).toThrow(
    `cannot find a config: no viceroy.config.ts in ${folder}. Run \`npx viceroy init\` to write one, or change to the folder that contains it`,
  );
});

test("nearestConfig finds the config of the nearest enclosing project from any folder in it", () => {
  const folder = folderWith({
    "viceroy.config.ts": "",
    "packages/a/viceroy.config.mjs": "",
    "packages/b/src/x.ts": "",
  });
  expect(nearestConfig(folder)).toBe(path.join(folder, "viceroy.config.ts"));
  expect(nearestConfig(path.join(folder, "packages/a"))).toBe(path.join(folder, "packages/a/viceroy.config.mjs"));
  expect(nearestConfig(path.join(folder, "packages/b/src"))).toBe(path.join(folder, "viceroy.config.ts"));
  const outside = folderWith({});
  expect(() => nearestConfig(outside)).toThrow(
    `cannot find a config: no viceroy.config.ts in ${outside} or above it. Run \`npx viceroy init\` to write one, or change to the folder that contains it`,
  );
});

test("a config that throws is reported with the message of its error", () => {
  const folder = folderWith({ "viceroy.config.ts": 'throw new Error("no such luck")' });
  expect(() => loadConfig(findConfig(folder), transpile)).toThrow("cannot load viceroy.config.ts: no such luck");
});

test("all mistakes of a config are reported in one error", () => {
  const value = {
    schema: "x",
    actors: 3,
    out: "../up",
    lock: "",
    emit: ["ts", "thrift"],
    proto: { package: "Acme.Shop", optimize: true },
  };
  expect(() => validateConfig(value, "/p", "viceroy.config.ts")).toThrow(
    [
      'cannot use viceroy.config.ts: unknown key "schema": expected one of schemas, actors, out, lock, emit, importExtension, proto, break',
      'cannot use viceroy.config.ts: invalid "schemas": expected a glob pattern or a list of them, got undefined',
      'cannot use viceroy.config.ts: invalid "actors": expected a glob pattern or a list of them, got 3',
      'cannot use viceroy.config.ts: invalid "out": expected a path below the folder of the config, got "../up"',
      'cannot use viceroy.config.ts: invalid "lock": expected a path below the folder of the config, got ""',
      'cannot use viceroy.config.ts: invalid "emit": expected ts, proto, descriptor, jsonschema, capnp, connect, contract, got "thrift"',
      'cannot use viceroy.config.ts: unknown key "proto.optimize": expected package',
      'cannot use viceroy.config.ts: invalid "proto.package": expected names in snake case separated by dots, such as acme.shop.v1, got "Acme.Shop"',
    ].join("\n"),
  );
});

test("the error for a config that exports nothing says what to export", () => {
  expect(() => validateConfig(undefined, "/p", "viceroy.config.ts")).toThrow(
    "cannot use viceroy.config.ts: it must export a config as default: export default defineConfig({ … }), got undefined",
  );
});

test("each ignored breaking change must have a code, a place and a reason", () => {
  const entry = { code: "VC5035", place: "Tree.age", reason: "It was never released." };
  const ignoring = (ignore: unknown) => validateConfig({ schemas: "x", break: { ignore } }, "/p", "viceroy.config.ts");
  expect(ignoring([entry]).break).toEqual({ ignore: [entry] });
  expect(() => ignoring([{ ...entry, reason: " " }])).toThrow(
    'cannot use viceroy.config.ts: invalid "break": expected { code, place, reason }, all of them strings, got {"code":"VC5035","place":"Tree.age","reason":" "}',
  );
  expect(() => ignoring("VC5035")).toThrow(
    'cannot use viceroy.config.ts: invalid "break": expected a list of { code, place, reason }, got "VC5035"',
  );
});
