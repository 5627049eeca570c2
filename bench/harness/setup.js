/** Installs and builds what benchmarks need, on first use: peers, Viceroy itself, Node.js 24. */
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the checkout. */
export const repository = fileURLToPath(new URL("../../", import.meta.url));
const bench = path.join(repository, "bench");

/** Returns a folder for generated files. It is below node_modules, so `npm ci` clears it, and imports of peers resolve from it. */
export function cacheDir(name) {
  const directory = path.join(bench, "node_modules/.cache/viceroy-bench", name);
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** Installs the pinned peers. If `needs` contains "viceroy", also builds Viceroy and links it as a package. */
export function prepare(needs = []) {
  install(bench);
  if (!needs.includes("viceroy")) return;
  install(repository);
  if (!isBuilt()) run(process.execPath, ["build.mjs"], repository);
  const link = path.join(bench, "node_modules/viceroy");
  if (lstatSync(link, { throwIfNoEntry: false }) === undefined) symlinkSync("../..", link, "dir");
}

/** Builds an addon of Viceroy: "rdma" or "tensor". */
export function setUpAddon(name) {
  run(process.execPath, [path.join(repository, "dist/cli/viceroy.js"), "setup", `--${name}`], repository);
}

/** Returns whether dist/ is newer than all of its sources. */
function isBuilt() {
  const outputs = ["dist/runtime.cjs", "dist/runtime-rest.cjs", "dist/cli/viceroy.js", "dist/types/runtime/index.d.ts"];
  const sources = ["runtime", "compiler", "schemas", "generated", "build.mjs", "package.json", "package-lock.json"];
  const oldest = Math.min(...outputs.map((file) => modified(path.join(repository, file))));
  return sources.every((source) => newest(path.join(repository, source)) < oldest);
}

const modified = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

function newest(file) {
  if (!statSync(file).isDirectory()) return modified(file);
  return Math.max(...readdirSync(file, { recursive: true }).map((name) => modified(path.join(file, name))));
}

/** Returns the path of the Node.js 24 binary, installed on first use, or undefined on platforms without a pinned one. */
export function node24() {
  const directory = path.join(bench, "node24");
  install(directory);
  const binary = path.join(directory, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  return existsSync(binary) ? binary : undefined;
}

/** Runs `npm ci` unless the installation is as new as the lock file. No peer needs its install scripts. */
function install(directory) {
  const installed = path.join(directory, "node_modules/.package-lock.json");
  const lock = path.join(directory, "package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  const isBench = directory !== repository;
  run(
    "npm",
    ["ci", "--no-audit", "--no-fund", "--loglevel=error", ...(isBench ? ["--ignore-scripts"] : [])],
    directory,
  );
}

function run(command, args, cwd) {
  try {
    execFileSync(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
  } catch (error) {
    throw new Error(`cannot set up benchmarks: ${[command, ...args].join(" ")} failed\n${error.stdout}${error.stderr}`);
  }
}

/** Creates a folder that is removed at exit. Its path is short, since that of a Unix socket has at most 107 bytes. */
export function workDirectory(name) {
  const directory = path.join("/tmp", `viceroy-bench-${name}-${process.pid}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
