/** Tests of programs as users run them: compiled JavaScript, TypeScript with tsx, and unusual installations. */
import { execFile } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compileCrew, project } from "./crew.js";

interface Outcome {
  readonly code: number | null;
  readonly stdout: readonly string[];
  readonly stderr: string;
}

function run(argv: readonly string[], cwd: string, env: NodeJS.ProcessEnv = process.env): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, argv, { cwd, env, timeout: 250_000 }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, stdout: stdout.trimEnd().split("\n").sort(), stderr });
    });
  });
}

/** The expected lines, in any order, because each process prints independently. */
const greeting = ["[gpus=0] hello", "[gpus=1] hello", "it works, it works"];

const place = mkdtempSync(join(tmpdir(), "viceroy with spaces "));
beforeAll(async () => {
  await compileCrew();
  await install();
});
afterAll(() => {
  chmodTree(place, 0o755);
  rmSync(place, { recursive: true });
});

test.each(["process", "thread"])("TypeScript, by tsx, with isolation %s", async (isolation) => {
  const outcome = await run(["--import", "tsx", "programs/hello.ts", isolation], project);
  expect(outcome).toEqual({ code: 0, stdout: greeting, stderr: "" });
});

test("code that actors of the own process leave running fails them, and an error of the program ends it", async () => {
  const outcome = await run(["--import", "tsx", "programs/left-running.ts"], project);
  const failed = (what: string) => `mesh "${what}" failed at rank 0: left behind`;
  expect(outcome.stdout).toEqual([failed("a call that nobody awaits"), failed("a promise"), failed("a timer")]);
  expect(outcome.code).toBe(1);
  // The output is that of Node.js, which ends with its version.
  expect(outcome.stderr).toMatch(/throw new Error\("the program's own"\);.*Error: the program's own.*Node\.js v/s);
});

test("programs run without PATH and HOME", async () => {
  const outcome = await run(["--import", "tsx", "programs/hello.ts"], project, {});
  expect(outcome).toEqual({ code: 0, stdout: greeting, stderr: "" });
});

test("options of Node.js that concern only the program are not passed to its processes", async () => {
  const options = ["--inspect=0", "--test-only", "--import", "tsx"];
  const outcome = await run([...options, "programs/hello.ts"], project, { NODE_OPTIONS: "--inspect=0" });
  expect(outcome).toMatchObject({ code: 0, stdout: greeting });
  expect(outcome.stderr.split("\n").filter((line) => line.startsWith("[gpus="))).toEqual([]);
});

test.each(["process", "thread"])(
  "compiled JavaScript, in a path with spaces, the package read-only, with isolation %s",
  async (isolation) => {
    const outcome = await run(["programs/hello.js", isolation], place, { XDG_CACHE_HOME: "/nowhere" });
    expect(outcome).toEqual({ code: 0, stdout: greeting, stderr: "" });
  },
);

async function install(): Promise<void> {
  const target = join(place, "node_modules/viceroy");
  mkdirSync(target, { recursive: true });
  const root = fileURLToPath(new URL("../../", import.meta.url));
  cpSync(join(root, "package.json"), join(target, "package.json"));
  for (const file of ["runtime.cjs", "runtime-rest.cjs", "load.cjs", "boot.cjs", "index.js", "codegen-v1.js"]) {
    cpSync(join(root, "dist", file), join(target, "dist", file));
  }
  chmodTree(target, 0o555);
  writeFileSync(join(place, "package.json"), '{ "type": "module" }');
  for (const folder of ["generated", "src", "programs"]) {
    mkdirSync(join(place, folder));
    for (const name of readdirSync(join(project, folder))) {
      const source = readFileSync(join(project, folder, name), "utf8");
      const { code } = await transform(source, { loader: "ts", target: "node20" });
      writeFileSync(join(place, folder, name.replace(/\.ts$/, ".js")), code);
    }
  }
}

function chmodTree(path: string, mode: number): void {
  chmodSync(path, mode);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) chmodTree(join(path, entry.name), mode);
    else chmodSync(join(path, entry.name), mode);
  }
}
