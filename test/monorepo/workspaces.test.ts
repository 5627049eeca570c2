/** Packages of one repository share schemas and actors, with npm workspaces and with pnpm, and as published packages. */
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packAll, type Tarballs } from "../package/packed.js";
import { compilePackages, copyPackages, pnpmVersion, run, succeed, temporaryFolder } from "./workspace.js";

const folder = temporaryFolder();
const npm = path.join(folder, "npm");
const pnpm = path.join(folder, "pnpm");
let tarballs: Tarballs;

/** The output of packages/app/src/main.ts. */
const expected = `170 USD, 170 USD
2 x 20, 1 x 30 amount
20 30
EUR 40, USD 30
0 1
20
70 USD, 70 USD
`;

function runProgram(workspace: string): string {
  return succeed(path.join(workspace, "packages/app"), process.execPath, "--import", "tsx", "src/main.ts");
}

beforeAll(async () => {
  tarballs = await packAll();
  copyPackages(npm, tarballs, "1.0.0");
  succeed(npm, "npm", "install", "--no-audit", "--no-fund");
  compilePackages(npm);
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

test("schemas, actors and clients are in packages of their own, with npm workspaces", () => {
  expect(runProgram(npm)).toBe(expected);
  expect(succeed(npm, "npx", "tsc", "-p", ".")).toBe("");
  const registry = readFileSync(path.join(npm, "packages/app/generated/registry.ts"), "utf8");
  expect(registry).toContain('"@acme/counter-actors#MemoryCounter": {');
  expect(registry).toContain('import("@acme/counter-actors")');
  const lock = readFileSync(path.join(npm, "packages/counters/viceroy.lock"), "utf8");
  expect(lock).not.toContain("message Price");
});

test("a second compilation has nothing to do until the contract of another package changes", () => {
  const counters = path.join(npm, "packages/counters");
  const prices = path.join(npm, "packages/prices");
  const command = path.join(npm, "node_modules/viceroy/dist/cli/viceroy.js");
  const compile = (at: string) => succeed(at, process.execPath, command, "compile");
  expect(compile(counters)).toContain("Nothing to do");
  const schema = path.join(prices, "schemas/price.ts");
  const text = readFileSync(schema, "utf8");
  try {
    writeFileSync(schema, text.replace("cents: Int32;", "cents: Int32;\n  note?: string;"));
    expect(run(counters, process.execPath, command, "compile")).toMatchObject({
      code: 2,
      output: expect.stringContaining(
        'schemas/counter.ts:1:52 error VC1005: cannot import from "@acme/prices": the contract of @acme/prices is older than ' +
          "its schemas/price.ts",
      ),
    });
    compile(prices);
    // The program runs code of counters that was generated for the older prices.
    const stale = run(path.join(npm, "packages/app"), process.execPath, "--import", "tsx", "src/main.ts");
    expect(stale.code).not.toBe(0);
    expect(stale.output).toMatch(
      /cannot use Discount of @acme\/prices: the installed version has another schema than the version with which @acme\/counters was compiled; run `npx viceroy compile` in @acme\/counters, or install that version of @acme\/prices, got fingerprints 0x[0-9a-f]{16} and 0x[0-9a-f]{16}/,
    );
    expect(compile(counters)).toContain("updated generated/counter.ts");
    // The registry of the program belongs to the older interface.
    const behind = run(path.join(npm, "packages/app"), process.execPath, "--import", "tsx", "src/main.ts");
    expect(behind.code).not.toBe(0);
    expect(behind.output).toContain("cannot use @acme/counters/schemas/counter#Counter: its generated module and");
    expect(behind.output).toContain("are of different schemas; run `npx viceroy compile`");
    compile(path.join(npm, "packages/app"));
    expect(runProgram(npm)).toBe(expected);
  } finally {
    writeFileSync(schema, text);
  }
});

test("pnpm, whose packages see their own dependencies only", () => {
  const tools = path.join(folder, "tools");
  mkdirSync(tools);
  writeFileSync(path.join(tools, "package.json"), "{}");
  succeed(tools, "npm", "install", "--no-audit", "--no-fund", `pnpm@${pnpmVersion}`);
  copyPackages(pnpm, tarballs, "workspace:*");
  succeed(pnpm, path.join(tools, "node_modules/.bin/pnpm"), "install", "--store-dir", path.join(folder, "store"));
  mkdirSync(path.join(pnpm, "packages/app/node_modules"), { recursive: true });
  compilePackages(pnpm);
  expect(runProgram(pnpm)).toBe(expected);
  expect(succeed(pnpm, "npx", "tsc", "-p", ".")).toBe("");
});

test("published packages contain JavaScript, and the contract tells their schemas", () => {
  const consumer = path.join(folder, "consumer");
  const built: string[] = [];
  const published = path.join(folder, "published");
  const modules = path.join(published, "node_modules");
  mkdirSync(path.join(modules, "@acme"), { recursive: true });
  for (const name of ["viceroy", "@types"]) symlinkSync(path.join(npm, "node_modules", name), path.join(modules, name));
  cpSync(path.join(npm, "tsconfig.json"), path.join(published, "tsconfig.json"));
  for (const name of ["prices", "counters", "counter-actors", "dashboard"]) {
    const from = path.join(npm, "packages", name);
    const to = path.join(published, name);
    cpSync(from, to, { recursive: true });
    symlinkSync(to, path.join(modules, "@acme", name));
    const options = {
      extends: "../tsconfig.json",
      compilerOptions: {
        noEmit: false,
        declaration: true,
        outDir: "dist",
        rootDir: ".",
        // Generated code imports .ts files, as the tsconfig.json of the workspace allows.
        rewriteRelativeImportExtensions: true,
      },
      include: ["src", "generated"],
    };
    writeFileSync(path.join(to, "tsconfig.json"), JSON.stringify(options));
    const file = path.join(to, "package.json");
    const manifest = JSON.parse(
      readFileSync(file, "utf8").replaceAll(/"\.\/(src|generated)\/([\w*]+)\.ts"/g, '"./dist/$1/$2.js"'),
    );
    writeFileSync(file, JSON.stringify({ ...manifest, files: ["dist", "generated/contract.json"] }));
    succeed(to, path.join(npm, "node_modules/.bin/tsc"), "-p", ".");
    const packed = succeed(to, "npm", "pack", "--silent", "--pack-destination", folder).trim();
    built.push(path.join(folder, packed));
  }
  cpSync(path.join(npm, "packages/app"), consumer, {
    recursive: true,
    filter: (file) => !/\/(node_modules|generated)$/.test(file),
  });
  cpSync(path.join(npm, "tsconfig.json"), path.join(consumer, "tsconfig.json"));
  writeFileSync(path.join(consumer, "package.json"), '{ "name": "@acme/app", "version": "1.0.0", "type": "module" }');
  const tools = ["tsx", "typescript"].map((name) => path.join(npm, "node_modules", name));
  const versions = tools.map((at) => {
    const { name, version } = JSON.parse(readFileSync(path.join(at, "package.json"), "utf8")) as Record<string, string>;
    return `${name}@${version}`;
  });
  const { viceroy, compiler } = tarballs;
  succeed(consumer, "npm", "install", "--no-audit", "--no-fund", viceroy, compiler, ...built, ...versions);
  succeed(consumer, "npx", "viceroy", "compile");
  expect(succeed(consumer, process.execPath, "--import", "tsx", "src/main.ts")).toBe(expected);

  rmSync(path.join(consumer, "node_modules/@acme/counter-actors"), { recursive: true });
  writeFileSync(
    path.join(consumer, "src/other.ts"),
    `import { CounterActor } from "@acme/counters/counter";
import { thisHost } from "viceroy";
import "../generated/registry.js";

abstract class MemoryCounter extends CounterActor {}

await using procs = thisHost().spawnProcs({ gpus: 1 });
await procs.spawn("counters", MemoryCounter as never, 0).ready;
`,
  );
  const missing = run(consumer, process.execPath, "--import", "tsx", "src/other.ts");
  expect(missing.code).not.toBe(0);
  expect(missing.output).toMatch(
    /cannot load @acme\/counter-actors#MemoryCounter: the package @acme\/counter-actors is not installed on \S+ for file:\S+\/generated\/registry\.ts; install it there, in the version that the program uses/,
  );
});
