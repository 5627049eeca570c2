/** Unpacks the programs of a node from Debian's packages, without installing them: containerd, runc, network plugins. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fromDebian } from "../debian.mjs";
import { cacheFolder } from "./programs.mjs";

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
  const folder = clusterPrograms();
  const ready = path.join(folder, "ready");
  if (existsSync(ready)) return 0;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // These packages are unpacked even if the system has them, so that all programs are in one place.
  const why = fromDebian(folder, packages, { also: () => packages });
  if (why === undefined) {
    writeFileSync(ready, "");
    return 0;
  }
  console.error(`cannot unpack ${packages.join(", ")} of Debian, which a cluster needs: ${why}`);
  return 1;
}
