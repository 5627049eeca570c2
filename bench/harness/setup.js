/** What a benchmark needs before it can run, installed and built on first use: peers, Viceroy itself, Node.js 24. */
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Root of the checkout. */
export const repository = fileURLToPath(new URL("../../", import.meta.url));
const bench = path.join(repository, "bench");

/** A folder for what benchmarks generate; below node_modules, so that `npm ci` clears it and peers are found from it. */
export function cacheDir(name) {
  const directory = path.join(bench, "node_modules/.cache/viceroy-bench", name);
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** Installs the pinned peers, and with "viceroy" among the needs builds it and links it as a package. */
export function prepare(needs = []) {
  install(bench);
  if (!needs.includes("viceroy")) return;
  install(repository);
  if (!isBuilt()) run(process.execPath, ["build.mjs"], repository);
  const link = path.join(bench, "node_modules/viceroy");
  if (lstatSync(link, { throwIfNoEntry: false }) === undefined) symlinkSync("../..", link, "dir");
}

/** Builds an addon of Viceroy's: "rdma" or "tensor". */
export function setUpAddon(name) {
  run(process.execPath, [path.join(repository, "dist/cli/viceroy.js"), "setup", `--${name}`], repository);
}

/** Whether dist/ is newer than everything it is built from. */
function isBuilt() {
  const outputs = ["dist/runtime.cjs", "dist/cli/viceroy.js", "dist/types/runtime/index.d.ts"];
  const sources = ["runtime", "compiler", "schemas", "generated", "build.mjs", "package.json", "package-lock.json"];
  const oldest = Math.min(...outputs.map((file) => modified(path.join(repository, file))));
  return sources.every((source) => newest(path.join(repository, source)) < oldest);
}

const modified = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

function newest(file) {
  if (!statSync(file).isDirectory()) return modified(file);
  return Math.max(...readdirSync(file, { recursive: true }).map((name) => modified(path.join(file, name))));
}

/** The Node.js 24 binary, installed on first use; undefined on platforms that it isn't pinned for. */
export function node24() {
  const directory = path.join(bench, "node24");
  install(directory);
  const binary = path.join(directory, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  return existsSync(binary) ? binary : undefined;
}

/** `npm ci` unless what is installed is as new as the lock file. No peer needs its install scripts. */
function install(directory) {
  const installed = path.join(directory, "node_modules/.package-lock.json");
  const lock = path.join(directory, "package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  const own = directory !== repository;
  run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error", ...(own ? ["--ignore-scripts"] : [])], directory);
}

function run(command, args, cwd) {
  try {
    execFileSync(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
  } catch (error) {
    throw new Error(`cannot set up benchmarks: ${[command, ...args].join(" ")} failed\n${error.stdout}${error.stderr}`);
  }
}

/** A folder of its own, removed at exit. Short, since the path of a Unix socket has at most 107 bytes. */
export function workDirectory(name) {
  const directory = path.join("/tmp", `viceroy-bench-${name}-${process.pid}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
