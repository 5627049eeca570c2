/**
 * Unpacks the root file system of a small container into `.peers/container/`: the C and C++ libraries of Debian, a shell
 * and nothing else, so that no compiler is in it. A test adds Node.js and the runtime package, and runs a mesh there. It
 * is part of `npm run peers` and therefore of `verify`. The script uses Node.js only, without any package.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { fromDebian, onPath, output } from "./debian.mjs";
import { root } from "./steps.mjs";

const folder = path.join(root, ".peers/container");
const packages = ["base-files", "libc6", "libgcc-s1", "libstdc++6", "dash"];

export function hasContainer() {
  return existsSync(path.join(folder, "usr/lib")) && !existsSync(path.join(folder, "packages"));
}

/** Unpacks the packages, or prints why they cannot be unpacked. */
export function prepareContainer() {
  if (hasContainer()) return;
  const why = unpack();
  if (why === undefined) return;
  rmSync(folder, { recursive: true, force: true });
  console.log(`skipped: the test in a container (${why})`);
}

/** @returns the reason for a failure, or undefined */
function unpack() {
  const refused = canEnterRoots();
  if (refused !== undefined) return refused;
  mkdirSync(folder, { recursive: true });
  return fromDebian(folder, [], { also: () => packages, complete: whatIsMissing });
}

/** Returns the reason why a process cannot get a root file system of its own without root, or undefined if it can. */
export function canEnterRoots() {
  if (!onPath("unshare")) return "this system has no unshare";
  const { code, text } = output("unshare", ["--user", "--map-root-user", "--mount", "--pid", "--fork", "true"]);
  return code === 0 ? undefined : text.trim();
}

function whatIsMissing() {
  const has = (name) => readdirSync(folder, { recursive: true }).some((file) => path.basename(file) === name);
  const missing = ["libc.so.6", "libstdc++.so.6", "dash"].filter((name) => !has(name));
  return missing.length === 0 ? undefined : `there is no ${missing.join(", ")} in Debian's packages`;
}
