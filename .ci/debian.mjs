/**
 * Unpacks packages of Debian below a folder, without installing them and without root. `peers.mjs` and `machine.mjs`
 * use this module. It uses Node.js only, without any package.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";

export function onPath(program) {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter((entry) => entry !== "");
  return folders.some((entry) => existsSync(path.join(entry, program)));
}

/**
 * Unpacks packages below an existing folder, with all dependencies that this system lacks.
 * @param packages the packages to unpack, with their dependencies
 * @param also a function that gets the output function of apt-cache and returns the names of further packages, which
 * are always unpacked, without their dependencies
 * @param complete a function that returns why the content of the folder is incomplete, or undefined if it is complete
 * @returns the reason for a failure, or undefined after success
 */
export function fromDebian(folder, packages, { also = () => [], complete = () => undefined } = {}) {
  if (!onPath("apt-get") || !onPath("dpkg-deb")) return "this system has no apt-get";
  const cwd = path.join(folder, "packages");
  mkdirSync(cwd, { recursive: true });
  let why = unpack(folder, packages, also, complete, []);
  // If the package lists are missing or out of date, new ones are fetched to the folder.
  if (why !== undefined) why = unpack(folder, packages, also, complete, ownLists(folder));
  rmSync(cwd, { recursive: true });
  rmSync(path.join(folder, "apt"), { recursive: true, force: true });
  return why;
}

function ownLists(folder) {
  const apt = path.join(folder, "apt");
  mkdirSync(path.join(apt, "lists/partial"), { recursive: true });
  mkdirSync(path.join(apt, "cache/archives/partial"), { recursive: true });
  const options = [`Dir::State::lists=${apt}/lists`, `Dir::Cache=${apt}/cache`].flatMap((option) => ["-o", option]);
  output("apt-get", [...options, "update"]);
  return options;
}

function unpack(folder, packages, also, complete, options) {
  const plan = output("apt-get", [...options, "--simulate", "--no-install-recommends", "install", ...packages]);
  if (plan.code !== 0) return lastLine(plan);
  const further = also((...args) => output("apt-cache", [...options, ...args]).text);
  const wanted = new Set([...[...plan.text.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name), ...further]);
  const cwd = path.join(folder, "packages");
  if (wanted.size > 0) {
    const download = output("apt-get", [...options, "-o", "APT::Sandbox::User=root", "download", ...wanted], cwd);
    if (download.code !== 0) return lastLine(download);
  }
  for (const file of readdirSync(cwd).filter((name) => name.endsWith(".deb"))) {
    const unpacked = output("dpkg-deb", ["-x", file, folder], cwd);
    if (unpacked.code !== 0) return lastLine(unpacked);
  }
  return complete();
}

export function output(command, args, cwd = undefined) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8", timeout: 300_000 });
  return {
    code: error === undefined ? (status ?? 1) : 1,
    text: `${stdout ?? ""}${stderr ?? ""}${error?.message ?? ""}`,
  };
}

function lastLine({ text }) {
  return text.trimEnd().split("\n").at(-1) || "apt-get said nothing";
}
