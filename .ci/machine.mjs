/**
 * Prepares the virtual machine in which tests use RDMA: an emulator, a Debian kernel with Soft-RoCE, busybox to boot
 * it, and the user-space libraries of RDMA. It is part of `npm run peers` and therefore of `verify`. The files are
 * unpacked from Debian's packages into `.peers/machine/`, without installing anything:
 *
 * - `usr/`, `etc/`, …: the unpacked packages, without those that this system has;
 * - `kernel/vmlinux`, uncompressed, and `kernel/modules/*.ko` with `kernel/needs.json`, which lists the dependencies of
 * each module.
 *
 * The script uses Node.js only, without any package. test/rdma/machine/ boots the machine.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fromDebian, output } from "./debian.mjs";
import { root } from "./steps.mjs";

const folder = path.join(root, ".peers/machine");
const kernel = path.join(folder, "kernel");
const ready = path.join(folder, "ready.json");

const packages = [
  "qemu-system-x86",
  "busybox-static",
  "ibverbs-providers",
  "ibverbs-utils",
  "libibverbs-dev",
  "iproute2",
  "util-linux",
  "xz-utils",
  "zstd",
];
/** Without the crc32 modules, no rxe device can be created ("No such file or directory"). */
const modules = [
  ..."virtio_mmio 9pnet_virtio 9p overlay virtio_console virtio_net".split(" "),
  ..."veth sch_netem crc32_generic crc32_pclmul ib_uverbs rdma_rxe".split(" "),
];
const recipe = JSON.stringify({ packages, modules });

/** Returns why this system cannot run the machine, or undefined if it can. */
export function noMachine() {
  if (process.platform !== "linux" || process.arch !== "x64") return "an x86-64 Linux";
  return undefined;
}

export function hasMachine() {
  return existsSync(ready) && readFileSync(ready, "utf8") === recipe;
}

/**
 * Prepares the machine in `.peers/machine/`.
 * @returns 0, or 1 if the machine is still missing; the reason has been printed
 */
export function prepareMachine() {
  if (noMachine() !== undefined || hasMachine()) return 0;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const why = fromDebian(folder, packages, { also: newestKernel, complete: takeKernel });
  if (why === undefined) {
    mergeUsr();
    writeFileSync(ready, recipe);
    return 0;
  }
  rmSync(folder, { recursive: true, force: true });
  console.error(
    `cannot make the virtual machine, which tests of RDMA need: Debian's packages ${packages.join(", ")} and ` +
      `linux-image-amd64 cannot be had (${why}). Make them reachable by apt-get download`,
  );
  return 1;
}

/** Returns the package on which linux-image-amd64 depends. */
function newestKernel(aptCache) {
  return /Depends: (linux-image-\d\S*)/.exec(aptCache("depends", "linux-image-amd64"))?.slice(1) ?? [];
}

/**
 * Copies the needed parts of the kernel, which has 400 MB.
 * @returns the reason for a failure, or undefined
 */
function takeKernel() {
  const image = inFolder("boot").find((name) => name.startsWith("vmlinuz-"));
  if (image === undefined) return "the packages hold no kernel";
  mkdirSync(path.join(kernel, "modules"), { recursive: true });
  const bytes = uncompressed(readFileSync(path.join(folder, "boot", image)));
  if (bytes === undefined) return `${image} is compressed in a way that neither xz nor zstd nor gzip undo`;
  writeFileSync(path.join(kernel, "vmlinux"), bytes);
  const files = moduleFiles();
  const needs = {};
  const open = [...modules];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (needs[name] !== undefined) continue;
    const file = files.get(name);
    if (file === undefined) return `${image} has no module ${name}`;
    const code = file.endsWith(".xz") ? unpacked("xz", readFileSync(file)) : readFileSync(file);
    writeFileSync(path.join(kernel, "modules", `${name}.ko`), code);
    needs[name] = neededBy(code);
    open.push(...needs[name]);
  }
  writeFileSync(path.join(kernel, "needs.json"), JSON.stringify(needs));
  rmSync(path.join(folder, "boot"), { recursive: true });
  for (const lib of ["lib", "usr/lib"]) rmSync(path.join(folder, lib, "modules"), { recursive: true, force: true });
  return undefined;
}

function inFolder(name) {
  const place = path.join(folder, name);
  return existsSync(place) ? readdirSync(place) : [];
}

/** Returns the uncompressed kernel, which boots at once. The emulated processor would uncompress it slowly. */
function uncompressed(image) {
  const ways = [
    ["xz", Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00])],
    ["zstd", Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
    ["gzip", Buffer.from([0x1f, 0x8b, 0x08])],
  ];
  for (const [program, start] of ways) {
    for (let at = image.indexOf(start); at >= 0; at = image.indexOf(start, at + 1)) {
      const bytes = unpacked(program, image.subarray(at));
      if (bytes.subarray(1, 4).toString() === "ELF") return bytes;
    }
  }
  return undefined;
}

/** Decompresses a stream. The program warns about the bytes after the compressed data, and the warning is ignored. */
function unpacked(program, input) {
  const ours = ["bin", "usr/bin"].map((place) => path.join(folder, place, program)).find((file) => existsSync(file));
  const libraries = ["lib", "usr/lib"].map((place) => path.join(folder, place, "x86_64-linux-gnu")).join(":");
  const env = ours === undefined ? process.env : { ...process.env, LD_LIBRARY_PATH: libraries };
  return spawnSync(ours ?? program, ["-dc"], { input, maxBuffer: 1 << 29, env }).stdout ?? Buffer.alloc(0);
}

/** Returns the files of modules by name. Names of modules contain `_` where their file names can contain `-`. */
function moduleFiles() {
  const files = new Map();
  for (const lib of ["lib", "usr/lib"].map((name) => path.join(folder, name, "modules")).filter((l) => existsSync(l))) {
    for (const entry of readdirSync(lib, { recursive: true })) {
      const name = /([^/]+)\.ko(\.xz)?$/.exec(entry)?.[1];
      if (name !== undefined) files.set(name.replaceAll("-", "_"), path.join(lib, entry));
    }
  }
  return files;
}

/** Returns the dependencies of a module, from the entry `depends=a,b` of its section .modinfo. */
function neededBy(code) {
  const begin = code.indexOf("\0depends=") + "\0depends=".length;
  const names = code.toString("latin1", begin, code.indexOf(0, begin));
  return names
    .split(",")
    .filter((name) => name !== "")
    .map((name) => name.replaceAll("-", "_"));
}

/** Moves the content of /bin. In a system whose /bin is a link to /usr/bin, a folder /bin would hide the link. */
function mergeUsr() {
  for (const name of ["bin", "sbin", "lib", "lib64"].filter((entry) => existsSync(path.join(folder, entry)))) {
    mkdirSync(path.join(folder, "usr", name), { recursive: true });
    output("cp", ["-a", `${path.join(folder, name)}/.`, path.join(folder, "usr", name)]);
    rmSync(path.join(folder, name), { recursive: true });
  }
}
