/** Projects as `viceroy init` writes them, with a program that prints the values of its counters. */
import { cpSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "vitest";
import { root, run } from "../examples/program.js";
import { installInto, write } from "../examples/project.js";

export function temporaryFolder(): string {
  return realpathSync(mkdtempSync(path.join(tmpdir(), "bundle-")));
}

/** The first argument of the program selects the isolation. */
const main = `import { thisHost } from "viceroy";
import "../generated/registry.js";
import { MemoryCounter } from "./memory-counter.js";

async function main() {
  const isolation = process.argv[2] === "thread" ? "thread" : "process";
  const procs = thisHost().spawnProcs({ gpus: 2 }, { isolation });
  const counters = procs.spawn("counters", MemoryCounter, 3);
  counters.increment.broadcast(1);
  console.log([...(await counters.value.call()).values()].join());
  await procs.stop();
}

main().catch((error) => {
  console.log(error.message);
  process.exitCode = 1;
});
`;

const program = `import { runProgram } from "viceroy";
import "../generated/registry.js";

runProgram(() => import("./main.js"));
`;

/** Makes a project in a new folder, and compiles its schemas. */
export async function makeProject(): Promise<string> {
  const folder = temporaryFolder();
  write(path.join(folder, "package.json"), '{ "name": "shop", "version": "1.0.0", "type": "module" }\n');
  installInto(folder);
  await viceroy(folder, "init");
  write(path.join(folder, "src/main.ts"), main);
  write(path.join(folder, "src/program.ts"), program);
  await viceroy(folder, "compile");
  return folder;
}

export async function viceroy(folder: string, ...args: readonly string[]): Promise<void> {
  await succeed(folder, path.join(root, "dist/cli/viceroy.js"), ...args);
}

/** Runs a script of Node.js, which must succeed. */
export async function succeed(folder: string, ...args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await run(process.execPath, args, folder);
  expect(code, `${args.join(" ")} printed:\n${stdout}${stderr}`).toBe(0);
}

/**
 * Copies the output of a bundler to a machine: a folder without the sources of the program.
 * @param needsViceroy whether the package is installed there
 */
export function deploy(output: string, needsViceroy = true): string {
  const folder = temporaryFolder();
  cpSync(output, path.join(folder, "app"), { recursive: true });
  write(path.join(folder, "package.json"), '{ "name": "shop", "version": "1.0.0", "type": "module" }\n');
  if (needsViceroy) {
    mkdirSync(path.join(folder, "node_modules"));
    symlinkSync(root, path.join(folder, "node_modules/viceroy"));
  }
  return path.join(folder, "app");
}
