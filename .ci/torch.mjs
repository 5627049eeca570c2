/**
 * Installs libtorch, with which the tensor addon is built, and builds the addon. It is part of `verify`. If libtorch is
 * missing, it is installed from Debian's packages, which takes root, a minute and a gigabyte. The script uses Node.js
 * only, without any package.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { onPath, output } from "./debian.mjs";
import { allOf, newestNode, otherNode, root, run, viceroy } from "./steps.mjs";

/**
 * libtorch does not depend on OpenBLAS but is thirty times as slow without it. This variant shares one thread pool with
 * libtorch.
 */
const packages = ["libtorch-dev", "libopenblas0-openmp", "libgloo-dev"];
const headers = ["/usr/include/torch/csrc/api/include/torch/version.h", "/usr/include/gloo/transport/tcp/device.h"];

/**
 * Installs libtorch unless it is installed.
 * @returns 0, or 1 if it is still missing; the reason has been printed
 */
export function prepareTorch() {
  if (process.env.VICEROY_LIBTORCH || process.env.LIBTORCH || headers.every((file) => existsSync(file))) return 0;
  const why = installTorch();
  if (why === undefined) return 0;
  console.error(
    `cannot install libtorch, which tests need (${why}): install ${packages.join(" and ")}, or name it by VICEROY_LIBTORCH`,
  );
  return 1;
}

/** @returns the reason for a failure, or undefined */
function installTorch() {
  if (!onPath("apt-get")) return "this system has no apt-get";
  if (process.getuid?.() !== 0) return "only root can install packages";
  const install = ["install", "--yes", "--no-install-recommends", ...packages];
  if (output("apt-get", install).code === 0) return undefined;
  // The package lists may be missing or out of date.
  output("apt-get", ["update"]);
  const { code, text } = output("apt-get", install);
  return code === 0 ? undefined : text.trimEnd().split("\n").at(-1);
}

const loads = `
  import { createRequire } from "node:module";
  import { addonFile } from "./native/addon-location.ts";
  const { gloo } = createRequire(import.meta.url)(addonFile("tensor")).versions();
  // A build from before Gloo was installed is built again. Other libtorch installations need not contain Gloo.
  if (!gloo && !process.env.VICEROY_LIBTORCH && !process.env.LIBTORCH) process.exit(1);
`;

/** Returns whether the tensor addon of the current sources exists and can be loaded. */
export function hasTensorAddon() {
  const args = ["--import", "tsx", "--input-type=module", "--eval", loads];
  return spawnSync(process.execPath, args, { cwd: root, stdio: "ignore" }).status === 0;
}

/** Builds the addon `stack` for one version of Node.js. The packages of other versions have headers, which need not be installed then. */
function setUpStack(file, version) {
  const folder = path.resolve(otherNode(version), "../..");
  const env = existsSync(folder) ? { npm_config_nodedir: folder } : {};
  return run(file, [path.join(root, "dist/cli/viceroy.js"), "setup", "--stack"], { env });
}

/** Builds the addon unless it exists, which takes half a minute of processor time, and the addon `stack` for the versions of Node.js that run tests. */
export async function prepareTensors() {
  const code = hasTensorAddon() ? 0 : await viceroy(".", "setup", "--tensor");
  const own = process.versions.node.split(".")[0];
  const nodes = [process.execPath, otherNode(newestNode)].filter((file) => existsSync(file));
  return code || allOf(nodes.map((file, i) => () => setUpStack(file, i === 0 ? own : newestNode)));
}
