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

const load = (file) => import(pathToFileURL(path.join(program, file)).href);

/** The program's module that spawns meshes, compiled. */
export const loadDriver = () => load("dist/src/driver.js");

/** The same module as TypeScript, for a process that runs with tsx. */
export const loadSource = () => load("src/driver.ts");
