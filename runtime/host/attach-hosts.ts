/** `attachHosts`, its options and their checks. */

import { resolve } from "node:path";
import type { CertificateFiles } from "../../generated/proc-agent.js";
import { describeValue } from "../../shared/text/describe-value.js";
import { currentCell } from "../actor/context.js";
import { parseToken } from "../link/handshake/proof.js";
import { FileCredentials, type TlsFiles } from "../link/transport/tls/credentials.js";
import { isWebSocketUrl } from "../link/transport/websocket/url.js";
import { currentRuntime } from "../proc/process/current-runtime.js";
import { candidateName } from "../proc/remote/driver-gateway.js";
import type { DialHost } from "../proc/remote/host-route.js";
import { checkDimension, checkOptionNames } from "../shape/index.js";
import type { HostAccess } from "./attached/attached-host.js";
import { AttachedHosts, type ControllerFiles } from "./attached/attached-hosts.js";
import type { GatewayOptions } from "./attached/gateway-host.js";
import { gatewayUrlFrom } from "./attached/gateway-url.js";
import type { HostFinder } from "./attached/host-returns.js";
import {
  type HostAddress,
  parseRoutedTargets,
  parseTargets,
  type RoutedHost,
  type TargetRules,
} from "./attached/host-targets.js";
import { webSocketTarget } from "./attached/websocket-target.js";
import { firstCode } from "./mesh/first-code.js";
import { HostMesh } from "./mesh/host-mesh.js";
import { moduleUrl } from "./mesh/spawn-procs-options.js";
import type { SyncOptions } from "./mesh/sync-options.js";

/** The options of {@link attachHosts} and {@link hostsFromConfig}. */
export interface AttachOptions<D extends string = "hosts"> {
  /** The name of the mesh in reports. Default: `"hosts"`. */
  readonly name?: string;
  /** The name of the only dimension of the mesh. Default: `"hosts"`. */
  readonly dimension?: D;
  /** The token that the hosts were started with. Default: the environment variable `VICEROY_TOKEN`, if it is set. */
  readonly token?: string;
  /**
   * The PEM files of this driver, required for `tls://` addresses: its certificate, its private key, and the authority
   * that has signed the certificates of the hosts.
   */
  readonly tls?: TlsFiles;
  /**
   * The time in which a host must accept this driver, in milliseconds, more than 0. While it lasts, a host that cannot
   * be reached is tried again. Default: 10,000.
   */
  readonly timeout?: number;
  /**
   * The time after which a host that has not answered counts as gone, with all processes that run there, in
   * milliseconds, at least 300. Default: 2,500.
   */
  readonly silence?: number;
  /**
   * The time after which a host that hears nothing of this driver ends the driver's processes, in milliseconds, more
   * than 0. Default: 10,000.
   */
  readonly keepAlive?: number;
  /**
   * The address of a host through which this program reaches all others: `tls://host:port`, `tcp://host:port`,
   * `unix:///path`, or the URL of a WebSocket to it, as `wss://gateway.example.com/path`. The addresses of the hosts are then
   * those by which they reach each other. The host needs the same credentials as the others, and can be one of them. A list
   * names several: they are tried in order, and the next one takes the place of one that ends or does not answer. Default: the
   * URL in the environment variable `VICEROY_API_URL`, if it is set and no address is a `unix://` one; otherwise, this program
   * connects to each host itself.
   */
  readonly through?: string | readonly string[];
  /**
   * The time for which this program may have no connection to a host of `through`, in milliseconds, from 1,000 to
   * 600,000. What is sent meanwhile arrives afterwards. Default: 60,000.
   */
  readonly absence?: number;
  /**
   * Whether this program only looks at the hosts: it sees their drivers, processes and published meshes, and the hosts refuse
   * everything that changes something. A program with the certificate of a viewer is always read-only. Default: false.
   */
  readonly readOnly?: boolean;
  /**
   * The generated registry on the hosts, as a URL or an absolute path. Default: the path of this program's own
   * registry. The option `registry` of `spawnProcs` sets another path for each process.
   */
  readonly registry?: URL | string;
}

const optionNames: readonly (keyof AttachOptions)[] = [
  "name",
  "dimension",
  "token",
  "tls",
  "timeout",
  "silence",
  "keepAlive",
  "through",
  "absence",
  "readOnly",
  "registry",
];

/** Defaults of the time limits, and the smallest `silence`, in ms. */
const defaultTimeout = 10_000;
const defaultKeepAlive = 10_000;
const defaultSilence = 2500;
const shortestSilence = 300;

/** The default, the smallest and the largest `absence`, in ms. */
const defaultAbsence = 60_000;
const shortestAbsence = 1000;
const longestAbsence = 600_000;

/**
 * Connects to hosts where `viceroy host` runs, and returns them as a mesh. The function returns at once: processes can
 * be spawned while the hosts are being reached. `ready` of the mesh resolves when all hosts have accepted this driver.
 *
 * @example
 * ```ts
 * import { attachHosts } from "viceroy";
 *
 * await using hosts = attachHosts(["tcp://node1:26600", "tcp://node2:26600"], { token: "a long shared secret" });
 * await using procs = hosts.spawnProcs({ gpus: 4 });
 * ```
 *
 * @param addresses the addresses of the hosts in rank order: `tcp://host:port`, `tls://host:port` or `unix:///path`; at least one,
 *   each once
 * @param options credentials, time limits and names
 * @returns a mesh with one dimension
 * @throws {TypeError} when an address, an option or `VICEROY_API_URL` is malformed, an address is given twice, or `tls://` is used without
 *   `tls`
 * @throws {RangeError} when a number is out of range
 * @throws {Error} when a file of `tls` cannot be read
 */
export function attachHosts<D extends string = "hosts">(
  addresses: readonly string[],
  options: AttachOptions<D> = {},
): HostMesh<D> {
  if (!Array.isArray(addresses)) throw optionError("a list of addresses", addresses);
  return attachRoutedHosts(
    addresses.map((address) => ({ address })),
    options,
  );
}

/** The facts that a job tells about its hosts, besides the options that users can give. */
export interface JobHosts {
  /** Whether the options contain all credentials, so that a token of the environment is meant for others. */
  readonly hasOwnProof: boolean;
  /** Whether what the hosts print is in the same log as what this program prints. */
  readonly isSameLog: boolean;
  readonly controllerFiles?: ControllerFiles;
  /** The options by which the code of this program is brought to the hosts before the first processes are spawned. Absent: it is not brought. */
  readonly sync?: SyncOptions | undefined;
  /** Finds hosts of the job again that were lost. Absent: they do not come back. */
  readonly finder?: HostFinder<RoutedHost> | undefined;
  /** The hosts through which this program reaches all others, in place of the option `through`. */
  readonly gateway?: JobGateway | undefined;
  /** Whether it is decided how this program reaches the hosts, so that the environment names no other way. Absent: false. */
  readonly choosesWay?: boolean;
}

/** The hosts through which a program reaches the hosts of a job, as the provider of the job knows them. */
export interface JobGateway {
  /**
   * Returns the hosts that can be used now, in the order in which they are tried. It is called before each attempt, so the
   * list may change. The address tells them apart, and each is dialled by a function of its own, which may reach
   * another host at each attempt.
   */
  candidates(): readonly { readonly address: string; readonly dial: DialHost }[];
}

/** Like {@link attachHosts}, for hosts that this program does not reach by the addresses that they have for each other. */
export function attachRoutedHosts<D extends string = "hosts">(
  places: readonly RoutedHost[],
  options: AttachOptions<D> = {},
  jobHosts: JobHosts = { hasOwnProof: false, isSameLog: false },
): HostMesh<D> {
  const { hasOwnProof, isSameLog, controllerFiles, sync, finder, gateway, choosesWay = false } = jobHosts;
  checkOptionNames("cannot attach hosts", options, optionNames);
  const { name = "hosts", dimension = "hosts" as D } = options;
  if (typeof name !== "string" || name === "") throw optionError("a name", name);
  checkDimension(dimension);
  if (places.length === 0) throw new TypeError("cannot attach hosts: expected at least one address, got none");
  const rules = { failed: "cannot attach hosts", hasCertificate: options.tls !== undefined };
  const targets = parseRoutedTargets(places, rules);
  const isDialled = targets.every(({ address, route }) => address.kind !== "unix" && route === undefined);
  const given = options.through ?? (choosesWay || !isDialled ? undefined : gatewayUrlFrom(process.env));
  const through = gatewayOf({ ...options, through: given }, rules, given === undefined ? gateway : undefined);
  const access = { ...resolveAccess(options, hasOwnProof ? undefined : process.env["VICEROY_TOKEN"]), isSameLog };
  const here = currentRuntime();
  const owner = currentCell();
  here.checkSpawn(owner, "hosts");
  const attachment = new AttachedHosts(here, owner, {
    ...{ name, dimension, targets, through, access },
    ...(controllerFiles === undefined ? {} : { controllerFiles }),
    ...(sync === undefined ? {} : { firstCode: (hosts, files) => firstCode(hosts, sync, files) }),
    finder: finder && {
      limit: finder.limit,
      find: async (number, signal) => parseRoutedTargets([await finder.find(number, signal)], rules)[0]!,
      why: (number) => finder.why(number),
      returned: (number) => finder.returned(number),
    },
  });
  return new HostMesh<D>(here, attachment.members.region, { attachment, ready: attachment.ready });
}

/** Returns the hosts through which the others are reached. */
function gatewayOf(
  { through, absence }: Pick<AttachOptions, "absence"> & { readonly through: AttachOptions["through"] | undefined },
  rules: TargetRules,
  gateway: JobGateway | undefined,
): GatewayOptions | undefined {
  if (through === undefined && gateway === undefined) {
    if (absence === undefined) return undefined;
    throw new TypeError(
      "cannot attach hosts: absence is for hosts that are reached through another one; give its address as through",
    );
  }
  const limit = absence ?? defaultAbsence;
  if (!(limit >= shortestAbsence && limit <= longestAbsence)) {
    throw optionError(`absence in milliseconds, from ${shortestAbsence} to ${longestAbsence}`, absence);
  }
  return { candidates: candidatesOf(through, rules, gateway), absence: Math.ceil(limit) };
}

function candidatesOf(
  through: AttachOptions["through"] | undefined,
  rules: TargetRules,
  gateway: JobGateway | undefined,
): GatewayOptions["candidates"] {
  if (gateway !== undefined) {
    return () =>
      gateway.candidates().map(({ address, dial }) => {
        const [target] = parseTargets([address], rules);
        return { ...target!, dial };
      });
  }
  const addresses = Array.isArray(through) ? through : [through];
  if (addresses.length === 0) throw optionError("an address, or a list of them, as through", through);
  const targets = addresses.flatMap((address) => candidateOf(address, rules));
  const names = targets.map(candidateName);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new TypeError(`cannot attach hosts: ${twice} is named twice`);
  return () => targets;
}

function candidateOf(address: unknown, rules: TargetRules): HostAddress[] {
  if (isWebSocketUrl(address)) return [webSocketTarget(address, rules)];
  if (typeof address === "string" && /^https?:/.test(address)) {
    throw optionError("through as the address of a host, or as the URL of a WebSocket, wss://host/path", address);
  }
  return parseTargets([address], rules);
}

function resolveAccess<D extends string>(
  options: AttachOptions<D>,
  usualToken: string | undefined,
): Omit<HostAccess, "isSameLog"> {
  const { token = usualToken, tls, readOnly = false } = options;
  const { timeout = defaultTimeout, keepAlive = defaultKeepAlive, silence = defaultSilence } = options;
  if (!(timeout > 0) || timeout > maxTimerMs) throw optionError("timeout in milliseconds", timeout);
  if (!(silence >= shortestSilence) || silence > maxTimerMs) {
    throw optionError(`silence in milliseconds, at least ${shortestSilence}`, silence);
  }
  if (!(keepAlive > 0) || keepAlive > maxTimerMs) throw optionError("keepAlive in milliseconds", keepAlive);
  if (typeof readOnly !== "boolean") throw optionError("readOnly as true or false", readOnly);
  const identity = tls === undefined ? undefined : new FileCredentials(tls).current().identity;
  const source = options.token === undefined ? "VICEROY_TOKEN" : "the option token";
  return {
    proof: {
      ...(token === undefined ? {} : { token: parseToken(token, source) }),
      ...(tls === undefined ? {} : { tls: absolutePaths(tls) }),
    },
    readOnly: readOnly || identity?.role === "viewer",
    timeout,
    keepAlive: Math.ceil(keepAlive),
    silence: Math.ceil(silence),
    registry: options.registry === undefined ? undefined : moduleUrl(options.registry, "registry", "attach hosts"),
  };
}

/** Resolves the paths, because processes that read the files may have other working directories. */
function absolutePaths({ cert, key, ca }: TlsFiles): CertificateFiles {
  return { cert: resolve(cert), key: resolve(key), ca: resolve(ca) };
}

/** The longest delay of a timer, in ms. */
const maxTimerMs = 0x7fff_ffff;

function optionError(expected: string, got: unknown): TypeError {
  return new TypeError(`cannot attach hosts: expected ${expected}, got ${describeValue(got)}`);
}
