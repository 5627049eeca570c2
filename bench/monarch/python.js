/** Installs Monarch and Ray in a virtual environment. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { cacheDir } from "../harness/index.js";

/** The system's interpreter, for which the pinned packages have wheels. PATH may contain another Python before it. */
const system = "/usr/bin/python3";
const requirements = readFileSync(fileURLToPath(new URL("python/requirements.txt", import.meta.url)), "utf8");

/**
 * Installs the pinned packages unless they are installed.
 *
 * @returns {{ python: string, versions: string }} the interpreter of the environment, and a sentence that names the versions
 */
export function preparePython() {
  const directory = path.join(cacheDir("monarch"), "venv");
  const python = path.join(directory, "bin/python");
  const installed = path.join(directory, "installed.txt");
  if (!existsSync(installed) || readFileSync(installed, "utf8") !== requirements) {
    rmSync(directory, { recursive: true, force: true });
    run(system, "-m", "venv", directory);
    const list = path.join(directory, "requirements.txt");
    writeFileSync(list, requirements);
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--requirement", list);
    writeFileSync(installed, requirements);
  }
  const version = run(python, "--version").trim();
  const [monarch, ray] = ["torchmonarch", "ray"].map(
    (name) => new RegExp(`^${name}==(.+)$`, "m").exec(requirements)[1],
  );
  return { python, versions: `torchmonarch ${monarch} and ray ${ray} on ${version}.` };
}

function run(command, ...args) {
  try {
    return execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 600_000 });
  } catch (error) {
    const what = [command, ...args].join(" ");
    throw new Error(
      `cannot set up Monarch and Ray: ${what} failed (Debian: apt-get install python3-venv)\n${error.stderr ?? error.message}`,
    );
  }
}
