/** Tests of what a process with a runtime environment loads first: real processes of several versions of Node.js. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { nodeOf } from "../../bundlers/tools.js";
import { makePackages, writeFiles } from "./local-packages.js";

const preload = fileURLToPath(new URL("../../../dist/tasks-preload.cjs", import.meta.url));
const tsx = createRequire(import.meta.url).resolve("tsx");
const nodes = [
  ["this Node.js", process.execPath] as const,
  ...(["20", "22", "24"] as const).map((version) => [`Node.js ${version}`, nodeOf(version)] as const),
].flatMap(([name, file]) => (file === undefined ? [] : [[name, file] as const]));

/** A folder with a program that has packages of its own, and the folder of an environment. */
let program: string;
let environment: string;
beforeAll(() => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "preload with spaces-")));
  program = join(folder, "program");
  environment = join(folder, "environment");
  for (const [place, version] of [
    [program, "1.0.0"],
    [environment, "2.0.0"],
  ] as const) {
    const { cjs, esm } = makePackages(version);
    for (const [name, file] of Object.entries({ "tidy-cjs": cjs, "tidy-esm": esm })) {
      const target = join(place, "node_modules", name);
      mkdirSync(target, { recursive: true });
      execFileSync("tar", ["-xzf", file, "-C", target, "--strip-components=1"]);
    }
  }
  const own = join(program, "node_modules");
  writeFiles(own, {
    "left/package.json": { name: "left", version: "1.0.0" },
    "left/index.js": 'exports.version = "left with " + require("tidy-cjs").version;',
    "viceroy/package.json": { name: "viceroy", version: "1.0.0" },
    "viceroy/index.js": 'exports.version = "viceroy of the program";',
  });
  cpSync(join(own, "viceroy"), join(environment, "node_modules/viceroy"), { recursive: true });
  writeFiles(environment, { "node_modules/viceroy/index.js": 'exports.version = "viceroy of the environment";' });
  const lines = `console.log(JSON.stringify([version, part, cjs.version, common, left.version, viceroy.version]));`;
  const imports = `import { version } from "tidy-esm";
import part from "tidy-esm/part";
import cjs from "tidy-cjs";
import common from "./common.cjs";
import left from "left";
import viceroy from "viceroy";
import fs from "node:fs";
`;
  writeFiles(program, {
    "package.json": { name: "program", type: "module" },
    "common.cjs":
      'module.exports = require("tidy-cjs").version + " " + require.resolve("tidy-cjs/main.js") + require("fs").constants.F_OK;',
    "main.js": imports + lines,
    "typed.ts": `${imports}const all: string[] = [version]; void all;\n${lines}`,
    "dynamic.cjs": 'import("tidy-esm").then(({ version }) => console.log(version));',
    "thread.mjs": `import { Worker } from "node:worker_threads";\nnew Worker(new URL("main.js", import.meta.url));`,
    "missing.mjs": 'await import("nowhere").catch((error) => console.log(error.code));',
    "where.cjs": `console.log(process.cwd());
if (process.argv[2] !== "child") require("child_process").spawnSync(process.execPath, [__filename, "child"], { cwd: "/", stdio: "inherit" });`,
  });
});

function run(node: string, args: readonly string[], env: NodeJS.ProcessEnv): string {
  const own = { ...process.env, NODE_OPTIONS: `--require "${preload.replace(/["\\]/g, "\\$&")}"`, ...env };
  return execFileSync(node, args, { cwd: program, env: own, encoding: "utf8" }).trim();
}

describe.each(nodes)("in a process of %s, the program's own modules", (_, node) => {
  const withPackages = (...args: string[]) => run(node, args, { VICEROY_PACKAGES: environment });
  /** What main.js prints. Packages of the program keep their own dependencies, and Viceroy is that of the program. */
  const expected = () => [
    "esm 2.0.0 with cjs 2.0.0",
    "part 2.0.0",
    "cjs 2.0.0",
    `cjs 2.0.0 ${environment}/node_modules/tidy-cjs/main.js0`,
    "left with cjs 1.0.0",
    "viceroy of the program",
  ];

  test("import and require packages of the environment, also if the program has them", () => {
    expect(JSON.parse(withPackages("main.js"))).toEqual(expected());
    expect(withPackages("dynamic.cjs")).toBe("esm 2.0.0 with cjs 2.0.0");
  });

  test("import them in threads", () => {
    expect(JSON.parse(withPackages("thread.mjs"))).toEqual(expected());
  });

  test("import them in TypeScript that tsx loads", () => {
    expect(JSON.parse(withPackages("--import", tsx, "typed.ts"))).toEqual(expected());
  });

  test("find the program's packages without an environment", () => {
    const [esm, , cjs] = JSON.parse(run(node, ["main.js"], {}));
    expect([esm, cjs]).toEqual(["esm 1.0.0 with cjs 1.0.0", "cjs 1.0.0"]);
  });

  test("get the usual error for a package that nobody has", () => {
    expect(withPackages("missing.mjs")).toBe("ERR_MODULE_NOT_FOUND");
  });

  test("run in the working directory, which processes that they start do not get", () => {
    const file = join(program, "where.cjs");
    expect(run(node, [file], { VICEROY_WORKING_DIRECTORY: environment })).toBe(`${environment}\n/`);
  });
});
