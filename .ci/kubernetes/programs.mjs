/**
 * Builds the programs of Kubernetes and etcd that tests run, from their Go modules, into a folder of the user's cache. The
 * first build takes about 9 minutes of two processors; later ones find the result. It uses Node.js only, without any package.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { onPath, output } from "../debian.mjs";
import { root, run } from "../steps.mjs";

const sources = path.join(root, ".ci/kubernetes");
const version = "1.36.3";
/** The first version of Go that fetches the version which a module asks for. */
const oldestGo = "1.21";
const commands = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kubelet"];
const component = "k8s.io/component-base/version";
const [major, minor] = version.split(".");
const described = `-X ${component}.gitVersion=v${version} -X ${component}.gitMajor=${major} -X ${component}.gitMinor=${minor}`;

/** Returns the folder of everything that tests of Kubernetes need and that is kept between runs. */
export function cacheFolder() {
  const base = process.env.XDG_CACHE_HOME || path.join(homedir(), ".cache");
  return path.join(base, "viceroy-kubernetes");
}

/** Returns the folder of the programs, which has another name for other sources. */
export function programsFolder() {
  const hash = createHash("sha256").update(described);
  for (const file of ["programs/go.mod", "programs/go.sum", "etcd/go.mod", "etcd/go.sum"]) {
    hash.update(readFileSync(path.join(sources, file)));
  }
  return path.join(cacheFolder(), `${version}-${hash.digest("hex").slice(0, 12)}`);
}

function hasPrograms() {
  return existsSync(programsFolder());
}

/**
 * Builds the programs unless they have been built.
 * @returns 0, or 1 if they cannot be built; the reason has been printed
 */
export async function buildPrograms() {
  if (hasPrograms()) return 0;
  const why = missingGo();
  if (why !== undefined) {
    console.error(
      `cannot build Kubernetes ${version}, which tests need: ${why}. Install Go ${oldestGo} or newer from https://go.dev/dl`,
    );
    return 1;
  }
  console.log(`building Kubernetes ${version} and etcd once, which takes about 9 minutes of two processors`);
  const folder = `${programsFolder()}.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  try {
    const go = (cwd, flags, ...packages) =>
      run(
        "go",
        ["build", "-trimpath", "-buildvcs=false", "-ldflags", `-s -w ${flags}`, "-o", `${folder}/`, ...packages],
        {
          cwd: path.join(sources, cwd),
        },
      );
    const code =
      (await go("programs", described, ...commands.map((name) => `k8s.io/kubernetes/cmd/${name}`))) ||
      (await go("etcd", "", "."));
    // Another run may have built them meanwhile.
    if (code === 0 && !hasPrograms()) renameSync(folder, programsFolder());
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns why Go cannot be used, or undefined if it can */
function missingGo() {
  if (!onPath("go") && process.getuid?.() === 0 && onPath("apt-get")) {
    output("apt-get", ["install", "--yes", "--no-install-recommends", "golang"]);
  }
  if (!onPath("go")) return "there is no go on the PATH";
  const found = /go(\d+)\.(\d+)/.exec(output("go", ["version"]).text);
  const [wantedMajor, wantedMinor] = oldestGo.split(".").map(Number);
  const isNew = found !== null && (Number(found[1]) > wantedMajor || Number(found[2]) >= wantedMinor);
  return isNew ? undefined : `the Go on the PATH is ${found?.[0] ?? "unknown"}`;
}
