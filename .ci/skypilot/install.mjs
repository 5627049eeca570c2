/**
 * Installs SkyPilot and all that it needs from PyPI, in the versions of requirements.txt, into a folder of the user's cache. The first time takes
 * about a minute; later ones find the result. It uses Node.js only, without any package.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { root, run } from "../steps.mjs";

const requirements = path.join(root, ".ci/skypilot/requirements.txt");

/** Returns the folder of everything that tests of SkyPilot need and that is kept between runs. */
export function cacheFolder() {
  const base = process.env.XDG_CACHE_HOME || path.join(homedir(), ".cache");
  return path.join(base, "viceroy-skypilot");
}

/** Returns the folder of SkyPilot, which has another name for other versions. */
function skypilotFolder() {
  const hash = createHash("sha256").update(readFileSync(requirements)).digest("hex");
  return path.join(cacheFolder(), hash.slice(0, 12));
}

/** Returns the path of the Python that has SkyPilot. */
export function pythonOf(folder = skypilotFolder()) {
  return path.join(folder, "bin/python");
}

/**
 * Installs SkyPilot unless it is there.
 * @returns 0, or the exit code of the command that has failed, which has said why
 */
export async function install() {
  const folder = skypilotFolder();
  if (existsSync(folder)) return 0;
  console.log("installing SkyPilot once, which takes about a minute");
  const made = `${folder}.${process.pid}`;
  mkdirSync(path.dirname(folder), { recursive: true });
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r", requirements];
  const code = (await run("python3", ["-m", "venv", made])) || (await run(pythonOf(made), pip));
  if (code === 0 && !existsSync(folder)) renameSync(made, folder);
  else rmSync(made, { recursive: true, force: true });
  return code;
}
