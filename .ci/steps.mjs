/**
 * Runs commands one after another, with a heading and a duration for each. The scripts of this folder use this module.
 * It uses Node.js only, because it runs before packages are installed.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

/**
 * Runs a command in the checkout with this terminal.
 * @returns its exit code, or 1 if a signal ended it
 */
export function run(command, args, { env = {}, cwd = root } = {}) {
  return new Promise((resolve) => {
    const shell = process.platform === "win32" && command === "npm";
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: "inherit", shell });
    child.once("error", (error) => {
      console.error(`cannot run ${command}: ${error.message}`);
      resolve(1);
    });
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

/**
 * Runs a command without printing its output.
 * @returns its exit code, its output, and its duration in seconds
 */
export function told(command, args, { env = {}, cwd = root } = {}) {
  const begin = performance.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    const take = (chunk) => {
      text += chunk;
    };
    child.stdout.setEncoding("utf8").on("data", take);
    child.stderr.setEncoding("utf8").on("data", take);
    const end = (code) => resolve({ code, text, seconds: ((performance.now() - begin) / 1000).toFixed(1) });
    child.once("error", (error) => {
      take(`cannot run ${command}: ${error.message}\n`);
      end(1);
    });
    child.once("close", (code) => end(code ?? 1));
  });
}

export const node = (...args) => run(process.execPath, args);

/** Runs an installed tool by the path of its script. */
export const tool = (script, ...args) => node(path.join("node_modules", script), ...args);

export const viceroy = (project, ...args) =>
  run(process.execPath, [path.join(root, "dist/cli/viceroy.js"), ...args], { cwd: path.join(root, project) });

/** Installs the packages of package-lock.json, unless they are already installed. */
export async function install(folder = ".", more = []) {
  const lock = createHash("sha256")
    .update(readFileSync(path.join(root, folder, "package-lock.json")))
    .digest("hex");
  const stamp = path.join(root, folder, "node_modules/.installed");
  const wanted = `${lock} ${process.platform} ${process.arch}\n`;
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return 0;
  const options = ["--no-audit", "--no-fund", "--prefer-offline", ...more];
  const code = await run("npm", ["ci", ...options], { cwd: path.join(root, folder) });
  if (code === 0) writeFileSync(stamp, wanted);
  return code;
}

/** The folder whose packages are other versions of Node.js. They are pinned for Linux on x64. */
export const otherNodes = ".ci/node";
export const hasOtherNodes = process.platform === "linux" && process.arch === "x64";

/** The newest version of Node.js that is supported, by its first number. */
export const newestNode = "24";

/** Returns the executable of another version of Node.js, by its first number. It exists after `install(otherNodes)`. */
export const otherNode = (version) => path.join(root, otherNodes, `node_modules/node${version}/bin/node`);

/** Returns the folders of the examples that have schemas. */
export function examples() {
  const folders = readdirSync(path.join(root, "examples"), { withFileTypes: true }).filter((e) => e.isDirectory());
  return folders
    .map(({ name }) => `examples/${name}`)
    .filter((folder) => existsSync(path.join(root, folder, "viceroy.config.ts")))
    .sort();
}

/**
 * Runs commands until one fails.
 * @returns the exit code of the failed command, or 0
 */
export async function allOf(commands) {
  for (const command of commands) {
    const code = await command();
    if (code !== 0) return code;
  }
  return 0;
}

/**
 * Prints the name of a step, runs it and prints its duration.
 * @returns whether it succeeded
 */
export async function step(name, command) {
  console.log(`\n== ${name}`);
  const begin = performance.now();
  const code = await command();
  console.log(`== ${name}: ${code === 0 ? "ok" : `failed with code ${code}`}, ${seconds(begin)}`);
  return code === 0;
}

function seconds(begin) {
  return `${((performance.now() - begin) / 1000).toFixed(1)} s`;
}
