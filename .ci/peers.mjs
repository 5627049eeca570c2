/**
 * Installs the programs of other projects that tests need: protoc and capnp, with which tests compare Viceroy, nft,
 * which drops packets, Slurm, which runs jobs, OpenSSH, by which other jobs run, login shells, Chromium, which opens the documentation
 * site and calls actors, nginx, which forwards these calls, faketime, which starts programs with a wrong clock, and Helm, which installs the chart.
 * `npm run peers` and `verify` run this script.
 * A program that is not on the PATH is unpacked from Debian's packages, without root, into `.peers/`, which is not
 * committed. Helm is built by Go. The virtual machine (machine.mjs) and a Python package (python.mjs) are also put there. The script uses
 * Node.js only, without any package. buf is a development dependency, which npm installs.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { hasArm64, prepareArm64 } from "./arm64.mjs";
import { hasContainer, prepareContainer } from "./container.mjs";
import { fromDebian, onPath } from "./debian.mjs";
import { buildHelm, helmProgram } from "./kubernetes/helm.mjs";
import { hasMachine, noMachine, prepareMachine } from "./machine.mjs";
import { hasMusl, prepareMusl } from "./musl.mjs";
import { hasPython, preparePython, pythonPackage } from "./python.mjs";
import { neededPeers } from "./slow-tests.mjs";
import { root } from "./steps.mjs";

const folder = path.join(root, ".peers");
/** Only a user who can create network namespaces can drop packets in them. */
const makesNetworks = process.platform === "linux" && process.getuid() === 0;
/** Chromium without a window, and the programs that can replace it. test/peers.ts looks for the same names. */
const browser = "chromium-headless-shell";
const browsers = [browser, "chromium", "google-chrome"];
/** Slurm, which runs jobs on several machines of such a network. */
const cluster = ["slurmctld-wlm", "slurmd-wlm", "slurmstepd-wlm", "srun", "munged"];
/** OpenSSH, by which jobs reach machines of such a network, and login shells that differ from the others. */
const shell = ["sshd", "ssh", "ssh-keygen", "fish", "tcsh"];
const networked = makesNetworks ? ["nft", ...cluster, ...shell] : [];
const programs = ["protoc", "capnp", ...networked, browser, "nginx", "faketime"];
const wellKnownTypes = path.join(folder, "usr/include/google/protobuf/any.proto");
/** libprotobuf-dev contains the well-known types that protoc imports. */
const packages = [
  "protobuf-compiler",
  "libprotobuf-dev",
  "capnproto",
  ...(makesNetworks
    ? ["nftables", "slurmctld", "slurmd", "slurm-client", "munge", "openssh-server", "openssh-client", "fish", "tcsh"]
    : []),
  "chromium-headless-shell",
  "nginx",
  "faketime",
];

/**
 * Installs missing programs into `.peers/`. With the argument `--unless-passed`, those that only slow tests need are left out together with these
 * tests (slow-tests.mjs).
 * @returns 0, or 1 if a program is still missing; its name has been printed
 */
export async function preparePeers() {
  const code = preparePrograms() || (await prepareHelm());
  preparePython();
  prepareContainer();
  prepareMusl();
  const needed = await neededPeers();
  if (needed.has("arm64")) await prepareArm64();
  return (needed.has("machine") ? prepareMachine() : 0) || code;
}

/** Debian has no package of Helm. A link leads to the one in the cache of the user, which other clones use, too. */
async function prepareHelm() {
  if (hasHelm()) return 0;
  const code = await buildHelm();
  if (code !== 0) return code;
  mkdirSync(path.join(folder, "bin"), { recursive: true });
  rmSync(placeOf("helm"), { force: true });
  symlinkSync(helmProgram(), placeOf("helm"));
  return 0;
}

/** Whether the link leads to the version that tests need. */
function hasHelm() {
  return existsSync(placeOf("helm")) && readlinkSync(placeOf("helm")) === helmProgram();
}

function preparePrograms() {
  if (missingPrograms().length === 0) return 0;
  const why = unpackPeers();
  if (why === undefined) return 0;
  console.error(
    `cannot find ${programs.join(" and ")}, which tests need: neither on the PATH, nor taken from Debian's ` +
      `packages (${why}). Install ${packages.join(", ")}`,
  );
  return 1;
}

/** Returns the missing programs. Tests that need them are skipped. */
export function missingPeers() {
  const missing = [
    ...missingPrograms(),
    ...(hasHelm() ? [] : ["helm"]),
    ...(hasPython() ? [] : [`Python's ${pythonPackage}`]),
    ...(hasContainer() ? [] : ["a container"]),
    ...(hasMusl() || process.arch !== "x64" ? [] : ["Node.js for musl"]),
    ...(hasArm64() || process.arch !== "x64" ? [] : ["a compiler and Node.js for arm64"]),
  ];
  return hasMachine()
    ? missing
    : [...missing, `a virtual machine with RDMA${noMachine() ? `, and so ${noMachine()}` : ""}`];
}

/** Returns the missing programs. A protoc without the well-known types counts as missing. */
function missingPrograms() {
  const whole = (program) => existsSync(placeOf(program)) && (program !== "protoc" || existsSync(wellKnownTypes));
  return programs.filter((program) => !isInstalled(program) && !whole(program));
}

function isInstalled(program) {
  return program === browser ? browsers.some(onPath) : onPath(program);
}

function placeOf(program) {
  return path.join(folder, "bin", program);
}

function startingWithLibraries(program) {
  return [
    // There is one folder lib/<architecture>. Chromium loads PulseAudio's libraries from a folder of their own.
    'for folder in "$here"/lib/*-linux-* "$here"/usr/lib/*-linux-* "$here"/usr/lib/*-linux-*/pulseaudio; do',
    '  libraries="$libraries:$folder"',
    "done",
    'export LD_LIBRARY_PATH="$libraries"',
    // Chromium needs a font configuration, which a system without fontconfig lacks.
    'if [ -d "$here/etc/fonts" ]; then export FONTCONFIG_SYSROOT="$here"; fi',
    `exec "$here/${folderOf(program)}/${program}" "$@"`,
  ];
}

/**
 * The end of a script that does what `faketime -f <offset> <command>` does. Debian's program knows its library only by
 * the path at which the package installs it.
 */
const fakingTime = [
  'export FAKETIME="$2" LD_PRELOAD="$(echo "$here"/usr/lib/*-linux-*/faketime/libfaketime.so.1)"',
  "shift 2",
  'exec "$@"',
];

/** @returns the reason for a failure, or undefined */
function unpackPeers() {
  const kept = new Set(["machine", "python", "container", "arm64", "musl"]);
  if (existsSync(folder)) {
    for (const entry of readdirSync(folder).filter((name) => !kept.has(name))) {
      rmSync(path.join(folder, entry), { recursive: true });
    }
  }
  mkdirSync(folder, { recursive: true });
  const lacking = () =>
    programs.find(
      (program) => !isInstalled(program) && !existsSync(placeOf(program)) && folderOf(program) === undefined,
    );
  const why = fromDebian(folder, packages, {
    // protoc looks for the well-known types beside itself, even if the system has them elsewhere.
    also: () => ["libprotobuf-dev"],
    complete: () => (lacking() === undefined ? undefined : `the packages hold no ${lacking()}`),
  });
  if (why === undefined) {
    for (const program of programs.filter((name) => folderOf(name) !== undefined)) writeStarter(program);
  }
  return why;
}

/** Returns the folder of a program below `.peers/`. */
function folderOf(program) {
  // Debian's usr/bin contains a script that starts /usr/lib/chromium/chromium-headless-shell, which does not exist
  // there.
  return ["usr/lib/chromium", "usr/bin", "usr/sbin"].find((place) => existsSync(path.join(folder, place, program)));
}

/** Writes a script that starts the program with its libraries, independent of the location of the checkout. */
function writeStarter(program) {
  const lines = [
    "#!/bin/sh",
    'here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)',
    ...(program === "faketime" ? fakingTime : startingWithLibraries(program)),
    "",
  ];
  mkdirSync(path.join(folder, "bin"), { recursive: true });
  writeFileSync(placeOf(program), lines.join("\n"));
  chmodSync(placeOf(program), 0o755);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await preparePeers();
}
