/**
 * Downloads the versions of PyTorch from PyPI with which the tensor addon is tested in addition to Debian's libtorch.
 * Each is unpacked from its wheels into `~/.cache/viceroy-torch/<version>/` without being installed: half a gigabyte,
 * of which the headers and the CPU libraries are kept. The script uses Node.js only, without any package, and needs a
 * python3 with pip.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { told } from "./steps.mjs";

/**
 * The wheels, oldest version first: the last version whose strings have the ABI from before C++11, and the newest patch
 * versions of the two newest minor versions. To add a newer version, see `pip index versions torch`, and update
 * native/libtorch.ts and docs/explanation/tensors.md. PyPI's libtorch_cpu.so is linked to CUDA's runtime and CUPTI.
 * Their versions are those that the METADATA of the wheel requires, directly or through the package cuda-toolkit.
 */
const wheels = new Map([
  ["2.6.0", ["nvidia-cuda-runtime-cu12==12.4.127", "nvidia-cuda-cupti-cu12==12.4.127"]],
  ["2.14.1", ["nvidia-cuda-runtime==13.0.96", "nvidia-cuda-cupti==13.0.85"]],
  ["2.15.0", ["nvidia-cuda-runtime==13.2.86", "nvidia-cuda-cupti==13.2.86"]],
]);

export const torchVersions = [...wheels.keys()];
export const newestTorch = torchVersions.at(-1);

/** Returns why there are no wheels for this machine, or undefined if there are. */
export function noWheels() {
  return process.platform === "linux" && process.arch === "x64" ? undefined : "an x86-64 Linux";
}

/** Returns the folder of a version, with `include` and `lib`, for VICEROY_LIBTORCH. */
export function torchFolder(version) {
  return path.join(versionFolder(version), "torch");
}

/** Returns the folder of one version and of the addons that are built with it. */
export function versionFolder(version) {
  const base = process.env.XDG_CACHE_HOME || path.join(homedir(), ".cache");
  return path.join(base, "viceroy-torch", version);
}

/**
 * Each wheel is for one version of Python, which can differ from that of this machine. No Python code of the wheels is
 * run.
 */
const download = ["--no-deps", "--no-cache-dir", "--quiet", "--disable-pip-version-check"];
const tags = ["--only-binary=:all:", "--python-version=3.11", "--implementation=cp", "--abi=cp311", "--abi=none"];
const platforms = ["manylinux1", "manylinux2014", "manylinux_2_25", "manylinux_2_28"].map((name) => `${name}_x86_64`);

/** Extracts the files with which the addon is compiled and linked. Three quarters of a wheel are for GPUs. */
const unpack = `
import re, sys, zipfile
kept = re.compile(r"torch/include/|torch/lib/lib(torch_cpu\\.so|c10\\.so|gomp)|nvidia/.*/lib(cudart|cupti)\\.so")
with zipfile.ZipFile(sys.argv[1]) as wheel:
    wheel.extractall(sys.argv[2], [name for name in wheel.namelist() if kept.match(name)])
`;

/**
 * Unpacks a version unless it exists.
 * @returns the reason for a failure, or undefined
 */
export async function prepareWheels(version) {
  const folder = versionFolder(version);
  const packages = wheels.get(version);
  if (packages === undefined) return `there is no version ${version} among ${torchVersions.join(", ")}`;
  if (existsSync(path.join(folder, "complete"))) return undefined;
  mkdirSync(path.dirname(folder), { recursive: true });
  const work = mkdtempSync(path.join(path.dirname(folder), ".unpack-"));
  try {
    const why = await fetchInto(work, [`torch==${version}`, ...packages]);
    if (why !== undefined) return why;
    // An interrupted run can have left an incomplete folder.
    rmSync(folder, { recursive: true, force: true });
    renameSync(path.join(work, "unpacked"), folder);
    writeFileSync(path.join(folder, "complete"), "");
    return undefined;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function fetchInto(work, packages) {
  const to = `--dest=${path.join(work, "wheels")}`;
  const options = [...download, ...tags, ...platforms.map((platform) => `--platform=${platform}`), to];
  const fetched = await told("python3", ["-m", "pip", "download", ...options, ...packages]);
  if (fetched.code !== 0) return lastLine(fetched.text);
  for (const wheel of readdirSync(path.join(work, "wheels"))) {
    const file = path.join(work, "wheels", wheel);
    const unpacked = await told("python3", ["-c", unpack, file, path.join(work, "unpacked")]);
    if (unpacked.code !== 0) return lastLine(unpacked.text);
    rmSync(file);
  }
  return undefined;
}

const lastLine = (text) => text.trimEnd().split("\n").at(-1) || "nothing was said";
