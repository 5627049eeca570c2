/**
 * Gives hosts that `ssh` reaches. A keeper on this machine runs one `ssh` for each host, which brings the daemon, holds
 * it by its standard input, and forwards a local socket to it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { HostOrder, KeptHostInfo } from "../keeper/keeper-order.js";
import { definedVariables, type KeptAllocation, KeptProvider, placeVariables } from "../keeper/kept-provider.js";
import { markVariable } from "../keeper/marked-processes.js";
import { hostPlaces } from "../mesh-spec.js";
import type { Json } from "../provider.js";
import { makeDaemonArchive } from "./daemon-archive.js";
import { adviceFor } from "./end-advice.js";
import { sshCommand } from "./ssh-command.js";
import type { SshSpec } from "./ssh-spec.js";
import { archiveRequest, type StarterOrder } from "./starter/starter-order.js";

const starter = fileURLToPath(new URL("./job-ssh-starter.cjs", import.meta.url));

/**
 * Interval in ms of the signs of life that a host gets, and the time after which a host without them ends. It is about
 * the time after which `ssh` gives a silent connection up (ssh-command.ts), so that both sides agree.
 */
const beat = 4000;
const silence = 20_000;

/** Time in ms for a host to end its processes when the job ends. */
const endLimit = 15_000;

export class SshProvider extends KeptProvider {
  readonly kind = "ssh";
  readonly spec: SshSpec;

  constructor(spec: SshSpec) {
    super();
    this.spec = spec;
  }

  get meshes(): Readonly<Record<string, { readonly hosts: number }>> {
    const sizes = Object.entries(this.spec.meshes).map(([name, { hosts }]) => [name, { hosts: hosts.length }]);
    return Object.fromEntries(sizes);
  }

  protected orders({ applyId, directory }: KeptAllocation, mark: Readonly<Record<string, string>>): HostOrder[] {
    const archive = makeDaemonArchive();
    const file = join(directory, "daemon");
    writeFileSync(file, archive.bytes, { mode: 0o600 });
    const supply = { request: archiveRequest(archive.order), file };
    const program = readFileSync(starter, "utf8");
    const { sshOptions, setup, node } = this.spec;
    return hostPlaces(this.meshes).map((place, index) => {
      const localSocket = join(directory, `${index}.sock`);
      const remoteDirectory = `/tmp/vj-${applyId.slice(0, 13)}-${index}`;
      const remoteSocket = `${remoteDirectory}/host.sock`;
      const host = this.#hostOf(place);
      // Names can lead to the same machine. Each host must end its own processes only.
      const hostId = `${applyId}-${index}`;
      const order: StarterOrder = {
        program,
        archive: archive.order,
        mark: hostId,
        directory: remoteDirectory,
        listen: [`unix://${remoteSocket}`],
        silence,
      };
      const connection = { host, sshOptions, localSocket, remoteSocket, setup, node: node ?? "node" };
      return {
        ...place,
        command: sshCommand({ ...connection, env: { [markVariable]: hostId, ...placeVariables(place) } }),
        env: { ...definedVariables(process.env), ...mark },
        // Relative paths in the options of ssh are those of the user.
        cwd: process.cwd(),
        input: `${JSON.stringify(order)}\n`,
        supply,
        beat,
        address: `unix://${localSocket}`,
        endLimit,
      };
    });
  }

  protected override describeEnd(info: KeptHostInfo): string {
    const { reason = "", address } = info;
    const host = this.#hostOf(info);
    // A host that was up can be reached.
    if (address !== undefined) return `${reason}; it was host ${JSON.stringify(host)}`;
    return `${reason}; on host ${JSON.stringify(host)}: ${adviceFor(host, reason)}`;
  }

  #hostOf({ mesh, rank }: { readonly mesh: string; readonly rank: number }): string {
    return this.spec.meshes[mesh]!.hosts[rank]!;
  }
}

/** Makes the provider again from what a record contains. */
export function sshProvider(spec: Json): SshProvider {
  return new SshProvider(spec as SshSpec);
}
