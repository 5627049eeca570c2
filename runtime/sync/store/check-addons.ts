/**
 * Checks that the addons in a tree are built for this machine. Packages come from the driver's machine, which can be another one; an
 * addon that does not fit would fail only when the program loads it, with a message of the system's linker.
 */
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { usesMusl } from "../../../native/c-library.js";
import { SyncError } from "../sync-error.js";

/** A platform as `process` names it, with the C library on Linux: `linux-x64`, `linux-x64-musl`. */
type PlatformName = string;

/**
 * Checks the addons of the packages in a tree. A package that contains builds for several platforms fits if one of them does.
 *
 * @param folder the folder of the tree
 * @param files the paths of files in the tree
 * @param platform this machine
 * @throws {SyncError} if a package contains addons, and none is built for this machine
 */
export function checkAddons(folder: string, files: readonly string[], platform: PlatformName = thisPlatform()): void {
  const packages = new Map<string, string[]>();
  for (const at of files) {
    if (!at.endsWith(".node")) continue;
    const name = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(at)?.[0];
    if (name !== undefined) packages.set(name, [...(packages.get(name) ?? []), at]);
  }
  for (const [name, addons] of packages) {
    const builds = addons.map((at) => ({ at, platform: platformOfAddon(path.join(folder, at)) }));
    // What is no addon of a known form is left to Node.js.
    if (builds.some((build) => build.platform === undefined || build.platform === platform)) continue;
    const [first] = builds;
    const built = [...new Set(builds.map((build) => build.platform))].join(", ");
    throw new SyncError(
      "addon-refused",
      `cannot use the addon ${first?.at}: it is built for ${built}, and the host ${hostname()} is ${platform}; run the sync on a machine ` +
        `like the host, or exclude ${name} and install it on the host`,
      { path: first?.at ?? name },
    );
  }
}

const elfMachines: Readonly<Record<number, string>> = { 3: "ia32", 40: "arm", 62: "x64", 183: "arm64", 243: "riscv64" };
const machMachines: Readonly<Record<number, string>> = { 16777223: "x64", 16777228: "arm64" };

/** Returns the platform for which a file is built; undefined if it is no addon of a known form. */
function platformOfAddon(file: string): PlatformName | undefined {
  const head = Buffer.alloc(64);
  const descriptor = openSync(file, "r");
  try {
    if (readSync(descriptor, head) < head.length) return undefined;
  } finally {
    closeSync(descriptor);
  }
  const magic = head.readUInt32BE(0);
  if (magic === 0x7f454c46) {
    const arch = elfMachines[head.readUInt16LE(18)];
    if (arch === undefined) return undefined;
    return `linux-${arch}${readFileSync(file).includes("libc.musl-") ? "-musl" : ""}`;
  }
  if (magic === 0xcffaedfe) {
    const arch = machMachines[head.readUInt32LE(4)];
    return arch === undefined ? undefined : `darwin-${arch}`;
  }
  return undefined;
}

function thisPlatform(): PlatformName {
  return `${process.platform}-${process.arch}${usesMusl() ? "-musl" : ""}`;
}
