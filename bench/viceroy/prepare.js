/**
 * Prepares the Viceroy program that the benchmarks run: copies it into the cache, and compiles it with `viceroy compile` and
 * tsc, as users do. This folder contains sources only.
 */
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { cacheDir, repository } from "../harness/index.js";

const program = cacheDir("program");

export async function prepareProgram() {
  // Sources that were renamed or removed since the last run must not remain.
  rmSync(program, { recursive: true, force: true });
  cpSync(fileURLToPath(new URL(".", import.meta.url)), program, { recursive: true });
  const run = (...args) =>
    execFileSync(process.execPath, args, { cwd: program, stdio: ["ignore", "ignore", "inherit"] });
  run(path.join(repository, "dist/cli/viceroy.js"), "compile");
  run(path.join(repository, "node_modules/typescript/bin/tsc"), "-p", ".");
}

const load = (file) => import(pathToFileURL(path.join(program, file)).href);

/** Loads the compiled module that spawns meshes. */
export const loadDriver = () => load("dist/src/driver.js");

/** Loads the compiled module that uses jobs. */
export const loadJobs = () => load("dist/src/job.js");

/** Loads the compiled module that spawns an actor with a large state. */
export const loadDepot = () => load("dist/src/depot.js");

/** Loads the module that spawns meshes as TypeScript, for a process that runs with tsx. */
export const loadSource = () => load("src/driver.ts");
