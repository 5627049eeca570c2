/** `SkyPilotJob`: the hosts of a job are machines that SkyPilot launches, on any cloud, Kubernetes or Slurm. */
import { optionError } from "../check-option.js";
import { type Duration, durationMs } from "../duration.js";
import { Job } from "../job.js";
import { checkJobOptions, type JobOptions } from "../job-options.js";
import { checkRecord, type JobRecord } from "../record/job-record.js";
import { DeferredProvider } from "./deferred-provider.js";
import type { SkyPilotAccess } from "./described-job.js";
import {
  type AutostopSpec,
  checkEndpoint,
  checkInfra,
  checkMounts,
  checkOpenPorts,
  checkSkyPilotMeshes,
  checkVariables,
  type SkyPilotMesh,
  type SkyPilotMount,
  type SkyPilotSpec,
} from "./skypilot-spec.js";

/** The options of {@link SkyPilotJob}. */
export interface SkyPilotJobOptions<M extends string> extends JobOptions {
  /** The meshes by name, and the machine of each host. */
  readonly meshes: Readonly<Record<M, SkyPilotMesh>>;
  /**
   * Whether meshes that ask for equal machines share a cluster of SkyPilot, whose machines are launched together, or each mesh is a cluster of its own.
   * Meshes that ask for other machines are clusters of their own in any case. Default: `"shared"`.
   */
  readonly clusters?: "shared" | "each";
  /** The places that SkyPilot may use, in its notation: `"aws"`, `"gcp/us-central1"`, `"kubernetes/my-context"`, or a list of them. Default: all that it can use. */
  readonly infra?: string | readonly string[];
  /** Environment variables of the hosts and their processes. */
  readonly envs?: Readonly<Record<string, string>>;
  /** As `envs`, for values that SkyPilot does not show. They are not recorded. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Buckets by the paths at which all hosts have them. */
  readonly mounts?: Readonly<Record<string, SkyPilotMount>>;
  /** Ports that SkyPilot opens to the internet, and ranges such as `"8000-8010"`. Viceroy needs none of them. Default: none. */
  readonly ports?: readonly (number | string)[];
  /**
   * The time after the end of the hosts after which SkyPilot takes the clusters down, in whole minutes; with `down: false`, it only stops the machines, whose disks
   * cost money. False: never. Default: `"10m"`.
   */
  readonly autostop?: Duration | { readonly after: Duration; readonly down?: boolean } | false;
  /** Whether SkyPilot tries all places again and again until there are machines. Default: false. */
  readonly retryUntilUp?: boolean;
  /** The port at which hosts listen. Their certificates are signed at the next one. Default: 20,000. */
  readonly port?: number;
  /** The URL of the API server of SkyPilot. Default: the one that SkyPilot's own client would use. */
  readonly endpoint?: string;
  /**
   * The way by which this program reaches the hosts: `"direct"` uses their addresses, `"ssh"` the machine of the option `login`, which `ssh` asks to connect
   * to one host, and that one to the others. Default: `"direct"` if the network leads to the first host, and otherwise `"ssh"`.
   */
  readonly reach?: "direct" | "ssh";
  /** The machine through which `ssh` reaches the hosts. Default: the first cluster, by the name that `sky status` makes known to `ssh`. */
  readonly login?: string;
}

const ownOptions = [
  "meshes",
  "clusters",
  "infra",
  "envs",
  "secrets",
  "mounts",
  "ports",
  "autostop",
  "retryUntilUp",
  "port",
  "endpoint",
  "reach",
  "login",
] satisfies readonly (keyof SkyPilotJobOptions<string>)[];

const defaultPort = 20_000;

/** The port after it is the one at which certificates are signed. */
const largestPort = 65_534;

/**
 * A job whose hosts are machines that SkyPilot launches.
 *
 * @example
 * ```ts
 * import { SkyPilotJob } from "viceroy/job";
 *
 * await using job = new SkyPilotJob({
 *   meshes: { trainers: { hosts: 4, gpus: "H100:8", spot: true } },
 *   infra: "aws",
 *   hostTimeout: { lost: "15m" },
 * });
 * const { trainers } = await job.state();
 * ```
 *
 * @typeParam M the names of the meshes
 */
export class SkyPilotJob<M extends string> extends Job<M> {
  /**
   * Describes a job. Nothing is submitted.
   *
   * @param options the meshes, the machines and where they may be
   * @param known used by {@link fromJSON}
   * @throws {TypeError} when an option is unknown or malformed
   * @throws {RangeError} when a number is out of range
   */
  constructor(options: SkyPilotJobOptions<M>, known?: JobRecord) {
    const checked = checkJobOptions(options, ownOptions);
    checkSkyPilotMeshes(options.meshes);
    const { name, setup, node, tls } = checked;
    const spec = { name, ...skyPilotSpec(options), setup, node, tls };
    super(new DeferredProvider(spec, accessOf(options, known !== undefined)), checked, known);
  }

  /**
   * Makes a job of the record of one that another program has submitted. It cannot replace hosts of a job with `secrets`, whose values are not recorded.
   *
   * @param record what `toJSON` has returned
   * @throws {TypeError} when the record is malformed, or of another class
   */
  static fromJSON(record: JobRecord): SkyPilotJob<string> {
    checkRecord(record, "skypilot");
    const { autostop, tls, secrets, setup, node, endpoint, ...spec } = record.spec as unknown as SkyPilotSpec;
    const options = {
      ...spec,
      secrets: Object.fromEntries(secrets.map((each) => [each, ""])),
      autostop: autostop === null ? (false as const) : { after: autostop.minutes * minuteMs, down: autostop.down },
      tls: tls ?? false,
      ...(endpoint === null ? {} : { endpoint }),
      ...(setup === null ? {} : { setup }),
      ...(node === null ? {} : { node }),
    };
    return new SkyPilotJob(options, record);
  }
}

function accessOf({ secrets, reach, login }: SkyPilotJobOptions<string>, isOfRecord: boolean): SkyPilotAccess {
  if (reach !== undefined && reach !== "direct" && reach !== "ssh")
    throw optionError('reach as "direct" or "ssh"', reach);
  if (login !== undefined && (typeof login !== "string" || !/^[^\s\0-][^\s\0]*$/.test(login))) {
    throw optionError("login as the name of a machine", login);
  }
  return { secrets: isOfRecord ? undefined : (secrets ?? {}), reach: reach ?? null, login };
}

function skyPilotSpec(options: SkyPilotJobOptions<string>): Omit<SkyPilotSpec, "name" | "setup" | "node" | "tls"> {
  const { meshes, clusters = "shared", retryUntilUp = false, port = defaultPort } = options;
  const { endpoint, infra, envs = {}, secrets = {}, mounts = {}, ports = [], autostop } = options;
  if (clusters !== "shared" && clusters !== "each") throw optionError('clusters "shared" or "each"', clusters);
  if (endpoint !== undefined) checkEndpoint(endpoint);
  if (typeof retryUntilUp !== "boolean") throw optionError("retryUntilUp as true or false", retryUntilUp);
  if (!Number.isInteger(port) || port < 1 || port > largestPort) {
    const text = `expected port from 1 to ${largestPort}, because certificates are signed at the next one, got ${port}`;
    throw new RangeError(`cannot make a job: ${text}`);
  }
  return {
    meshes,
    clusters,
    endpoint: endpoint ?? null,
    infra: checkInfra(infra),
    envs: checkVariables("envs", envs),
    secrets: Object.keys(checkVariables("secrets", secrets)),
    mounts: checkMounts(mounts),
    ports: checkOpenPorts(ports),
    autostop: autostopSpec(autostop),
    retryUntilUp,
    port,
  };
}

const minuteMs = 60_000;

function autostopSpec(autostop: SkyPilotJobOptions<string>["autostop"] = "10m"): AutostopSpec | null {
  if (autostop === false) return null;
  const { after, down = true } = typeof autostop === "object" && autostop !== null ? autostop : { after: autostop };
  if (typeof down !== "boolean") throw optionError("down of autostop as true or false", down);
  const ms = durationMs(after, "autostop");
  // SkyPilot would end a cluster with 0 minutes between its launch and the start of its hosts.
  return { minutes: Math.max(1, Math.ceil(ms / minuteMs)), down };
}
