/** Machines of a cluster: network namespaces that know each other by name, and have host names of their own. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Machine, makeNetwork } from "../../faults/network.js";

export interface ClusterMachine {
  readonly machine: Machine;
  /** The command prefix that runs a program on the machine, where it sees the names of the other machines. */
  readonly through: readonly string[];
}

const enter = 'mount --bind "$1" /etc/hosts && hostname "$2" && shift 2 && exec "$@"';

/**
 * Creates machines.
 * @param atEnd calls a function when the machines are not needed any more: after all tests of this file
 */
export function makeMachines(
  names: readonly string[],
  atEnd?: (end: () => void) => void,
): Readonly<Record<string, ClusterMachine>> {
  const machines = makeNetwork(names, atEnd);
  const hosts = join(mkdtempSync(join(tmpdir(), "vn-")), "hosts");
  const lines = Object.values(machines).map(({ name, ip }) => `${ip} ${name}`);
  writeFileSync(hosts, ["127.0.0.1 localhost", ...lines, ""].join("\n"));
  return Object.fromEntries(
    Object.entries(machines).map(([name, machine]) => [
      name,
      { machine, through: [...machine.through, "unshare", "--uts", "sh", "-c", enter, "sh", hosts, name] },
    ]),
  );
}

/** Runs a program on a machine, and returns what it prints. */
export function runOn(
  { through }: ClusterMachine,
  command: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): string {
  const [file, ...args] = [...through, ...command];
  return execFileSync(file!, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], env });
}
