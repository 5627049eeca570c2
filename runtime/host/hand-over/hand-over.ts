/**
 * What a driver hands over to a controller when it detaches from its hosts: the hosts, and its processes and meshes there.
 * The controller continues under the identity of the driver, so the processes keep their parent. The text passes through a
 * daemon, which does not read it. Both ends have the same version of Viceroy.
 */
import type { ClassReference, HostProof, ProcConfig, WatchLimits } from "../../../generated/proc-agent.js";
import type { Publication } from "../../../generated/published.js";
import type { TlsFiles } from "../../link/transport/tls/credentials.js";
import type { RestoredRank } from "../../proc/mesh/spawned-actors.js";
import type { Extent, Region } from "../../shape/index.js";
import type { FailureCause } from "../../supervise/failure-cause.js";
import type { RestartPlan } from "../../supervise/restart-policy.js";
import { version } from "../../version.js";
import type { KnownSenders } from "../publish/message-senders.js";

/** Hosts that were attached together. */
export interface HandedHosts {
  readonly name: string;
  readonly dimension: string;
  readonly registry?: string;
  readonly proof: HostProof;
  /** The certificate of the controller, as PEM; absent if the hosts need none. It replaces the files of the driver in `proof`. */
  readonly certificate?: Readonly<Record<keyof TlsFiles, string>>;
  /** Time limits in ms, as in the options of `attachHosts`. */
  readonly timeout: number;
  readonly keepAlive: number;
  readonly silence: number;
  /** Whether what the hosts print is in the same log as what the driver has printed. */
  readonly isSameLog: boolean;
  readonly hosts: readonly HandedHost[];
}

export interface HandedHost {
  /** The agent of the driver on the host. */
  readonly agent: bigint;
  /** The address by which processes of other hosts reach it. */
  readonly address: string;
}

/** One process, and how its replacement is started. */
export interface HandedProc {
  readonly proc: bigint;
  /** The number of its group of hosts, and of its host in the group. */
  readonly group: number;
  readonly host: number;
  /** Why it has ended; absent if it lives. */
  readonly ended?: FailureCause;
  readonly label: string;
  /** Environment variables; null removes a variable of the host. */
  readonly env: Readonly<Record<string, string | null>>;
  readonly execArgv: readonly string[];
  readonly cpus?: string;
  readonly cwd?: string;
  readonly config: ProcConfig;
}

/** A mesh of processes. */
export interface HandedProcs {
  readonly name: string;
  readonly extent: Extent;
  readonly restart?: RestartPlan;
  /** The processes in rank order. */
  readonly procs: readonly HandedProc[];
}

/** A mesh of actors. */
export interface HandedActors {
  readonly mesh: bigint;
  readonly name: string;
  /** The number of the mesh of processes on which it lives, and the region of that mesh. */
  readonly procs: number;
  readonly region: Region;
  readonly actor: ClassReference;
  /** The fingerprint of the driver's schema of the actor. */
  readonly fingerprint: bigint;
  readonly args: Uint8Array;
  readonly protobuf: boolean;
  readonly restart?: RestartPlan;
  readonly watch?: WatchLimits;
  readonly ranks: readonly RestoredRank[];
}

/** A published mesh. */
export interface HandedPublication {
  readonly publication: Publication;
  /** The number of the mesh of actors. */
  readonly actors: number;
  readonly senders: KnownSenders;
}

export interface HandOver {
  /** The identity of the driver. */
  readonly universe: bigint;
  readonly driver: bigint;
  /** The name, in messages to people, of the job that is detached: `job "train"`. */
  readonly subject: string;
  /** The URL of the module that makes the controller understand TypeScript; absent if it needs none. */
  readonly loader?: string;
  readonly hosts: readonly HandedHosts[];
  readonly procs: readonly HandedProcs[];
  readonly actors: readonly HandedActors[];
  readonly publications: readonly HandedPublication[];
}

export function encodeHandOver(state: HandOver): string {
  return encodeState(state);
}

/** @throws Error if another version has written the text */
export function decodeHandOver(text: string): HandOver {
  return decodeState(text);
}

/** Returns plain data, bigints and bytes as the text of an order to a controller. */
export function encodeState(state: object): string {
  return JSON.stringify({ version, state }, (_, value: unknown) => {
    if (typeof value === "bigint") return { $bigint: value.toString(16) };
    if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString("base64") };
    // The limit of a restart policy can be infinite.
    return value === Number.POSITIVE_INFINITY ? { $infinity: true } : value;
  });
}

/** @throws Error if another version has written the text */
export function decodeState<T>(text: string): T {
  const { version: theirs, state } = JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== "object" || value === null) return value;
    if ("$bigint" in value) return BigInt(`0x${value.$bigint}`);
    if ("$bytes" in value) return new Uint8Array(Buffer.from(value.$bytes as string, "base64"));
    return "$infinity" in value ? Number.POSITIVE_INFINITY : value;
  }) as { readonly version: string; readonly state: T };
  if (theirs === version) return state;
  throw new Error(
    `the host has Viceroy ${version}, and the driver has Viceroy ${theirs}; install the same version on both`,
  );
}
