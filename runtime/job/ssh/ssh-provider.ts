/**
 * Gives hosts that `ssh` reaches. A keeper on this machine runs one `ssh` for each host, which brings the daemon, holds
 * it by its standard input, and forwards a local socket to it.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { parseNetworkAddress, type SocketAddress } from "../../link/transport/network-address.js";
import { credentialsFolder, hostUri, secretsFile } from "../credentials/credentials-folder.js";
import type { TlsSpec } from "../job-options.js";
import type { Json } from "../json.js";
import { keeperState } from "../keeper/keeper-client.js";
import type { HostOrder, HostSupply, KeptHostInfo } from "../keeper/keeper-order.js";
import {
  definedVariables,
  type GrowParameters,
  type KeptAllocation,
  KeptProvider,
  placeVariables,
  type ShrinkParameters,
} from "../keeper/kept-provider.js";
import { markVariable } from "../keeper/marked-processes.js";
import type { DialHost } from "../kernel.js";
import { formatPlace, type HostPlace, hostPlaces } from "../mesh-spec.js";
import type { ReadyHost, Submission } from "../provider.js";
import { formatRecord, type JobRecord } from "../record/job-record.js";
import { makeDaemonArchive } from "./daemon-archive.js";
import { adviceFor } from "./end-advice.js";
import { forwardPort } from "./forward/forward-port.js";
import { sshCommand } from "./ssh-command.js";
import { machinesOf, type SshSpec } from "./ssh-spec.js";
import { type ArchiveOrder, archiveRequest, type StarterOrder } from "./starter/starter-order.js";

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

/** The parts that the orders for all hosts have in common. */
interface CommonOrder {
  readonly applyId: string;
  /** The private directory of the job. */
  readonly directory: string;
  readonly archive: ArchiveOrder;
  readonly supply: HostSupply;
  readonly mark: Readonly<Record<string, string>>;
  readonly record: string;
  /** The secrets of the hosts by their identities; undefined if they have no certificates. */
  readonly secrets: Readonly<Record<string, string>> | undefined;
}

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

  /** The hosts and the spare machines of each mesh. */
  get largest(): Readonly<Record<string, { readonly hosts: number }>> {
    const sizes = Object.entries(this.spec.meshes).map(([name, mesh]) => [name, { hosts: machinesOf(mesh).length }]);
    return Object.fromEntries(sizes);
  }

  /** The port is that of the address by which other hosts reach the host. The host itself connects to it, because this machine may reach nothing but its server of ssh. */
  async dialPort({ directory }: KeptAllocation, place: HostPlace, port: number): Promise<DialHost> {
    const { hosts = [] } = (await keeperState(directory)) ?? {};
    const { address } = hosts.find((host) => formatPlace(host) === formatPlace(place) && !host.isGivenBack) ?? {};
    if (address === undefined) throw new Error(`host ${formatPlace(place)} is not up`);
    const { host } = parseNetworkAddress(address) as SocketAddress;
    const target = { machine: this.#hostOf(place), sshOptions: this.spec.sshOptions, host, port };
    return (signal) => forwardPort(target, signal);
  }

  protected orders(
    { applyId, directory }: KeptAllocation,
    mark: Readonly<Record<string, string>>,
    { record, credentials }: Pick<Submission, "record" | "credentials">,
  ): HostOrder[] {
    const secrets = credentials?.secrets;
    if (secrets === undefined) {
      writeFileSync(join(directory, tokenName), randomBytes(32).toString("base64url"), { mode: 0o600 });
    }
    const common = { ...this.#daemon(directory), applyId, directory, mark, record, secrets };
    return hostPlaces(this.meshes).map((place) => this.#order(place, common));
  }

  async grow(...parameters: GrowParameters): Promise<readonly ReadyHost[]> {
    const [{ applyId, directory, logs }, , { record }] = parameters;
    const secrets = this.tls === null ? undefined : await secretsOf(dirname(logs));
    const daemon = this.#daemon(directory);
    const orderAt: Parameters<typeof this.growBy>[0] = (mark, place) =>
      this.#order(place, { ...daemon, applyId, directory, mark, record, secrets });
    return this.growBy(orderAt, ...parameters);
  }

  shrink(...parameters: ShrinkParameters): Promise<() => Promise<void>> {
    return this.shrinkTo(...parameters);
  }

  /** Writes the daemon that the hosts get, unless it is there. @param directory the private directory of the job */
  #daemon(directory: string): Pick<CommonOrder, "archive" | "supply"> {
    const { bytes, order } = makeDaemonArchive(dist);
    // A driver of another version may add hosts.
    const file = join(directory, `daemon-${order.hash.slice(0, 16)}`);
    writeFileSync(`${file}.${process.pid}.new`, bytes, { mode: 0o600 });
    renameSync(`${file}.${process.pid}.new`, file);
    return { archive: order, supply: { request: archiveRequest(order), file } };
  }

  #order(place: HostPlace, common: CommonOrder): HostOrder {
    const { applyId, directory, archive, supply, mark, record, secrets } = common;
    const { sshOptions, port, setup, node } = this.spec;
    const index = hostPlaces(this.largest).findIndex(({ mesh, rank }) => mesh === place.mesh && rank === place.rank);
    const remoteFolder = `/tmp/vj-${applyId.slice(0, 13)}-${index}`;
    const socket = { local: join(directory, `${index}.sock`), remote: `${remoteFolder}/host.sock` };
    const enrolment = { local: join(directory, `${index}-enrol.sock`), remote: `${remoteFolder}/enrol.sock` };
    const identity = hostUri(applyId, place);
    const host = this.#hostOf(place);
    // Names can lead to the same machine. Each host must end its own processes only.
    const hostId = `${applyId}-${index}`;
    const order: StarterOrder = {
      program: readFileSync(starter, "utf8"),
      archive,
      mark: hostId,
      socket: socket.remote,
      port: port ?? 0,
      record: this.#recordForHosts(record),
      ...(secrets === undefined
        ? this.tokenOf(directory)
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
    return machinesOf(this.spec.meshes[mesh]!)[rank]!;
  }
}

/** Reads the secrets of the hosts of a run. @param folder that of the run */
async function secretsOf(folder: string): Promise<Record<string, string>> {
  const { readSecrets } = await import("../credentials/index.js");
  return readSecrets(join(credentialsFolder(folder), secretsFile));
}

/** Makes the provider again from what a record contains. */
export function sshProvider(spec: Json): SshProvider {
  return new SshProvider(spec as SshSpec);
}
