/**
 * Unpacks a second release of Slurm, 24.11 of Debian 13, with all libraries that it needs, into the root folder
 * `.peers/slurm-24.11/`. `verify:full` runs the tests of jobs with it, too. The script uses Node.js only, without any package.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { output } from "./debian.mjs";
import { root } from "./steps.mjs";

const folder = path.join(root, ".peers/slurm-24.11");
const packages = [
  "slurmctld",
  "slurmd",
  "slurm-client",
  "munge",
  "bash",
  "coreutils",
  "sed",
  "procps",
  "dash",
  "util-linux",
];
const ready = path.join(folder, "ready");

/**
 * Unpacks the release.
 * @returns 0, or 1 if it cannot be unpacked; the reason has been printed
 */
export function prepareSlurm() {
  if (existsSync(ready)) return 0;
  rmSync(folder, { recursive: true, force: true });
  const apt = path.join(folder, "apt");
  for (const name of ["lists/partial", "cache/archives/partial", "packages"]) {
    mkdirSync(path.join(apt, name), { recursive: true });
  }
  const why = unpack(apt);
  rmSync(apt, { recursive: true, force: true });
  if (why === undefined) {
    writeFileSync(ready, "");
    return 0;
  }
  console.error(`cannot unpack Slurm 24.11 from Debian 13, which verify:full needs: ${why}`);
  return 1;
}

/** @returns the reason for a failure, or undefined */
function unpack(apt) {
  // An empty list of installed packages, so that every library is unpacked, and no package of this system counts.
  writeFileSync(path.join(apt, "status"), "");
  const keys = "/usr/share/keyrings/debian-archive-keyring.gpg";
  const sources = path.join(apt, "sources.list");
  writeFileSync(sources, `deb [signed-by=${keys}] http://deb.debian.org/debian trixie main\n`);
  const options = [
    `Dir::Etc::sourcelist=${sources}`,
    "Dir::Etc::sourceparts=/dev/null",
    `Dir::State::lists=${apt}/lists`,
    `Dir::State::status=${apt}/status`,
    `Dir::Cache=${apt}/cache`,
    "APT::Sandbox::User=root",
  ].flatMap((option) => ["-o", option]);
  const updated = output("apt-get", [...options, "update"]);
  if (updated.code !== 0) return updated.text.trim();
  const plan = output("apt-get", [...options, "--simulate", "--no-install-recommends", "install", ...packages]);
  if (plan.code !== 0) return plan.text.trim();
  const wanted = [...plan.text.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name);
  const cwd = path.join(apt, "packages");
  // Essential packages are part of every system, and no package names them.
  const download = output("apt-get", [...options, "download", ...new Set([...wanted, ...packages])], cwd);
  if (download.code !== 0) return download.text.trim();
  for (const file of readdirSync(cwd)) {
    const unpacked = output("dpkg-deb", ["-x", file, folder], cwd);
    if (unpacked.code !== 0) return unpacked.text.trim();
  }
  return undefined;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = prepareSlurm();
}
