/**
 * Copies of test/fixtures/monorepo with the packed package of Viceroy, installed by a package manager as users do. Schemas
 * are in two packages, actors in a third, a client in a fourth, and a program in the fifth.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Tarballs } from "../package/packed.js";

const root = path.resolve(import.meta.dirname, "../..");
/** The version of pnpm that is installed for these tests. It runs on Node.js 20. */
export const pnpmVersion = "9.15.9";

/** The environment variables that a test runner and an enclosing `npm run` set. */
const foreign = /^(?:VITEST.*|TEST|NODE_ENV|NODE_OPTIONS|NODE_V8_COVERAGE|npm_(?!config_).*)$/;
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name))),
  npm_config_prefer_offline: "true",
};

export interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

export function run(folder: string, command: string, ...args: readonly string[]): Outcome {
  const { status, stdout, stderr } = spawnSync(command, args, {
    ...{ cwd: folder, encoding: "utf8", env },
    ...{ timeout: 250_000, killSignal: "SIGKILL" },
  });
  return { code: status, output: stdout + stderr };
}

/** Runs a command that must succeed, and returns its output. */
export function succeed(folder: string, command: string, ...args: readonly string[]): string {
  const { code, output } = run(folder, command, ...args);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with code ${code}\n${output}`);
  return output;
}

export function temporaryFolder(): string {
  return realpathSync(mkdtempSync(path.join(tmpdir(), "viceroy-monorepo-")));
}

/**
 * Copies the packages into a folder.
 * @param workspace the version by which the package manager refers to packages of the workspace
 */
export function copyPackages(folder: string, { viceroy, compiler }: Tarballs, workspace: string): void {
  cpSync(path.join(root, "test/fixtures/monorepo"), folder, {
    recursive: true,
    filter: (file) => !/\/(node_modules|generated|viceroy\.lock|\.viceroy)$/.test(file),
  });
  for (const name of readdirSync(path.join(folder, "packages"))) {
    const file = path.join(folder, "packages", name, "package.json");
    const text = readFileSync(file, "utf8")
      .replaceAll(/"(@acme\/[\w-]+)": "1\.0\.0"/g, `"$1": "${workspace}"`)
      .replace('"viceroy": "0.1.0"', `"viceroy": "file:${viceroy}"`);
    writeFileSync(file, text);
  }
  const { devDependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const file = path.join(folder, "package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8")) as object;
  const tools = {
    "@types/node": "^20.19.0",
    tsx: devDependencies["tsx"],
    typescript: devDependencies["typescript"],
    viceroy: `file:${viceroy}`,
    "@viceroy/compiler": `file:${compiler}`,
  };
  writeFileSync(file, JSON.stringify({ ...manifest, devDependencies: tools }, null, 2));
}

/** Compiles the packages in the order of their dependencies. */
export function compilePackages(folder: string): void {
  const command = path.join(folder, "node_modules/viceroy/dist/cli/viceroy.js");
  for (const name of ["prices", "counters", "app"]) {
    succeed(path.join(folder, "packages", name), process.execPath, command, "compile");
  }
}
