/** Runs commands in a root file system of their own, as in a container, without root and without a container engine. */
import { mkdirSync } from "node:fs";
import path from "node:path";
import { type Outcome, run } from "../packed.js";

/** Mounts what a container has, and changes the root. The mounts end with the namespace. */
const enter = `
set -e
mount --rbind /dev "$1/dev"
mount -t proc proc "$1/proc"
mount -t tmpfs tmpfs "$1/tmp"
root=$1
shift
cd "$root"
exec chroot "$root" "$@"
`;

/** Makes the folders at which the command's file systems are mounted. */
export function makeMountPoints(root: string): void {
  for (const name of ["dev", "proc", "tmp"]) mkdirSync(path.join(root, name), { recursive: true });
}

/** @param root the folder that the command sees as `/` */
export function runInRoot(root: string, ...command: readonly string[]): Outcome {
  const unshare = ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child"];
  // The command has no variable of this machine, which can name files that are not in the container.
  const clean = ["-i", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/tmp"];
  return run("env", [...clean, "unshare", ...unshare, "sh", "-c", enter, "sh", root, ...command], "/");
}
