/**
 * Installs the programs of other projects that tests need: protoc and capnp, which tests compare Viceroy with, nft, which
 * loses packets, and Chromium, which opens the documentation site. `npm run peers` runs this script, and so does `verify`.
 * A program that is not on the PATH is taken from Debian's packages, without root, into `.peers/`, which is not committed.
 * The virtual machine (machine.mjs) and a Python package (python.mjs) are put there, too. Plain Node.js without any
 * package. buf is a development dependency: npm installs it.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { fromDebian, onPath } from "./debian.mjs";
import { hasMachine, noMachine, prepareMachine } from "./machine.mjs";
import { hasPython, preparePython, pythonPackage } from "./python.mjs";
import { root } from "./steps.mjs";

const folder = path.join(root, ".peers");
/** Only who may make networks can lose packets there. */
const makesNetworks = process.platform === "linux" && process.getuid() === 0;
/** Chromium without a window, and the programs that can take its place. test/peers.ts looks for the same names. */
const browser = "chromium-headless-shell";
const browsers = [browser, "chromium", "google-chrome"];
const programs = ["protoc", "capnp", ...(makesNetworks ? ["nft"] : []), browser];
const wellKnownTypes = path.join(folder, "usr/include/google/protobuf/any.proto");
/** libprotobuf-dev has the well-known types that protoc imports. */
const packages = [
  "protobuf-compiler",
  "libprotobuf-dev",
  "capnproto",
  ...(makesNetworks ? ["nftables"] : []),
  "chromium-headless-shell",
];

/** Puts what is missing into `.peers/`. @returns 0, or 1 when something is missing still: it has been said what */
export function preparePeers() {
  const code = preparePrograms();
  preparePython();
  return prepareMachine() || code;
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

/** What is not there. Tests that need it are left out. */
export function missingPeers() {
  const missing = [...missingPrograms(), ...(hasPython() ? [] : [`Python's ${pythonPackage}`])];
  return hasMachine()
    ? missing
    : [...missing, `a virtual machine with RDMA${noMachine() ? `, and so ${noMachine()}` : ""}`];
}

/** A protoc without the well-known types is none. */
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

/** @returns why not; undefined when it is done */
function unpackPeers() {
  const kept = new Set(["machine", "python"]);
  if (existsSync(folder)) {
    for (const entry of readdirSync(folder).filter((name) => !kept.has(name))) {
      rmSync(path.join(folder, entry), { recursive: true });
    }
  }
  mkdirSync(folder, { recursive: true });
  const lacking = () => programs.find((program) => !isInstalled(program) && folderOf(program) === undefined);
  const why = fromDebian(folder, packages, {
    // protoc looks for the well-known types beside itself, also where the system has them.
    also: () => ["libprotobuf-dev"],
    complete: () => (lacking() === undefined ? undefined : `the packages hold no ${lacking()}`),
  });
  if (why === undefined) {
    for (const program of programs.filter((name) => folderOf(name) !== undefined)) writeStarter(program);
  }
  return why;
}

/** Where the packages have put it, below `.peers/`. */
function folderOf(program) {
  // Debian's usr/bin has a script that starts /usr/lib/chromium/chromium-headless-shell, which is not there.
  return ["usr/lib/chromium", "usr/bin", "usr/sbin"].find((place) => existsSync(path.join(folder, place, program)));
}

/** A program beside its libraries, wherever the checkout stands. */
function writeStarter(program) {
  const lines = [
    "#!/bin/sh",
    'here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)',
    // lib/<architecture>: there is one. Chromium loads libraries of PulseAudio, which have a folder of their own.
    'for folder in "$here"/lib/*-linux-* "$here"/usr/lib/*-linux-* "$here"/usr/lib/*-linux-*/pulseaudio; do',
    '  libraries="$libraries:$folder"',
    "done",
    'export LD_LIBRARY_PATH="$libraries"',
    // Chromium needs a configuration of fonts, which a system without fontconfig lacks.
    'if [ -d "$here/etc/fonts" ]; then export FONTCONFIG_SYSROOT="$here"; fi',
    `exec "$here/${folderOf(program)}/${program}" "$@"`,
    "",
  ];
  mkdirSync(path.join(folder, "bin"), { recursive: true });
  writeFileSync(placeOf(program), lines.join("\n"));
  chmodSync(placeOf(program), 0o755);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = preparePeers();
}
