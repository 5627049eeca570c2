/** Unpacks the programs of a node from Debian's packages, without installing them: containerd, runc, network plugins. */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { fromDebian } from "../debian.mjs";
import { cacheFolder } from "./go.mjs";

const packages = ["containerd", "runc", "containernetworking-plugins", "umoci", "nftables", "busybox-static"];

/** Returns the folder below which the programs are. */
export function clusterPrograms() {
  return path.join(cacheFolder(), "debian");
}

/**
 * Unpacks the programs unless they are there.
 * @returns 0, or 1 if they cannot be unpacked; the reason has been printed
 */
export function prepareCluster() {
  if (existsSync(clusterPrograms())) return 0;
  const folder = `${clusterPrograms()}.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  try {
    // These packages are unpacked even if the system has them, so that all programs are in one place.
    const why = fromDebian(folder, packages, { also: () => packages });
    if (why !== undefined) {
      console.error(`cannot unpack ${packages.join(", ")} of Debian, which a cluster needs: ${why}`);
      return 1;
    }
    // Another run may have unpacked them meanwhile.
    if (!existsSync(clusterPrograms())) renameSync(folder, clusterPrograms());
    return 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
