/** Checks that child processes of programs that run with tsx load prepared modules, as tsx itself would load them. */
import { spawn } from "node:child_process";
import fs from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { inheritedTsx } from "../../runtime/proc/launch/prepared-typescript.js";
import { nodeOf } from "../bundlers/tools.js";
import { type Outcome, root, run } from "../examples/program.js";
import { installInto, write } from "../examples/project.js";

let folder: string;
let cache: string;

const actor = `
import { ProbeActor, TwinActor } from "../generated/probe.js";
import { alias } from "#app/alias.js";
import { aliased } from "~/aliased";
import { Kind, named } from "./helper.js";
import settings, { size } from "./settings.json";
import plain from "plain";
import { folder, left } from "./left.js";
import { count } from "./state.js";
import { script } from "./script.js";

const seen: string[] = [];
function logged(_prototype: object, name: string) { seen.push(name); }

export class Probe extends ProbeActor {
  @logged
  async report() {
    const { late } = await import("./late.js");
    return JSON.stringify({ alias, aliased, kind: Kind.B, named: named.name, settings: settings.size + size, plain: plain.plain, late, seen, left, script });
  }
  common() { return import("./common.cjs").then(({ answer }) => answer); }
  fail(): string {
    interface Unused { readonly a: string; readonly b: string }
    throw new Error("on purpose");
  }
  state() { return count(); }
  location() {
    const here = import.meta.url.replace(/.*[/](?=src[/])/, "");
    const resolved = [import.meta.resolve("./late.js"), import.meta.resolve("plain")].map((url) => url.replace(/.*[/](?=src[/]|node_modules[/])/, ""));
    // Node.js before 20.11 has neither of both.
    const { dirname = "/src", filename = "/src/probe.ts" } = import.meta;
    const file = [dirname, filename].map((name) => name.replace(/.*[/](?=src)/, "")).join(" ");
    return JSON.stringify({ here, file, folder: folder(), resolved, options: process.execArgv.join(" ").includes("tsx") });
  }
  async computed() {
    const name = ["plug", "in"].join("");
    const { plugin } = await import("./" + name + ".js");
    const { plain } = await import(["pl", "ain"].join(""));
    const missing = await import("./mis" + "sing.js").catch(({ code }) => code);
    return JSON.stringify([plugin(), plain, missing]);
  }
}

export class Twin extends TwinActor {
  state() { return count(); }
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
export interface Probe extends Actor {
  report(): string; common(): string; fail(): string; state(): string; location(): string; computed(): string;
}
export interface Twin extends Actor { state(): string; }\n`,
    "src/probe.ts": actor,
    "src/alias.ts": `export const alias: string = "alias";\n`,
    "src/aliased.ts": `export const aliased: string = "aliased";\n`,
    "src/helper.ts": `export enum Kind { A, B }\nexport const named = class Named {};\n`,
    "src/late.ts": `export const late: string = "late";\n`,
    "src/common.cts": `export const answer: string = "common";\n`,
    "src/settings.json": `{ "size": 2 }\n`,
    "src/left.ts": `import { right } from "./right.js";
export const left: string = "left" + right;
export function folder(): string { return import.meta.url.split("/").at(-1)!; }\n`,
    // left.ts has not been evaluated when this module calls its function.
    "src/right.ts": `import { folder } from "./left.js";
export const right: string = " of " + folder();\n`,
    "src/state.ts": `let calls = 0;\nexport function count(): string { return String(++calls); }\n`,
    "src/plugin.ts": `import { count } from "./state.js";\nexport const plugin = (): string => "plugin " + count();\n`,
    "src/script.js": `import { aliased } from "./aliased.ts";\nexport const script = "script " + aliased;\n`,
    "src/main.ts": `import { attachHosts, thisHost } from "viceroy";
import "../generated/registry.js";
import type { ProbeMesh, TwinMesh } from "../generated/probe.js";
const isolation = (process.argv[3] ?? "process") as "process" | "thread";
const execArgv = process.env["EXEC_ARGV"]?.split(" ");
const address = process.env["HOST"];
async function main() {
  const { Probe } = await import("./probe.js");
  const hosts = address === undefined ? thisHost() : attachHosts([address]).slice({ hosts: 0 });
  await using procs = hosts.spawnProcs({ procs: 2 }, { isolation, ...(execArgv && { execArgv }) });
  const probes = procs.spawn("probes", Probe) as unknown as ProbeMesh<"procs">;
  const endpoints = (process.argv[2] ?? "report").split(",") as ("report" | "common" | "fail" | "state" | "location" | "computed")[];
  for (const endpoint of endpoints) {
    console.log([...(await probes[endpoint].call()).values()].join("\\n"));
    if (endpoint !== "state") continue;
    const { Twin } = await import("./probe.js");
    const twins = procs.spawn("twins", Twin) as unknown as TwinMesh<"procs">;
    console.log([...(await twins.state.call()).values()].join("\\n"));
  }
}
main().catch((error) => { console.log(String(error.stack), String(error.cause?.stack), error.remoteStack); process.exit(1); });
`,
    "node_modules/plain/package.json": `{ "name": "plain", "main": "index.js" }`,
    "node_modules/loads/package.json": `{ "name": "loads", "type": "module", "exports": "./index.js" }`,
    "node_modules/loads/index.js": `const name = "plugin.ts";\nexport const { plugin } = await import("../../src/" + name);\n`,
    "node_modules/plain/index.js": `exports.plain = "plain";\n`,
  };
  for (const [name, text] of Object.entries(files)) write(path.join(made, name), text);
  return made;
}

/** The versions of Node.js of the tests: this one, and the others that are installed. */
const nodes = [
  ...new Set([process.execPath, ...(["20", "22", "24"] as const).map(nodeOf)].filter((file) => file !== undefined)),
];

const tsxUrl = new URL(import.meta.resolve("tsx")).href;

const env = () => ({ XDG_CACHE_HOME: cache, NODE_OPTIONS: "", NODE_V8_COVERAGE: "" });

function start(
  args: readonly string[] = [],
  node = process.execPath,
  at = folder,
  changed: Record<string, string> = {},
): Promise<Outcome> {
  return run(node, ["--import", tsxUrl, "src/main.ts", ...args], at, { ...env(), ...changed });
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
  left: "left of left.ts",
  script: "script aliased",
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

/** Returns the prepared module, of the last prepared program, that contains a text. */
function preparedFileOf(text: string): string {
  const directory = path.join(cache, "viceroy-typescript");
  const folders = fs.readdirSync(directory).filter((name) => fs.statSync(path.join(directory, name)).isDirectory());
  const files = folders.flatMap((name) =>
    fs.readdirSync(path.join(directory, name)).map((file) => path.join(directory, name, file)),
  );
  return files
    .filter((file) => fs.readFileSync(file, "utf8").includes(text))
    .sort((a, b) => fs.statSync(path.dirname(b)).mtimeMs - fs.statSync(path.dirname(a)).mtimeMs)[0]!;
}

/** Runs the program after a file has been changed, and restores the file. */
async function startEdited(file: string, edit: (text: string) => string, at = folder): Promise<Outcome> {
  const source = path.join(at, file);
  const before = fs.readFileSync(source, "utf8");
  expect(edit(before)).not.toBe(before);
  fs.writeFileSync(source, edit(before));
  try {
    return await start([], process.execPath, at);
  } finally {
    fs.writeFileSync(source, before);
  }
}

test.each(nodes)("aliases, JSON, enums, decorators and CommonJS work with and without a cache: %s", async (node) => {
  const { stdout: without, stderr: cause } = await start([], node);
  expect(without, cause).toBe(both(expected));
  const { stdout, stderr } = await start(["report,common"], node);
  expect(stdout, stderr).toBe(both(expected) + both("common"));
  const { stdout: threads, stderr: reason } = await start(["report", "thread"], node);
  expect(threads, reason).toBe(both(expected));
});

test.each(nodes)("modules know where their sources are, and actors share the state of modules: %s", async (node) => {
  const { stdout, stderr } = await start(["location,state,computed"], node);
  const resolved = ["src/late.ts", "node_modules/plain/index.js"];
  const location = { here: "src/probe.ts", file: "src src/probe.ts", folder: "left.ts", resolved, options: true };
  const computed = ["plugin 3", "plain", "ERR_MODULE_NOT_FOUND"];
  expect(stdout, stderr).toBe(both(JSON.stringify(location)) + both("1") + both("2") + both(JSON.stringify(computed)));
});

test.each(nodes)("stack traces name the lines of the TypeScript source: %s", async (node) => {
  const line = actor.split("\n").findIndex((text) => text.includes("on purpose")) + 1;
  const { stdout } = await start(["fail"], node);
  expect(stdout).toContain(`src/probe.ts:${line}:11`);
});

test("children load prepared modules if only this user can write them, and see edits at the next spawn", async () => {
  fs.rmSync(path.join(cache, "viceroy-typescript"), { recursive: true, force: true });
  await start();
  const file = preparedFileOf('late="late"');
  const intact = fs.readFileSync(file, "utf8");
  fs.writeFileSync(file, intact.replace('late="late"', 'late="kept"'));
  expect((await start()).stdout).toBe(both(expected.replace('"late":"late"', '"late":"kept"')));
  fs.chmodSync(file, 0o666);
  expect((await start()).stdout).toBe(both(expected));

  const late = await startEdited("src/late.ts", (text) => text.replace('"late"', '"edit"'));
  expect(late.stdout).toBe(both(expected.replace('"late":"late"', '"late":"edit"')));
  const right = await startEdited("src/right.ts", (text) => text.replace('" of "', '" to "'));
  expect(right.stdout).toBe(both(expected.replace("left of", "left to")));
  const json = await startEdited("src/settings.json", (text) => text.replace("2", "3"));
  expect(json.stdout).toBe(both(expected.replace('"settings":4', '"settings":6')));
  expect((await start()).stdout).toBe(both(expected));
});

test("two programs that start at once with an empty cache prepare the same modules", async () => {
  fs.rmSync(path.join(cache, "viceroy-typescript"), { recursive: true, force: true });
  const outcomes = await Promise.all([start(), start()]);
  expect(outcomes.map(({ stdout }) => stdout)).toEqual([both(expected), both(expected)]);
  const names = fs.readdirSync(path.join(cache, "viceroy-typescript"));
  expect(names.map((name) => path.extname(name)).sort()).toEqual(["", ".json"]);
});

test("tsx loads the program if the cache cannot be written or is full", async () => {
  const blocked = fs.mkdtempSync(path.join(tmpdir(), "viceroy-tsx-blocked-"));
  fs.writeFileSync(path.join(blocked, "viceroy-typescript"), "");
  const { stdout, stderr } = await start([], process.execPath, folder, { XDG_CACHE_HOME: blocked });
  expect(stdout, stderr).toBe(both(expected));
  fs.rmSync(path.join(blocked, "viceroy-typescript"));
  // No process of this shell can write a file of more than 0 bytes.
  const limited = ["-c", 'ulimit -f 0; exec "$@"', "bash", process.execPath, "--import", tsxUrl, "src/main.ts"];
  const full = await run("bash", limited, folder, { ...env(), XDG_CACHE_HOME: blocked });
  expect(full.stdout, full.stderr).toBe(both(expected));
  expect(fs.readdirSync(path.join(blocked, "viceroy-typescript"))).toEqual([]);
  fs.rmSync(blocked, { recursive: true, force: true });
});

test("an ES module imports a CommonJS module in TypeScript, and requires one", async () => {
  const imported = (text: string) => `import { createRequire } from "node:module";
import { answer } from "./common.cjs";
const { answer: required } = createRequire(import.meta.url)("./common.cjs");
${text.replace('"late"', "[answer, required].join()")}`;
  const { stdout, stderr } = await startEdited("src/late.ts", imported);
  expect(stdout, stderr).toBe(both(expected.replace('"late":"late"', '"late":"common,common"')));
});

test("tsx loads a program whose configuration has templates", async () => {
  const templates = (text: string) => text.replace("./src/*", "$" + "{configDir}/src/*");
  const { stdout, stderr } = await startEdited("tsconfig.base.json", templates);
  expect(stdout, stderr).toBe(both(expected));
  const texts = fs
    .readdirSync(path.join(cache, "viceroy-typescript"))
    .filter((name) => name.endsWith(".json"))
    .map((name) => fs.readFileSync(path.join(cache, "viceroy-typescript", name), "utf8"));
  const failure = "tsconfig.json: templates are not known here";
  expect(texts.some((text) => text.includes(failure))).toBe(true);
});

test("conditions decide what is prepared, and options for profiles concern the child alone", async () => {
  write(
    path.join(folder, "node_modules/plain/package.json"),
    `{ "name": "plain", "exports": { "special": "./special.js", "default": "./index.js" } }`,
  );
  write(path.join(folder, "node_modules/plain/special.js"), `exports.plain = "special";\n`);
  const profiles = path.join(cache, "profiles");
  const execArgv = `--conditions special --cpu-prof --cpu-prof-dir=${profiles}`;
  const { stdout, stderr } = await start([], process.execPath, folder, { EXEC_ARGV: execArgv });
  expect(stdout, stderr).toBe(both(expected.replace('"plain":"plain"', '"plain":"special"')));
  expect(fs.readdirSync(profiles)).toHaveLength(2);
  expect((await start()).stdout).toBe(both(expected));
});

test("a package that imports TypeScript by itself needs tsx in each process", async () => {
  const imported = (text: string) => text.replace(`from "./state.js";`, `from "./state.js";\nimport "loads";`);
  const source = path.join(folder, "src/probe.ts");
  const before = fs.readFileSync(source, "utf8");
  fs.writeFileSync(source, imported(before));
  const node20 = nodeOf("20") ?? process.execPath;
  const { stdout, stderr } = await start([], node20);
  const explained = await start([], node20, folder, { EXEC_ARGV: `--import ${tsxUrl}` });
  fs.writeFileSync(source, before);
  expect(stdout + stderr).toContain(
    "cannot load app/src/probe#Probe: a package imports a TypeScript module by itself, which needs tsx in each process; spawn " +
      `the processes with the option execArgv: ["--import", "tsx"], got ${folder}/src/plugin.ts`,
  );
  expect(explained.stdout, explained.stderr).toBe(both(expected));
});

test("processes on an attached host, which runs without tsx, load prepared modules", async () => {
  const socket = path.join(cache, "host.sock");
  const args = [path.join(root, "dist/cli/viceroy.js"), "host", "--listen", `unix://${socket}`];
  const host = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, ...env() }, stdio: "ignore" });
  try {
    await vi.waitFor(() => expect(fs.existsSync(socket)).toBe(true), { timeout: 30_000, interval: 20 });
    const { stdout, stderr } = await start([], process.execPath, folder, { HOST: `unix://${socket}` });
    expect(stdout, stderr).toBe(both(expected));
  } finally {
    host.kill();
  }
});

test("an edited tsconfig.json and a new file before another one are seen", async () => {
  write(path.join(folder, "other/aliased.ts"), `export const aliased = "other";\n`);
  const other = await startEdited("tsconfig.base.json", (text) => text.replace("./src/*", "./other/*"));
  expect(other.stdout).toBe(both(expected.replace('"aliased":"aliased"', '"aliased":"other"')));
  const late = path.join(folder, "src/late.ts");
  fs.renameSync(late, path.join(folder, "src/late.tsx"));
  expect((await start()).stdout).toBe(both(expected));
  fs.writeFileSync(late, `export const late = "first";\n`);
  expect((await start()).stdout).toBe(both(expected.replace('"late":"late"', '"late":"first"')));
  fs.renameSync(path.join(folder, "src/late.tsx"), late);
});

test("a syntax error names the file, the line and the text", async () => {
  const { code, stdout } = await startEdited("src/late.ts", (text) => `${text}export const = 1;\n`);
  expect(code).toBe(1);
  expect(stdout).toContain('src/late.ts:2:13: ERROR: Expected identifier but found "="');
});

const commonJsActor = `
import { ProbeActor, TwinActor } from "../generated/probe.js";
import { alias } from "#app/alias.js";
import { aliased } from "~/aliased";
import { Kind, named } from "./helper.js";
import settings, { size } from "./settings.json";
import plain from "plain";
import { count } from "./state.js";

const required = require("./common.cjs") as { answer: string };

export class Probe extends ProbeActor {
  async report() {
    const { late } = await import("./late.js");
    return JSON.stringify({ alias, aliased, kind: Kind.B, named: named.name, settings: settings.size + size, plain: plain.plain, late, required: required.answer });
  }
  common() { return import("./common.cjs").then(({ answer }) => answer); }
  fail(): string { throw new Error("on purpose"); }
  state() { return count(); }
  location() {
    return [__filename, __dirname, require.resolve("./late"), import.meta.url].map((name) => name.replace(/.*[/](?=src)/, "")).join(" ");
  }
  async computed() {
    const name = ["plug", "in"].join("");
    const { plugin } = require("./" + name);
    const { plugin: imported } = await import("./" + name + ".js");
    return [count(), plugin(), imported()].join(", ");
  }
}
export class Twin extends TwinActor { state() { return count(); } }
`;

test.each(nodes)("a project of CommonJS modules loads prepared modules: %s", async (node) => {
  const at = project("commonjs");
  write(path.join(at, "src/probe.ts"), commonJsActor);
  await compile(at);
  const { alias, aliased, kind, named, settings, plain, late } = JSON.parse(expected) as Record<string, unknown>;
  const report = JSON.stringify({ alias, aliased, kind, named, settings, plain, late, required: "common" });
  for (const _ of ["without", "with"]) {
    const { stdout, stderr } = await start([], node, at);
    expect(stdout, stderr).toBe(both(report));
  }
  const file = preparedFileOf('late="late"');
  expect(file).toMatch(/-late\.ts\.cjs$/);
  fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace('late="late"', 'late="kept"'));
  expect((await start([], node, at)).stdout).toBe(both(report.replace('"late":"late"', '"late":"kept"')));
  const { stdout, stderr } = await start(["common,state,location,computed,fail"], node, at);
  const location = "src/probe.ts src src/late.ts src/probe.ts";
  const printed = [both("common"), both("1"), both("2"), both(location), both("3, plugin 4, plugin 5")].join("");
  expect(stdout.slice(0, printed.length), stdout + stderr).toBe(printed);
  const line = commonJsActor.split("\n").findIndex((text) => text.includes("on purpose")) + 1;
  expect(stdout.slice(printed.length)).toContain(`src/probe.ts:${line}:26`);
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
