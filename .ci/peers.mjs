/**
 * The programs of others that tests need: protoc and capnp, to compare ours with, and nft, to lose packets. `npm run peers`,
 * and part of `verify`. Where they are not on the PATH they are taken from Debian's packages, without being root, into
 * `.peers/`, which is not committed. Plain Node.js without any package. buf is a development dependency: npm installs it.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./steps.mjs";

const folder = path.join(root, ".peers");
/** Only who may make networks can lose packets there. */
const makesNetworks = process.platform === "linux" && process.getuid() === 0;
const programs = ["protoc", "capnp", ...(makesNetworks ? ["nft"] : [])];
/** libprotobuf-dev has the well-known types that protoc imports. */
const packages = ["protobuf-compiler", "libprotobuf-dev", "capnproto", ...(makesNetworks ? ["nftables"] : [])];

/** Puts what is missing into `.peers/`. @returns 0, or 1 when something is missing still: it has been said what */
export function preparePeers() {
  if (programs.every((program) => existsSync(placeOf(program)) || onPath(program))) return 0;
  const why = fromDebian();
  if (why === undefined) return 0;
  console.error(
    `cannot find ${programs.join(" and ")}, which tests need: neither on the PATH, nor taken from Debian's ` +
      `packages (${why}). Install ${packages.join(", ")}`,
  );
  return 1;
}

/** The programs that are not there. Tests that need them are left out. */
export function missingPeers() {
  return programs.filter((program) => !existsSync(placeOf(program)) && !onPath(program));
}

function placeOf(program) {
  return path.join(folder, "bin", program);
}

function onPath(program) {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter((entry) => entry !== "");
  return folders.some((entry) => existsSync(path.join(entry, program)));
}

/** @returns why not; undefined when it is done */
function fromDebian() {
  if (!onPath("apt-get") || !onPath("dpkg-deb")) return "this system has no apt-get";
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(path.join(folder, "packages"), { recursive: true });
  let why = unpack([]);
  // Lists of packages that are missing or too old are fetched anew, beside those of the system.
  if (why !== undefined) why = unpack(ownLists());
  if (why !== undefined) {
    rmSync(folder, { recursive: true, force: true });
    return why;
  }
  rmSync(path.join(folder, "packages"), { recursive: true });
  rmSync(path.join(folder, "apt"), { recursive: true, force: true });
  for (const program of programs) writeStarter(program);
  return undefined;
}

function ownLists() {
  const apt = path.join(folder, "apt");
  mkdirSync(path.join(apt, "lists/partial"), { recursive: true });
  mkdirSync(path.join(apt, "cache/archives/partial"), { recursive: true });
  const options = [`Dir::State::lists=${apt}/lists`, `Dir::Cache=${apt}/cache`].flatMap((option) => ["-o", option]);
  output("apt-get", [...options, "update"]);
  return options;
}

/** What installing the packages would install, with all they depend on and this system lacks. */
function unpack(options) {
  const plan = output("apt-get", [...options, "--simulate", "--no-install-recommends", "install", ...packages]);
  const wanted = [...plan.text.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name);
  if (plan.code !== 0 || wanted.length === 0) return lastLine(plan);
  const cwd = path.join(folder, "packages");
  const download = output("apt-get", [...options, "download", ...wanted], cwd);
  if (download.code !== 0) return lastLine(download);
  for (const file of readdirSync(cwd).filter((name) => name.endsWith(".deb"))) {
    const unpacked = output("dpkg-deb", ["-x", file, folder], cwd);
    if (unpacked.code !== 0) return lastLine(unpacked);
  }
  const lacking = programs.find((program) => folderOf(program) === undefined);
  return lacking === undefined ? undefined : `the packages hold no ${lacking}`;
}

/** Where the packages have put it, below `.peers/`. */
function folderOf(program) {
  return ["usr/bin", "usr/sbin"].find((place) => existsSync(path.join(folder, place, program)));
}

/** A program beside its libraries, wherever the checkout stands. */
function writeStarter(program) {
  const lines = [
    "#!/bin/sh",
    'here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)',
    // lib/<architecture>: there is one.
    'for folder in "$here"/lib/*-linux-* "$here"/usr/lib/*-linux-*; do libraries="$libraries:$folder"; done',
    'export LD_LIBRARY_PATH="$libraries"',
    `exec "$here/${folderOf(program)}/${program}" "$@"`,
    "",
  ];
  mkdirSync(path.join(folder, "bin"), { recursive: true });
  writeFileSync(placeOf(program), lines.join("\n"));
  chmodSync(placeOf(program), 0o755);
}

function output(command, args, cwd = root) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8", timeout: 300_000 });
  return {
    code: error === undefined ? (status ?? 1) : 1,
    text: `${stdout ?? ""}${stderr ?? ""}${error?.message ?? ""}`,
  };
}

function lastLine({ text }) {
  return text.trimEnd().split("\n").at(-1) || "apt-get said nothing";
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = preparePeers();
}
