/** What a job of SSH asks for, and its checks. */
import { optionError } from "../check-option.js";
import type { TlsSpec } from "../job-options.js";
import { checkHostCount, checkMeshes, formatPlace } from "../mesh-spec.js";

/** What a job of SSH asks for. It is plain JSON: a record contains it. */
export type SshSpec = {
  readonly meshes: Readonly<Record<string, SshMeshSpec>>;
  /** Further arguments of `ssh`. */
  readonly sshOptions: readonly string[];
  /** The port of the hosts for each other; null for a free one on each. */
  readonly port: number | null;
  readonly tls: TlsSpec | null;
  readonly setup: string | null;
  readonly node: string | null;
};

/** The hosts of one mesh, in the order of their ranks, and what a program may expect of each. */
export type SshMeshSpec = {
  /** The names of the hosts, as `ssh` knows them: `node1`, `user@node1`, or a name of `~/.ssh/config`. */
  readonly hosts: readonly string[];
  /** The names of further machines, which become hosts of the mesh in this order when `job.resize` asks for more. Default: none. */
  readonly spare?: readonly string[];
  /** The processors of each host. */
  readonly cpus?: number;
  /** The GPUs of each host. */
  readonly gpus?: number;
  /** The memory of each host: bytes, or text such as `"16GiB"`. */
  readonly memory?: number | string;
};

/**
 * Checks the meshes of a job of SSH.
 * @throws TypeError if a name is malformed, or a host is named twice
 * @throws RangeError if a number is out of range
 */
export function checkSshMeshes(meshes: unknown): void {
  checkMeshes(meshes, ["hosts", "spare", "cpus", "gpus", "memory"]);
  const places = new Map<string, string>();
  for (const [mesh, { hosts, spare = [] }] of Object.entries(meshes as Record<string, SshMeshSpec>)) {
    for (const [option, names] of Object.entries({ hosts, spare })) {
      if (!Array.isArray(names)) throw optionError(`${option} of mesh "${mesh}" as a list of names`, names);
      for (const name of names) checkHostName(option, mesh, name);
    }
    checkHostCount(mesh, hosts.length);
    for (const [rank, host] of machinesOf({ hosts, spare }).entries()) {
      const place = formatPlace({ mesh, rank });
      const first = places.get(host);
      if (first !== undefined) {
        throw new TypeError(
          `cannot make a job: host ${JSON.stringify(host)} is both ${first} and ${place}; a job uses each host once, ` +
            "so give the host once, and start several processes on it with spawnProcs",
        );
      }
      places.set(host, place);
    }
  }
}

/** Returns the names of all machines of a mesh, in the order of their ranks. */
export function machinesOf({ hosts, spare = [] }: SshMeshSpec): readonly string[] {
  return [...hosts, ...spare];
}

/** A name that starts with a hyphen would be an option of ssh. */
function checkHostName(option: string, mesh: string, host: unknown): void {
  if (typeof host === "string" && /^[^\s\0-][^\s\0]*$/.test(host)) return;
  throw optionError(`${option} of mesh "${mesh}" as names such as "node1" or "user@node1"`, host);
}

/** Checks the arguments of `ssh`. @throws TypeError */
export function checkSshOptions(options: unknown): void {
  if (!Array.isArray(options)) throw optionError("sshOptions as a list of arguments of ssh", options);
  for (const option of options) {
    if (typeof option !== "string" || option === "" || option.includes("\0")) {
      throw optionError("each of sshOptions as an argument of ssh", option);
    }
  }
}
