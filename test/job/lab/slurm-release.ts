/**
 * The releases of Slurm that the tests run: 22.05 of Debian 12, whose programs use the libraries of this system, and 24.11
 * of Debian 13, which runs in a root folder of its own. `.ci/peers.mjs` and `.ci/slurm.mjs` unpack them.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { unpackedPeers } from "../../peers.js";

export interface SlurmRelease {
  readonly version: "22.05" | "24.11";
  /** The command prefix that runs a program where the programs of the release work. It is run on a machine. */
  readonly inside: readonly string[];
  /** The folder `usr` with the programs, as they see it. */
  readonly usr: string;
  /** The variables with which the programs find their libraries. */
  readonly env: NodeJS.ProcessEnv;
  /** Lines of slurm.conf that only this release knows. */
  readonly settings: readonly string[];
  /** The content of cgroup.conf. */
  readonly cgroups: string;
}

const repository = fileURLToPath(new URL("../../..", import.meta.url));
const libraries = "lib/x86_64-linux-gnu";
const rootFolder = join(unpackedPeers, "slurm-24.11");

// By default, jobs start after seconds.
const scheduling = "SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0";

const bookworm: SlurmRelease = {
  version: "22.05",
  inside: [],
  usr: join(unpackedPeers, "usr"),
  env: {
    LD_LIBRARY_PATH: [join(libraries, "slurm-wlm"), libraries]
      .map((folder) => join(unpackedPeers, "usr", folder))
      .join(delimiter),
  },
  settings: ["SwitchType=switch/none", `PluginDir=${join(unpackedPeers, "usr", libraries, "slurm-wlm")}`, scheduling],
  cgroups: "CgroupPlugin=cgroup/v1\n",
};

/** Everything of this system that the programs and the tests need in the root folder. */
const shared = [
  "/proc",
  "/sys",
  "/dev",
  "/tmp",
  "/etc/hosts",
  "/etc/passwd",
  "/etc/group",
  repository,
  process.execPath,
];
/** Enters the root folder, and stays in the working directory. */
const enter = `root="$1" && shift
while [ "$1" != -- ]; do mount --rbind "$1" "$root$1" && shift || exit; done
shift
exec chroot "$root" sh -c 'cd "$1" && shift && exec "$@"' sh "$PWD" "$@"`;

const trixie: SlurmRelease = {
  version: "24.11",
  inside: ["sh", "-c", enter, "sh", rootFolder, ...shared, "--"],
  usr: "/usr",
  env: { LD_LIBRARY_PATH: undefined },
  // With a time of grace, a preempted job gets the signal that it has asked for, instead of the end of its hosts.
  settings: [scheduling, "PreemptParameters=send_user_signal"],
  cgroups: "CgroupPlugin=disabled\n",
};

/**
 * Returns a release that is unpacked, ready to be used; undefined if it is not there.
 */
export function findSlurm(version: SlurmRelease["version"]): SlurmRelease | undefined {
  if (version === "22.05") return existsSync(join(bookworm.usr, "sbin/slurmctld-wlm")) ? bookworm : undefined;
  if (!existsSync(join(rootFolder, "usr/sbin/slurmctld-wlm"))) return undefined;
  for (const place of shared) {
    const target = join(rootFolder, place);
    if (existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    if (place === process.execPath || place.startsWith("/etc/")) writeFileSync(target, "");
    else mkdirSync(target);
  }
  return trixie;
}
