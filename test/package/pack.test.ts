/**
 * Installs the packed packages as users do, from their tarballs in a folder of its own, with their dependencies from the
 * registry. The project that `init` writes is compiled and run, and so is a program of our own, with tsx and as plain
 * JavaScript.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packAll, root, run as runIn, succeed as succeedIn } from "./packed.js";

let project: string;

const run = (command: string, args: readonly string[], cwd = project) => runIn(command, args, cwd);
const succeed = (command: string, args: readonly string[], cwd = project) => succeedIn(command, args, cwd);

const mesh = `import { range, thisHost } from "viceroy";
import "../generated/registry.js";
import { MemoryCounter } from "./memory-counter.js";

await using procs = thisHost().spawnProcs({ gpus: 4 });
const counters = procs.spawn("counters", MemoryCounter, 3);
counters.increment.broadcast(1);
const values = await counters.value.call();
console.log([...values].map(([point, value]) => \`\${point} \${value}\`).join("; "));
console.log(await counters.slice({ gpus: 0 }).value.callOne());
const streamed: number[] = [];
for await (const [, value] of counters.slice({ gpus: range(1, 3) }).watch.stream(2)) streamed.push(value);
console.log(streamed.join(" "));
`;

const expectedOutput = `{'gpus': 0/4} 4; {'gpus': 1/4} 4; {'gpus': 2/4} 4; {'gpus': 3/4} 4
4
4 4 4 4
`;

beforeAll(async () => {
  project = mkdtempSync(path.join(tmpdir(), "viceroy-user-"));
  const { viceroy, compiler, addon } = await packAll();
  const { devDependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
    devDependencies: Record<string, string>;
  };
  // The declarations of two entry points name types of the last two.
  const names = ["tsx", "typescript", "@types/node", "@connectrpc/connect", "@bufbuild/protobuf"];
  const tools = names.map((name) => `${name}@${devDependencies[name]}`);
  const packages = [viceroy, compiler, ...(addon === undefined ? [] : [addon])];
  succeed("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", ...packages, ...tools]);
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

test("init writes a project, compile generates its code, and the sample runs", () => {
  expect(succeed("npx", ["viceroy", "init"])).toContain("wrote    viceroy.config.ts");
  succeed("npx", ["viceroy", "compile"]);
  expect(succeed("npx", ["viceroy", "run", "src/main.ts"])).not.toBe("");
});

test("a CommonJS package can init a project in a subfolder and import its build", () => {
  const shop = path.join(project, "shop");
  mkdirSync(shop);
  writeFileSync(path.join(shop, "package.json"), '{ "name": "shop", "version": "1.0.0", "type": "commonjs" }\n');
  writeFileSync(path.join(shop, "index.js"), 'require("node:fs");\nimport("./mesh/build/src/main.js");\n');
  const files = readdirSync(shop);
  const refused = run("npx", ["viceroy", "init"], shop);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain("npx viceroy init mesh ");
  expect(readdirSync(shop)).toEqual(files);
  const mesh = path.join(shop, "mesh");
  succeed("npx", ["viceroy", "init", "mesh"], shop);
  succeed("npx", ["viceroy", "compile"], mesh);
  expect(succeed("npx", ["viceroy", "run", "src/main.ts"], mesh)).toContain("[ 4, 4, 4, 4 ]");
  succeed("npx", ["tsc", "-p", "."], mesh);
  expect(succeed("node", ["index.js"], shop)).toContain("[ 4, 4, 4, 4 ]");
  expect(succeed("npx", ["viceroy", "compile", "--check"], mesh)).toContain("up to date");
});

test("a program over four processes runs with tsx", () => {
  writeFileSync(path.join(project, "src/mesh.ts"), mesh);
  expect(run("node", ["--import", "tsx", "src/mesh.ts"])).toEqual({ code: 0, stdout: expectedOutput, stderr: "" });
});

test("a program type-checks with the declarations of the package and runs as plain JavaScript", () => {
  succeed("npx", ["tsc", "-p", ".", "--skipLibCheck", "false"]);
  expect(run("node", ["build/src/mesh.js"])).toEqual({ code: 0, stdout: expectedOutput, stderr: "" });
});

test("the declarations of all entry points type-check", () => {
  const { exports } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { exports: object };
  const lines = Object.keys(exports)
    .filter((name) => name !== "./package.json")
    .map((name, at) => `export type * as entry${at} from "viceroy${name.slice(1)}";\n`);
  const folder = path.join(project, "entries");
  mkdirSync(folder);
  writeFileSync(path.join(folder, "entries.ts"), lines.join(""));
  const types = ["--module", "nodenext", "--target", "es2024", "--lib", "es2024,esnext,dom", "--types", "node"];
  succeed("npx", ["tsc", "--ignoreConfig", "--noEmit", "--strict", ...types, "entries/entries.ts"]);
});

test("compile --check succeeds until a schema is edited, and again when the edit is undone", () => {
  succeed("npx", ["viceroy", "compile", "--check"]);
  const schema = path.join(project, "schemas/counter.ts");
  const before = readFileSync(schema, "utf8");
  writeFileSync(schema, before.replace("value(): Int32;", "value(): Int32;\n  reset(): void;"));
  expect(run("npx", ["viceroy", "compile", "--check"]).code).toBe(1);
  writeFileSync(schema, before);
  succeed("npx", ["viceroy", "compile", "--check"]);
});

test("every entry point can be imported", () => {
  const names = ["viceroy", "viceroy/schema", "viceroy/codegen/v1", "viceroy/compiler"];
  const program = `for (const name of ${JSON.stringify(names)}) await import(name);`;
  expect(run("node", ["--input-type=module", "--eval", program])).toEqual({ code: 0, stdout: "", stderr: "" });
});
