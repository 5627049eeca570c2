/**
 * What the processes of a container see as files: the files of this machine, with the volumes of the pod at their places. It
 * takes mount namespaces, which root has, and others where the kernel permits user namespaces.
 */
import { spawnSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import path from "node:path";

export interface Mount {
  /** A folder or file of this machine. */
  readonly source: string;
  /** The absolute path in the container. */
  readonly target: string;
  readonly readOnly: boolean;
}

const isRoot = process.getuid?.() === 0;
const user = isRoot ? [] : ["--user", "--map-root-user"];

/** Whether this user may run containers. */
export const hasContainers =
  process.platform === "linux" && spawnSync("unshare", [...user, "--mount", "--uts", "true"]).status === 0;

/**
 * Returns the command that runs a program in a container.
 * @param root an empty folder, which becomes the root of the container
 * @param hostname the name of the machine, as the program sees it
 */
export function inContainer(
  root: string,
  hostname: string,
  mounts: readonly Mount[],
  cwd: string,
  command: readonly string[],
): string[] {
  mkdirSync(root, { recursive: true });
  const lines = [
    "set -e",
    'hostname "$2"',
    `mount -t tmpfs tmpfs ${quote(root)}`,
    ...lay(
      "/",
      root,
      mounts.map((mount) => ({ ...mount, target: resolve(mount.target) })),
    ),
    // The process is killed when this process ends, however it ends.
    'root="$1" dir="$3"; shift 3; exec chroot "$root" env -u PWD -C "$dir" setpriv --pdeathsig SIGKILL -- "$@"',
  ];
  const unshare = ["unshare", ...user, "--mount", "--propagation", "private", "--uts"];
  return [...unshare, "sh", "-c", lines.join("\n"), "container", root, hostname, cwd, ...command];
}

/** Returns the command that runs a program beside another one in its container. */
export function besides(pid: number, command: readonly string[]): string[] {
  const spaces = isRoot ? [] : ["--user", "--preserve-credentials"];
  return ["nsenter", "--target", `${pid}`, ...spaces, "--mount", "--uts", `--root=/proc/${pid}/root`, "--", ...command];
}

/** Returns the lines of a script that show a folder of this machine with the mounts below it. */
function lay(folder: string, root: string, mounts: readonly Mount[]): string[] {
  const place = quote(path.join(root, folder));
  const here = mounts.find(({ target }) => target === folder);
  if (here !== undefined) return bind(here.source, place, here.readOnly);
  const below = mounts.filter(({ target }) => target.startsWith(folder === "/" ? "/" : `${folder}/`));
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (below.length === 0) {
    if (found === undefined) return [];
    if (found.isSymbolicLink()) return [`ln -s ${quote(readlinkSync(folder))} ${place}`];
    // Some files cannot be bound, such as sockets of other users.
    return bind(folder, place, false).map((line) => `${line} || true`);
  }
  const names = new Set(found?.isDirectory() ? readdirSync(folder) : []);
  for (const { target } of below) names.add(path.relative(folder, target).split(path.sep)[0]!);
  return [`mkdir -p ${place}`, ...[...names].flatMap((name) => lay(path.join(folder, name), root, below))];
}

function bind(source: string, place: string, readOnly: boolean): string[] {
  const isFolder = lstatSync(source).isDirectory();
  return [
    isFolder ? `mkdir -p ${place}` : `touch ${place}`,
    `mount ${isFolder ? "--rbind" : "--bind"} ${quote(source)} ${place}`,
    ...(readOnly ? [`mount -o remount,bind,ro ${place}`] : []),
  ];
}

/** Returns a path without symbolic links, as far as it exists. */
function resolve(target: string): string {
  const clean = path.resolve("/", target);
  if (lstatSync(clean, { throwIfNoEntry: false }) !== undefined) return realpathSync(clean);
  return path.join(resolve(path.dirname(clean)), path.basename(clean));
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
