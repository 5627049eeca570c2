/**
 * Prepares what the tests of SkyPilot on machines need besides Kubernetes, in folders of the user's cache: programs of Debian that SkyPilot starts, and
 * the image of the machines. The first time takes about five minutes and root; later ones find the results.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import { fromDebian } from "../debian.mjs";
import { clusterPrograms } from "../kubernetes/cluster-programs.mjs";
import { root, run } from "../steps.mjs";
import { cacheFolder } from "./install.mjs";

const packages = ["debootstrap", "socat", "netcat-openbsd", "rsync"];
const script = path.join(root, ".ci/skypilot/image.sh");

/** Returns the folder below which the programs are. */
export function skypilotPrograms() {
  return path.join(cacheFolder(), "debian");
}

/** Returns the archive of the image, which has another name for another script. */
export function machineImage() {
  const hash = createHash("sha256").update(readFileSync(script)).update(process.version).digest("hex");
  return path.join(cacheFolder(), `image-${hash.slice(0, 12)}.tar`);
}

/** @returns 0, or another number if something cannot be prepared; the reason has been printed */
export async function prepareMachines() {
  if (!existsSync(skypilotPrograms())) {
    const why = unpackPrograms();
    if (why !== undefined) {
      console.error(`cannot unpack ${packages.join(", ")} of Debian, which tests of SkyPilot need: ${why}`);
      return 1;
    }
  }
  if (existsSync(machineImage())) return 0;
  console.log("making the image of a machine for SkyPilot once, which takes about five minutes");
  const folders = [skypilotPrograms(), clusterPrograms()];
  const libraries = folders.flatMap((folder) =>
    ["lib", "usr/lib"].map((name) => path.join(folder, name, "x86_64-linux-gnu")),
  );
  return run("bash", [script, machineImage(), process.execPath], {
    env: {
      PATH: [
        ...folders.flatMap((folder) => ["usr/bin", "usr/sbin"].map((name) => path.join(folder, name))),
        process.env.PATH,
      ].join(":"),
      LD_LIBRARY_PATH: libraries.join(":"),
      DEBOOTSTRAP_DIR: path.join(skypilotPrograms(), "usr/share/debootstrap"),
    },
  });
}

/** @returns the reason for a failure, or undefined after success */
function unpackPrograms() {
  const folder = `${skypilotPrograms()}.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  try {
    const why = fromDebian(folder, packages, { also: () => packages });
    if (why !== undefined) return why;
    // Its package leaves the name to the system's alternatives.
    symlinkSync("nc.openbsd", path.join(folder, "bin/nc"));
    if (!existsSync(skypilotPrograms())) renameSync(folder, skypilotPrograms());
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
