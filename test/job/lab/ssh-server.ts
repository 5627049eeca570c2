/** Servers of ssh on machines of a cluster, and users whose only home they know. */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { peer } from "../../peers.js";
import type { ClusterMachine } from "./cluster-machines.js";

/** How the user of a machine differs from others. */
export interface SshUserOptions {
  /** The login shell of the user. Default: `/bin/bash`. */
  readonly shell?: string;
  /** Lines of the shell that change what the machine sees of the file system, such as mounts. `$HOME` is the user's. */
  readonly prepare?: string;
}

const nobodysShell = "/usr/sbin/nologin";

/** Lines of the shell that give a machine the Node.js of these tests where it has one of the system. */
const sameNode = `for node in /usr/bin/node /usr/local/bin/node; do
  [ ! -e "$node" ] || mount --bind "${process.execPath}" "$node"
done`;

/** Makes a home directory, with a folder for ssh. */
export function makeHome(folder: string, name: string): string {
  const home = join(folder, name);
  mkdirSync(join(home, ".ssh"), { recursive: true, mode: 0o700 });
  return home;
}

/** Makes a key. Returns the path of the private one. */
export function makeKey(folder: string, name: string): string {
  const file = join(folder, name);
  execFileSync(peer("ssh-keygen")!, ["-q", "-t", "ed25519", "-N", "", "-f", file]);
  return file;
}

/** Writes the configuration of a user who has one key, and returns its path. */
export function writeConfig(home: string, key: string): string {
  const config = join(home, ".ssh/config");
  writeFileSync(config, ["Host *", "  User root", `  IdentityFile ${key}`, "  IdentitiesOnly yes", ""].join("\n"));
  return config;
}

/** Returns the prefix that runs a program on a machine, where the user root has this home and a login shell. */
export function entering(
  folder: string,
  { through, machine }: ClusterMachine,
  home: string,
  { shell = "/bin/bash", prepare = "" }: SshUserOptions,
): string[] {
  const users = join(folder, `${machine.name}-passwd`);
  const lines = [`root:x:0:0:root:${home}:${shell}`, `sshd:x:33:33::/run/sshd:${nobodysShell}`, ""];
  writeFileSync(users, lines.join("\n"));
  const enter = `mount --bind "$1" /etc/passwd && HOME=$2 && shift 2 && { ${sameNode}\n${prepare || ":"}\n} && exec "$@"`;
  return [...through, "sh", "-c", enter, "sh", users, home];
}

export interface SshServerOptions {
  /** The name of its files. */
  readonly name: string;
  /** The private key of the machine. */
  readonly key: string;
  /** The command prefix that runs it on its machine. */
  readonly through: readonly string[];
  /** Lines of its configuration, which come before the usual ones. */
  readonly sshd?: readonly string[];
}

/** Starts a server. Returns its process id. */
export function startSshServer(folder: string, { name, key, through, sshd = [] }: SshServerOptions): number {
  mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const configuration = join(folder, `${name}-sshd_config`);
  const lines = [
    `HostKey ${key}`,
    "AuthorizedKeysFile .ssh/authorized_keys",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    "UsePAM no",
    "StrictModes no",
    "PidFile none",
    "PrintMotd no",
  ];
  // The first value of each setting counts.
  writeFileSync(configuration, [...sshd, ...lines, ""].join("\n"));
  const log = join(folder, `${name}-sshd.log`);
  const [file, ...args] = [...through, peer("sshd")!, "-D", "-f", configuration, "-E", log];
  return spawn(file!, args, { stdio: "ignore" }).pid!;
}

/** Returns whether a server listens at a port of a machine. */
export function listensAt({ machine }: ClusterMachine, port: number): boolean {
  return machine.run("ss", "-Hltn", "sport", "=", `:${port}`).trim() !== "";
}
