/** The command as a process: which files it loads, and what happens if the code cache of its compiler is damaged. */
import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { folderWith } from "../folder.js";

const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));

/** Prints, when the process ends, which files of a TypeScript compiler it has read. */
const watchReads = `
const fs = require("node:fs");
const seen = [];
for (const name of ["readFileSync", "openSync"]) {
  const original = fs[name];
  fs[name] = (file, ...rest) => {
    if (/typescript|ts-morph/.test(String(file))) seen.push(require("node:path").basename(String(file)));
    return original(file, ...rest);
  };
}
require("node:module").syncBuiltinESMExports();
process.on("exit", () => process.stderr.write("read: " + [...new Set(seen)].sort().join(" ") + "\\n"));
`;

function project(): string {
  return folderWith({
    "package.json": '{ "name": "shop", "type": "module" }',
    "viceroy.config.ts":
      'import { defineConfig } from "viceroy/compiler";\nexport default defineConfig({ schemas: "schemas/**/*.ts", actors: "src/**/*.ts" });\n',
    "schemas/store.ts": "export interface Entry {\n  key: string;\n}\n",
    "src/store.ts": "export {};\n",
    "watch-reads.cjs": watchReads,
  });
}

function compile(folder: string, execArgv: readonly string[] = []) {
  return command(folder, ["compile"], execArgv);
}

function command(folder: string, args: readonly string[], execArgv: readonly string[] = []) {
  const env = { ...process.env, XDG_CACHE_HOME: path.join(folder, "cache") };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...execArgv, cli, ...args], {
    cwd: folder,
    env,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

test("compile recognises an unchanged project without loading the TypeScript compiler", () => {
  const folder = project();
  const hook = ["--require", path.join(folder, "watch-reads.cjs")];
  expect(compile(folder, hook).stderr).toMatch(/^read: .*\btypescript/);
  expect(compile(folder, hook)).toEqual({
    status: 0,
    stdout: "Nothing to do: generated code is up to date.\n",
    stderr: "read: \n",
  });
});

test("compile loads two files for a project that nobody has touched, and reports it to a closed pipe, too", async () => {
  const folder = project();
  const seen = path.join(folder, "watch-loads.cjs");
  writeFileSync(
    seen,
    `process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(path.join(folder, "loaded.txt"))},
      Object.keys(require.cache).map((file) => require("node:path").basename(file)).sort().join(" ")));`,
  );
  // The second run looks at files that are older than a tick of the clock, and stores that it has seen them.
  for (let times = 0; times < 3; times++) {
    expect(compile(folder)).toMatchObject({ status: 0, stderr: "" });
    await delay(50);
  }
  expect(compile(folder, ["--require", seen])).toEqual({
    status: 0,
    stdout: "Nothing to do: generated code is up to date.\n",
    stderr: "",
  });
  expect(readFileSync(path.join(folder, "loaded.txt"), "utf8")).toBe("untouched.cjs viceroy.js watch-loads.cjs");
  const piped = spawnSync("sh", ["-c", `"${process.execPath}" "${cli}" compile | true; echo "end"`], {
    cwd: folder,
    encoding: "utf8",
  });
  expect({ stdout: piped.stdout, stderr: piped.stderr }).toEqual({ stdout: "end\n", stderr: "" });
});

test.each([
  ["cut short", (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
  ["empty", () => Buffer.alloc(0)],
  ["changed in one bit", (bytes: Buffer) => Buffer.from(bytes.map((byte, i) => (i === 5000 ? byte ^ 1 : byte)))],
  ["writable by other users", undefined],
])("a code cache that is %s is not used", (_, damage) => {
  const folder = project();
  const cache = path.join(folder, "cache/viceroy-compiler");
  expect(compile(folder).status).toBe(0);
  const files = readdirSync(cache).map((name) => path.join(cache, name));
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) {
    if (damage === undefined) chmodSync(file, 0o666);
    else writeFileSync(file, damage(readFileSync(file)));
  }
  const damaged = files.map((file) => ({ file, bytes: readFileSync(file), inode: statSync(file).ino }));
  for (const made of [".viceroy", "generated", "viceroy.lock"]) rmSync(path.join(folder, made), { recursive: true });
  const again = compile(folder);
  expect(again).toMatchObject({ status: 0, stderr: "" });
  expect(again.stdout).toContain("1 type in 1 file");
  // A cache file that is used stays unchanged; a rejected one is replaced by a new file.
  for (const { file, bytes, inode } of damaged) {
    expect(statSync(file).ino).not.toBe(inode);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    if (damage !== undefined) expect(readFileSync(file).equals(bytes)).toBe(false);
  }
});

test("commands that run with different V8 flags keep each other's code cache", () => {
  const folder = project();
  const cache = path.join(folder, "cache/viceroy-compiler");
  const files = () => readdirSync(cache).map((name) => ({ name, inode: statSync(path.join(cache, name)).ino }));
  const both = () => {
    for (const made of [".viceroy", "generated", "viceroy.lock"]) {
      rmSync(path.join(folder, made), { recursive: true, force: true });
    }
    expect(compile(folder)).toMatchObject({ status: 0, stderr: "" });
    expect(command(folder, ["break", "--against", "."])).toMatchObject({ status: 0, stderr: "" });
    return files();
  };
  const first = both();
  expect(first.length).toBeGreaterThan(0);
  expect(both()).toEqual(first);
});

test("run refuses a program beside an invalid config, but needs no config at all", () => {
  const run = (folder: string) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, "run", "x.mjs"], {
      cwd: folder,
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  };
  const program = "console.log('ran');";
  expect(run(folderWith({ "x.mjs": program }))).toEqual({ status: 0, stdout: "ran\n", stderr: "" });
  const { status, stdout, stderr } = run(
    folderWith({ "x.mjs": program, "viceroy.config.mjs": "export default { schema: 'x' };" }),
  );
  expect({ status, stdout }).toEqual({ status: 3, stdout: "" });
  expect(stderr).toContain('unknown key "schema"');
});

test.skipIf(process.platform !== "linux")(
  "an unreadable or unwritable file is an error with the file, the reason and exit code 3",
  () => {
    const folder = project();
    // Not even root can create a file in this folder.
    symlinkSync("/proc/sys/kernel/random", path.join(folder, "generated"));
    const unwritable = compile(folder);
    expect({ ...unwritable, stderr: "" }).toEqual({ status: 3, stdout: "", stderr: "" });
    expect(unwritable.stderr).toMatch(/^cannot write .*\/generated\/\w+\.ts: E[A-Z]+: [a-z ]+\n$/);
    rmSync(path.join(folder, "generated"));
    writeFileSync(path.join(folder, "generated"), "a file where a folder is due");
    const unreadable = compile(folder);
    expect({ ...unreadable, stderr: "" }).toEqual({ status: 3, stdout: "", stderr: "" });
    expect(unreadable.stderr).toMatch(/^cannot read .*\/generated\/\w+\.ts: ENOTDIR: not a directory\n$/);
  },
);
