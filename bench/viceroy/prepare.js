/**
 * The Viceroy program that the benchmarks run: copied into the cache, compiled by `viceroy compile` and by tsc, as a
 * user's would be. Its own folder holds sources alone.
 */
import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { cacheDir, repository } from "../harness/index.js";

const program = cacheDir("program");

export async function prepareProgram() {
  cpSync(fileURLToPath(new URL(".", import.meta.url)), program, { recursive: true });
  const run = (...args) =>
    execFileSync(process.execPath, args, { cwd: program, stdio: ["ignore", "ignore", "inherit"] });
  run(path.join(repository, "dist/cli/viceroy.js"), "compile");
  run(path.join(repository, "node_modules/typescript/bin/tsc"), "-p", ".");
}

/** The program's module that spawns echo servers, compiled. */
export const loadDriver = () => import(pathToFileURL(path.join(program, "dist/src/driver.js")).href);

/** The same module as TypeScript, for a process that runs with tsx. */
export const loadSource = () => import(pathToFileURL(path.join(program, "src/driver.ts")).href);
