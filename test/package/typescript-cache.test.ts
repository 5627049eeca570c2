/** Checks that child processes of programs that run with tsx load transformed modules, as tsx itself would load them. */
import fs from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inheritedTsx } from "../../runtime/proc/launch/typescript-cache.js";
import { type Outcome, root, run } from "../examples/program.js";
import { installInto, write } from "../examples/project.js";

let folder: string;
let cache: string;

const actor = `
import { ProbeActor } from "../generated/probe.js";
import { alias } from "#app/alias.js";
import { aliased } from "~/aliased";
import { Kind, named } from "./helper.js";
import settings, { size } from "./settings.json";
import plain from "plain";

const seen: string[] = [];
function logged(_prototype: object, name: string) { seen.push(name); }

export class Probe extends ProbeActor {
  @logged
  async report() {
    const { late } = await import("./late.js");
    return JSON.stringify({ alias, aliased, kind: Kind.B, named: named.name, settings: settings.size + size, plain: plain.plain, late, seen });
  }
  common() { return import("./common.cjs").then(({ answer }) => answer); }
  fail(): string {
    interface Unused { readonly a: string; readonly b: string }
    throw new Error("on purpose");
  }
}
`;

function project(type: "module" | "commonjs"): string {
  const made = fs.mkdtempSync(path.join(tmpdir(), "viceroy-tsx-"));
  installInto(made);
  const files = {
    "package.json": JSON.stringify({ name: "app", type, imports: { "#app/*": "./src/*" } }),
    "viceroy.config.ts": `export default { schemas: "schemas/**/*.ts", actors: "src/probe.ts", out: "generated" };\n`,
    "tsconfig.base.json": `{ // comments are allowed\n"compilerOptions": { "experimentalDecorators": true, "paths": { "~/*": ["./src/*"], }, } }`,
    "tsconfig.json": `{ "extends": "./tsconfig.base.json", "compilerOptions": { "target": "es2022", "module": "nodenext" } }`,
    "schemas/probe.ts": `import type { Actor } from "viceroy/schema";
export interface Probe extends Actor { report(): string; common(): string; fail(): string; }\n`,
    "src/probe.ts": actor,
    "src/alias.ts": `export const alias: string = "alias";\n`,
    "src/aliased.ts": `export const aliased: string = "aliased";\n`,
    "src/helper.ts": `export enum Kind { A, B }\nexport const named = class Named {};\n`,
    "src/late.ts": `export const late: string = "late";\n`,
    "src/common.cts": `export const answer: string = "common";\n`,
    "src/settings.json": `{ "size": 2 }\n`,
    "src/main.ts": `import { thisHost } from "viceroy";
import "../generated/registry.js";
import type { ProbeMesh } from "../generated/probe.js";
const isolation = (process.argv[3] ?? "process") as "process" | "thread";
async function main() {
  const { Probe } = await import("./probe.js");
  await using procs = thisHost().spawnProcs({ procs: 2 }, { isolation });
  const probes = procs.spawn("probes", Probe) as unknown as ProbeMesh<"procs">;
  const endpoint = (process.argv[2] ?? "report") as "report" | "common" | "fail";
  console.log([...(await probes[endpoint].call()).values()].join("\\n"));
}
main().catch((error) => { console.log(String(error.stack), String(error.cause?.stack), error.remoteStack); process.exit(1); });
`,
    "node_modules/plain/package.json": `{ "name": "plain", "main": "index.js" }`,
    "node_modules/plain/index.js": `exports.plain = "plain";\n`,
  };
  for (const [name, text] of Object.entries(files)) write(path.join(made, name), text);
  return made;
}

const nodes = [
  process.execPath,
  ...["node22", "node24"].map((name) => path.join(root, ".ci/node/node_modules", name, "bin/node")),
].filter((file) => fs.existsSync(file));

const tsxUrl = new URL(import.meta.resolve("tsx")).href;

function start(args: readonly string[] = [], node = process.execPath, at = folder): Promise<Outcome> {
  return run(node, ["--import", tsxUrl, "src/main.ts", ...args], at, {
    XDG_CACHE_HOME: cache,
    NODE_OPTIONS: "",
    NODE_V8_COVERAGE: "",
  });
}

const expected = JSON.stringify({
  alias: "alias",
  aliased: "aliased",
  kind: 1,
  named: "Named",
  settings: 4,
  plain: "plain",
  late: "late",
  seen: ["report"],
});
const both = (line: string) => `${line}\n${line}\n`;

async function compile(at: string): Promise<void> {
  const { code, stdout, stderr } = await run(process.execPath, [path.join(root, "dist/cli/viceroy.js"), "compile"], at);
  expect(code, stdout + stderr).toBe(0);
}

beforeAll(async () => {
  cache = fs.mkdtempSync(path.join(tmpdir(), "viceroy-tsx-cache-"));
  folder = project("module");
  await compile(folder);
}, 120_000);
afterAll(() => {
  for (const made of [folder, cache]) fs.rmSync(made, { recursive: true, force: true });
});

/** Returns the cache file whose module contains a text. */
function cacheFileOf(text: string): string {
  const directory = path.join(cache, "viceroy-typescript");
  const files = fs.readdirSync(directory).map((name) => path.join(directory, name));
  return files.find((file) => fs.readFileSync(file, "latin1").includes(text))!;
}

test.each(nodes)("aliases, JSON, enums, decorators and CommonJS work with and without a cache: %s", async (node) => {
  for (const _ of ["without", "with"]) {
    const { stdout, stderr } = await start([], node);
    expect(stdout, stderr).toBe(both(expected));
  }
  const { stdout: common, stderr } = await start(["common"], node);
  expect(common, stderr).toBe(both("common"));
  const { stdout: threads, stderr: reason } = await start(["report", "thread"], node);
  expect(threads, reason).toBe(both(expected));
});

test("stack traces name the lines of the TypeScript source", async () => {
  const line = actor.split("\n").findIndex((text) => text.includes("on purpose")) + 1;
  for (const _ of ["without", "with"]) {
    const { stdout } = await start(["fail"]);
    expect(stdout).toContain(`src/probe.ts:${line}:`);
  }
});

test("children use the cache if only this user can write it, and see edits at the next spawn", async () => {
  fs.rmSync(path.join(cache, "viceroy-typescript"), { recursive: true, force: true });
  await start();
  const file = cacheFileOf('late="late"');
  const intact = fs.readFileSync(file);
  const changed = Buffer.from(intact.toString("latin1").replace(/late="late"/, 'late="kept"'), "latin1");
  expect(changed.equals(intact)).toBe(false);
  fs.writeFileSync(file, changed);
  expect((await start()).stdout).toBe(both(expected.replace('"late":"late"', '"late":"kept"')));
  fs.chmodSync(file, 0o666);
  expect((await start()).stdout).toBe(both(expected));

  const source = path.join(folder, "src/late.ts");
  const before = fs.readFileSync(source);
  fs.writeFileSync(source, `export const late: string = "edit";\n`);
  expect((await start()).stdout).toBe(both(expected.replace('"late":"late"', '"late":"edit"')));
  fs.writeFileSync(source, before);
});

test("an edited tsconfig.json and a new file before another one are seen", async () => {
  const base = path.join(folder, "tsconfig.base.json");
  const before = fs.readFileSync(base, "utf8");
  fs.writeFileSync(base, before.replace("./src/*", "./other/*"));
  write(path.join(folder, "other/aliased.ts"), `export const aliased = "other";\n`);
  expect((await start()).stdout).toBe(both(expected.replace('"aliased":"aliased"', '"aliased":"other"')));
  fs.writeFileSync(base, before);
  write(path.join(folder, "src/late.js"), `export const late = "script";\n`);
  expect((await start()).stdout).toBe(both(expected));
});

test("a syntax error names the file, the line and the text", async () => {
  const source = path.join(folder, "src/late.ts");
  const before = fs.readFileSync(source);
  fs.writeFileSync(source, `export const late: string = "late";\nexport const = 1;\n`);
  const { code, stdout } = await start();
  fs.writeFileSync(source, before);
  expect(code).toBe(1);
  expect(stdout).toContain('src/late.ts:2:13: ERROR: Expected identifier but found "="');
});

test("a project of CommonJS modules is loaded by tsx itself", async () => {
  const at = project("commonjs");
  write(
    path.join(at, "src/probe.ts"),
    `import { ProbeActor } from "../generated/probe.js";
export class Probe extends ProbeActor { report() { return "common"; } common() { return ""; } fail() { return ""; } }\n`,
  );
  await compile(at);
  const { stdout, stderr } = await start([], process.execPath, at);
  expect(stdout, stderr).toBe(both("common"));
  fs.rmSync(at, { recursive: true, force: true });
});

test("only the options of tsx are taken from children, and only if no other option loads a module", () => {
  const loader = "file:///app/node_modules/tsx/dist/loader.mjs";
  const preflight = "/app/node_modules/tsx/dist/preflight.cjs";
  expect(inheritedTsx(["--require", preflight, "--import", loader, "--max-old-space-size=64"])).toEqual({
    execArgv: ["--max-old-space-size=64"],
    nodeOptions: undefined,
    removed: ["--require", preflight, "--import", loader],
    originalNodeOptions: undefined,
  });
  expect(inheritedTsx([], "--import=tsx --enable-source-maps")).toEqual({
    execArgv: [],
    nodeOptions: "--enable-source-maps",
    removed: [],
    originalNodeOptions: "--import=tsx --enable-source-maps",
  });
  expect(inheritedTsx(["--import", "tsx", "--import", "./tracing.mjs"])).toBeUndefined();
  expect(inheritedTsx(["--enable-source-maps"])).toBeUndefined();
});
