/**
 * Gives hosts that `ssh` reaches. A keeper on this machine runs one `ssh` for each host, which brings the daemon, holds
 * it by its standard input, and forwards a local socket to it.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { hostUri } from "../credentials/credentials-folder.js";
import type { TlsSpec } from "../job-options.js";
import type { HostOrder, KeptHostInfo } from "../keeper/keeper-order.js";
import { definedVariables, type KeptAllocation, KeptProvider, placeVariables } from "../keeper/kept-provider.js";
import { markVariable } from "../keeper/marked-processes.js";
import { hostPlaces } from "../mesh-spec.js";
import type { Json, Submission } from "../provider.js";
import { formatRecord, type JobRecord } from "../record/job-record.js";
import { makeDaemonArchive } from "./daemon-archive.js";
import { adviceFor } from "./end-advice.js";
import { sshCommand } from "./ssh-command.js";
import type { SshSpec } from "./ssh-spec.js";
import { archiveRequest, type StarterOrder } from "./starter/starter-order.js";

/** The folder of the built files. */
const dist = new URL("./", import.meta.url);
const starter = new URL("job-ssh-starter.cjs", dist);

/** The file with the token of the hosts, if they have no certificates, in the private directory of the job. */
const tokenName = "token";

/**
 * Interval in ms of the signs of life that a host gets, and the time after which a host without them ends. It is about
 * the time after which `ssh` gives a silent connection up (ssh-command.ts), so that both sides agree.
 */
const beat = 4000;
const silence = 20_000;

/**
 * A server of ssh turns connections away while it has many that have not logged in yet (MaxStartups), which the hosts
 * behind one jump host reach together. Where a jump host fails for another reason, it says so first.
 */
const retry = {
  said: "^\\s*\\w+_exchange_identification: ",
  pauses: [250, 500, 1000, 2000, 4000],
};

/** Time in ms for a host to end its processes when the job ends. */
const endLimit = 15_000;

export class SshProvider extends KeptProvider {
  readonly kind = "ssh";
  // A host is silent while ssh logs in, which takes longer the farther it is, and almost no processor time here.
  protected override readonly parallel = 32;
  readonly spec: SshSpec;

  constructor(spec: SshSpec) {
    super();
    this.spec = spec;
  }

  get tls(): TlsSpec | null {
    return this.spec.tls;
  }

  get meshes(): Readonly<Record<string, { readonly hosts: number }>> {
    const sizes = Object.entries(this.spec.meshes).map(([name, { hosts }]) => [name, { hosts: hosts.length }]);
    return Object.fromEntries(sizes);
  }

  /** @throws Error for a batch job: this machine holds the hosts, and the command would end with it */
  override submit(submission: Submission): Promise<KeptAllocation> {
    if (submission.client === undefined) return super.submit(submission);
    throw new Error(
      "its hosts are held by this machine through ssh, so a command on one of them would not survive the end of this " +
        'machine; run it here, as in "nohup node dist/train.js", or use a job of a scheduler, such as SlurmJob',
    );
  }

  protected orders(
    { applyId, directory }: KeptAllocation,
    mark: Readonly<Record<string, string>>,
    { record, credentials }: Pick<Submission, "record" | "credentials">,
  ): HostOrder[] {
    const secrets = credentials?.secrets;
    const archive = makeDaemonArchive(dist);
    const file = join(directory, "daemon");
    writeFileSync(file, archive.bytes, { mode: 0o600 });
    const supply = { request: archiveRequest(archive.order), file };
    const program = readFileSync(starter, "utf8");
    const token = secrets === undefined ? randomBytes(32).toString("base64url") : undefined;
    if (token !== undefined) writeFileSync(join(directory, tokenName), token, { mode: 0o600 });
    const { sshOptions, port, setup, node } = this.spec;
    return hostPlaces(this.meshes).map((place, index) => {
      const remoteFolder = `/tmp/vj-${applyId.slice(0, 13)}-${index}`;
      const socket = { local: join(directory, `${index}.sock`), remote: `${remoteFolder}/host.sock` };
      const enrolment = { local: join(directory, `${index}-enrol.sock`), remote: `${remoteFolder}/enrol.sock` };
      const identity = hostUri(applyId, place);
      const host = this.#hostOf(place);
      // Names can lead to the same machine. Each host must end its own processes only.
      const hostId = `${applyId}-${index}`;
      const order: StarterOrder = {
        program,
        archive: archive.order,
        mark: hostId,
        socket: socket.remote,
        port: port ?? 0,
        record: this.#recordForHosts(record),
        ...(secrets === undefined
          ? { token: token! }
          : { enrolment: { identity, secret: secrets[identity]!, socket: enrolment.remote } }),
        silence,
      };
      const forwards = secrets === undefined ? [socket] : [socket, enrolment];
      const connection = { host, sshOptions, forwards, setup, node: node ?? "node" };
      return {
        ...place,
        command: sshCommand({ ...connection, env: { [markVariable]: hostId, ...placeVariables(place) } }),
        env: { ...definedVariables(process.env), ...mark },
        // Relative paths in the options of ssh are those of the user.
        cwd: process.cwd(),
        input: `${JSON.stringify(order)}\n`,
        supply,
        beat,
        route: `unix://${socket.local}`,
        ...(secrets === undefined ? {} : { enrolmentSocket: enrolment.local }),
        // The words of ssh when the server does not connect it to the daemon. Lines of actors start with their names.
        fatal: "\\nchannel \\d+: open failed: ",
        retry,
        endLimit,
      };
    });
  }

  protected override tokenOf(directory: string): { readonly token?: string } {
    if (this.tls !== null) return {};
    return { token: readFileSync(join(directory, tokenName), "utf8") };
  }

  protected override describeEnd(info: KeptHostInfo): string {
    const { reason = "", address } = info;
    const host = this.#hostOf(info);
    // A host that was up can be reached.
    const advice =
      adviceFor(reason, host) ?? (address === undefined ? `try "ssh ${host} node --version"` : "it was up");
    return `${reason}; on host ${JSON.stringify(host)}: ${advice}`;
  }

  /** Returns the record as a host gets it: without what is about this machine, such as the options of `ssh`. */
  #recordForHosts(record: string): string {
    const spec: SshSpec = { ...this.spec, sshOptions: [], setup: null, node: null };
    return formatRecord({ ...(JSON.parse(record) as JobRecord), spec, heldOn: hostname() });
  }

  #hostOf({ mesh, rank }: { readonly mesh: string; readonly rank: number }): string {
    return this.spec.meshes[mesh]!.hosts[rank]!;
  }
}

/** Makes the provider again from what a record contains. */
export function sshProvider(spec: Json): SshProvider {
  return new SshProvider(spec as SshSpec);
}
