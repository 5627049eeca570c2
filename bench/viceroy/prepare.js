/**
 * Prepares the Viceroy program that the benchmarks run: copies it into the cache, and compiles it with `viceroy compile` and
 * tsc, as users do. This folder contains sources only.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { cacheDir, prepare, repository } from "../harness/index.js";

/** The folder of the compiled program. Children of a benchmark that has copied the program get another one. */
const program = process.env.VICEROY_BENCH_PROGRAM ?? cacheDir("program");

export async function prepareProgram() {
  // A run with `--only` and the name of a case has not done it.
  prepare(["viceroy"]);
  // Sources that were renamed or removed since the last run must not remain.
  rmSync(program, { recursive: true, force: true });
  cpSync(fileURLToPath(new URL(".", import.meta.url)), program, { recursive: true });
  const run = (...args) =>
    execFileSync(process.execPath, args, { cwd: program, stdio: ["ignore", "ignore", "inherit"] });
  run(path.join(repository, "dist/cli/viceroy.js"), "compile");
  run(path.join(repository, "node_modules/typescript/bin/tsc"), "-p", ".");
}

/** Copies the compiled program to a folder outside of this repository, as the programs of users are. */
export function copyProgram(folder) {
  cpSync(program, folder, { recursive: true });
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(repository, path.join(folder, "node_modules/viceroy"), "dir");
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
