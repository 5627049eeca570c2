/**
 * libtorch, which the addon for tensors is built against, and the addon itself. Part of `verify`. Where libtorch is missing it is installed
 * from Debian's packages, which takes root, a minute and a gigabyte. Plain Node.js without any package.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { onPath, output } from "./debian.mjs";
import { root, viceroy } from "./steps.mjs";

/** OpenBLAS is not named by libtorch, which is thirty times as slow without; this one has one pool of threads with libtorch. */
const packages = ["libtorch-dev", "libopenblas0-openmp", "libgloo-dev"];
const headers = ["/usr/include/torch/csrc/api/include/torch/version.h", "/usr/include/gloo/transport/tcp/device.h"];

/** Installs it unless it is there. @returns 0, or 1 when it isn't there still: it has been said why */
export function prepareTorch() {
  if (process.env.VICEROY_LIBTORCH || process.env.LIBTORCH || headers.every((file) => existsSync(file))) return 0;
  const why = installTorch();
  if (why === undefined) return 0;
  console.error(
    `cannot install libtorch, which tests need (${why}): install ${packages.join(" and ")}, or name it by VICEROY_LIBTORCH`,
  );
  return 1;
}

/** @returns why not; undefined when it is done */
function installTorch() {
  if (!onPath("apt-get")) return "this system has no apt-get";
  if (process.getuid?.() !== 0) return "only root can install packages";
  const install = ["install", "--yes", "--no-install-recommends", ...packages];
  if (output("apt-get", install).code === 0) return undefined;
  // Lists of packages may be missing, or too old.
  output("apt-get", ["update"]);
  const { code, text } = output("apt-get", install);
  return code === 0 ? undefined : text.trimEnd().split("\n").at(-1);
}

const loads = `
  import { createRequire } from "node:module";
  import { addonFile } from "./native/addon-location.ts";
  const { gloo } = createRequire(import.meta.url)(addonFile("tensor")).versions();
  // One that was built before Gloo was there is built again; other libraries need not bring it.
  if (!gloo && !process.env.VICEROY_LIBTORCH && !process.env.LIBTORCH) process.exit(1);
`;

/** Whether the addon for tensors, of these sources, is there and loads. */
export function hasTensorAddon() {
  const args = ["--import", "tsx", "--input-type=module", "--eval", loads];
  return spawnSync(process.execPath, args, { cwd: root, stdio: "ignore" }).status === 0;
}

/** Builds it, unless it is there: it takes half a minute of a processor. */
export async function prepareTensors() {
  if (hasTensorAddon()) return 0;
  return viceroy(".", "setup", "--tensor");
}
