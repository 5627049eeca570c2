/**
 * Machines with real servers of ssh: network namespaces, in each of which an sshd runs. The user of each machine has a
 * home of its own. The driver's machine has none, and the keys with which it reaches the others.
 */
import { appendFileSync, copyFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { peer } from "../../peers.js";
import { until } from "../../proc/until.js";
import { type ClusterMachine, makeMachines } from "./cluster-machines.js";
import {
  entering,
  listensAt,
  makeHome,
  makeKey,
  type SshUserOptions,
  startSshServer,
  writeConfig,
} from "./ssh-server.js";

/** Whether the programs of OpenSSH are there. */
export const hasSsh = (["sshd", "ssh", "ssh-keygen"] as const).every((name) => peer(name) !== undefined);

/** How a machine differs from others. */
export interface SshMachineOptions extends SshUserOptions {
  /** Lines of its configuration of sshd. */
  readonly sshd?: readonly string[];
}

/** A machine with a server of ssh. */
export interface SshMachine {
  readonly cluster: ClusterMachine;
  /** The home directory of the user. */
  readonly home: string;
  /** The process id of the server. */
  readonly server: number;
}

export class SshNetwork {
  /** The command prefix that runs a program on the machine of the driver. */
  readonly through: readonly string[];
  /** The environment of the driver, in which it finds `ssh`. */
  readonly env: NodeJS.ProcessEnv;
  /** The driver's configuration of ssh. Tests add lines for names of their own. */
  readonly config: string;
  /** The home directory of the driver's user. */
  readonly home: string;
  /** The file with the public key of the driver's user. */
  readonly userKey: string;
  readonly driver: ClusterMachine;
  readonly machines: Readonly<Record<string, SshMachine>>;
  readonly #folder = mkdtempSync(join(tmpdir(), "vn-"));

  /**
   * Creates machines.
   * @param atEnd calls a function when the machines are not needed any more: after all tests of this file
   */
  constructor(machines: Readonly<Record<string, SshMachineOptions>>, atEnd?: (end: () => void) => void) {
    const { driver, ...others } = makeMachines(["driver", ...Object.keys(machines)], atEnd);
    this.driver = driver!;
    const folder = this.#folder;
    this.home = makeHome(folder, "driver");
    this.through = entering(folder, driver!, this.home, {});
    this.env = { ...process.env, HOME: this.home, PATH: `${dirname(peer("ssh")!)}:${process.env["PATH"]}` };
    const own = makeKey(folder, "user");
    this.userKey = `${own}.pub`;
    const host = makeKey(folder, "host");
    this.config = writeConfig(this.home, own);
    this.machines = Object.fromEntries(
      Object.entries(machines).map(([name, options]) => {
        const home = makeHome(folder, name);
        copyFileSync(`${own}.pub`, join(home, ".ssh/authorized_keys"));
        const cluster = others[name]!;
        const through = entering(folder, cluster, home, options);
        const server = startSshServer(folder, { name, key: host, through, sshd: options.sshd ?? [] });
        return [name, { cluster, home, server }];
      }),
    );
    const names = Object.values(others).map(({ machine }) => `${machine.name},${machine.ip}`);
    this.trust(...names.map((name) => `${name} ${readFileSync(`${host}.pub`, "utf8").trim()}`));
  }

  /** Resolves when all servers listen. */
  async listening(): Promise<void> {
    await until(() => Object.values(this.machines).every(({ cluster }) => listensAt(cluster, 22)));
  }

  /** Adds lines to the keys of hosts that the driver's user knows. */
  trust(...lines: readonly string[]): void {
    appendFileSync(join(this.home, ".ssh/known_hosts"), lines.map((line) => `${line}\n`).join(""));
  }
}

/** Lines of `prepare` that give a machine a `/tmp` of its own. The files of all machines are below it. */
export const ownTmp = `files=$(dirname "$HOME")
mount --bind "$files" /mnt
mount -t tmpfs -o nr_inodes=100 tmpfs /tmp
mkdir -p "$files"
mount --move /mnt "$files"`;

/** Lines of `prepare` after which nothing can be created in `/tmp`. */
export const fullTmp = `${ownTmp}
while mktemp -d /tmp/fill-XXXXXX > /dev/null 2>&1; do :; done`;

/** Lines of `prepare` that hide the Node.js on the PATH. */
export const withoutNode = `for node in /usr/bin/node /usr/local/bin/node; do
  [ ! -e "$node" ] || mount --bind /dev/null "$node"
done`;

/** Returns a folder with a Node.js that calls itself an old one. */
export function oldNode(): string {
  const folder = mkdtempSync(join(tmpdir(), "vo-"));
  const preload = join(folder, "old.cjs");
  writeFileSync(preload, 'Object.defineProperty(process, "versions", { value: { node: "18.20.4" } });\n');
  writeFileSync(join(folder, "node"), `#!/bin/sh\nexec ${process.execPath} -r ${preload} "$@"\n`, { mode: 0o755 });
  return folder;
}
