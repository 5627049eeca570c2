/**
 * Takes packages of Debian apart below a folder: nothing is installed, and nobody has to be root. What peers.mjs and machine.mjs
 * have in common. Plain Node.js without any package.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";

export function onPath(program) {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter((entry) => entry !== "");
  return folders.some((entry) => existsSync(path.join(entry, program)));
}

/**
 * Unpacks packages, with all they depend on and this system lacks, below a folder that exists.
 * @param packages installing these would install what is unpacked
 * @param also takes a function that asks apt-cache, and returns names of further packages, taken alone and in any case
 * @param complete whether the folder now holds what it must, as the reason why not; undefined: it does
 * @returns why not; undefined when it is done
 */
export function fromDebian(folder, packages, { also = () => [], complete = () => undefined } = {}) {
  if (!onPath("apt-get") || !onPath("dpkg-deb")) return "this system has no apt-get";
  const cwd = path.join(folder, "packages");
  mkdirSync(cwd, { recursive: true });
  let why = unpack(folder, packages, also, complete, []);
  // Lists of packages that are missing or too old are fetched anew, beside those of the system.
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
