/**
 * Hosts that were attached together, and the procs that were spawned on them. The actor that attached them is their
 * owner. `HostMesh` is the public handle of all of them or of a slice.
 */

import type { LocalActor } from "../../actor/reference/local-actor.js";
import { reasonSuffix } from "../../actor/reference/mesh-record.js";
import type { StopOptions } from "../../actor/reference/stop-options.js";
import type { ProcId } from "../../link/address.js";
import type { TlsFiles } from "../../link/transport/tls/credentials.js";
import { Membership } from "../../proc/mesh/membership.js";
import { leaveReason } from "../../proc/mesh/resize-procs.js";
import type { SpawnedProcs } from "../../proc/mesh/spawned-procs.js";
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { type Extent, formatExtent, type Region, regionExtent } from "../../shape/index.js";
import type { OwnedMesh } from "../../supervise/ownership.js";
import { AttachedHost, type HostAccess, type HostCalls } from "./attached-host.js";
import { GatewayHost, type GatewayOptions, keepAliveOf } from "./gateway-host.js";
import { type HostFinder, HostReturns } from "./host-returns.js";
import type { HostAddress } from "./host-targets.js";
import { type CodeTree, HostsCode } from "./hosts-code.js";

interface AttachedHostsOptions {
  readonly name: string;
  /** The only dimension of the mesh. */
  readonly dimension: string;
  /** The addresses of the hosts in rank order. */
  readonly targets: readonly HostAddress[];
  readonly access: HostAccess;
  /** The host through which the others are reached. Absent: this process reaches them itself. */
  readonly through?: GatewayOptions | undefined;
  /** The ids of the agents, in rank order, if this process takes the place of another driver. */
  readonly agents?: readonly ProcId[];
  readonly controllerFiles?: ControllerFiles;
  /** Decides at the first spawn which code is brought to the hosts. Absent: only what the program asks for. */
  readonly firstCode?: (hosts: AttachedHosts, files?: readonly string[]) => Promise<CodeTree | undefined>;
  /** Finds lost hosts again. Absent: they do not come back. */
  readonly finder?: HostFinder<HostAddress> | undefined;
}

/**
 * Makes the certificate of a controller that outlives this program; resolves with undefined if the hosts need none. Rejects
 * with the reason if no controller can outlive this program.
 */
export type ControllerFiles = () => Promise<TlsFiles | undefined>;

export class AttachedHosts implements OwnedMesh {
  readonly name: string;
  readonly dimension: string;
  /** The access as the program has given it: what a process that reaches the hosts itself needs. */
  readonly access: HostAccess;
  /** The host through which the others are reached; undefined if this process reaches them itself. */
  readonly through: GatewayOptions | undefined;
  /** Absent if the hosts belong to no job. */
  readonly controllerFiles: ControllerFiles | undefined;
  readonly owner: LocalActor;
  /** The code of processes on the hosts. */
  readonly code: HostsCode;
  /** The ranks of the hosts. The mesh has one dimension, so the number of a host is its index. */
  readonly members: Membership;
  readonly #hosts: AttachedHost[];
  readonly #runtime: ProcessRuntime;
  readonly #procs = new Set<SpawnedProcs>();
  /** The hosts that have left the mesh, and whose procs have not all ended. */
  readonly #leaving = new Map<AttachedHost, Promise<void>>();
  readonly #returns: HostReturns<HostAddress> | undefined;
  readonly #calls: HostCalls;
  readonly #gateway: GatewayHost | undefined;
  #stopReason: string | undefined;
  #stopping: Promise<void> | undefined;

  constructor(runtime: ProcessRuntime, owner: LocalActor, options: AttachedHostsOptions) {
    const { name, dimension, targets, access, through, agents, controllerFiles, firstCode, finder } = options;
    this.#runtime = runtime;
    this.owner = owner;
    this.name = name;
    this.dimension = dimension;
    this.access = access;
    this.through = through;
    this.controllerFiles = controllerFiles;
    this.code = new HostsCode(firstCode && ((files) => firstCode(this, files)));
    this.members = new Membership({ [dimension]: targets.length });
    const attach = (number: number, target: HostAddress) => this.#attachAgain(number, target);
    this.#returns = finder && new HostReturns(finder, runtime.platform.clock, attach);
    this.#calls = {
      lost: (host, reason) => this.#lost(host, reason),
      waitFor: (host) => this.#returns?.waitFor(this.#hosts.indexOf(host)),
    };
    this.#gateway = through && new GatewayHost(runtime, through, access, (reason) => this.#gatewayLost(reason));
    this.#hosts = targets.map((target, i) => this.#makeHost(target, agents?.[i]));
    this.#addKey(this.#hosts);
    runtime.ownership.add(owner, this);
    runtime.registerShutdown();
  }

  /** Resolves when all hosts that belong to the mesh now have accepted this driver; rejects with the reason if one has not. */
  get ready(): Promise<void> {
    const ready = Promise.all(this.hosts.map((host) => host.ready)).then(() => {});
    ready.catch(() => {});
    return ready;
  }

  get stopReason(): string | undefined {
    return this.#stopReason;
  }

  /** Returns the host with a number. If it has left the mesh and no other has taken its place, it is the one that left. */
  hostAt(number: number): AttachedHost {
    return this.#hosts[number]!;
  }

  /** Registers procs that were spawned on these hosts. */
  addProcs(procs: SpawnedProcs): void {
    for (const earlier of this.#procs) if (earlier.isStopping) this.#procs.delete(earlier);
    this.#procs.add(procs);
  }

  /** @throws Error if the mesh has been stopped, or this program only looks at its hosts */
  checkOpen(): void {
    this.checkWritable("spawn procs");
    if (this.#stopReason !== undefined) {
      throw new Error(`cannot spawn procs: mesh "${this.name}" of hosts was stopped${reasonSuffix(this.#stopReason)}`);
    }
  }

  /**
   * Checks before a request that each host would refuse. The error tells the user at once, at the place of the mistake.
   * @param verb what the program wants to do
   * @throws Error if this program only looks at the hosts
   */
  checkWritable(verb: string): void {
    if (!this.access.readOnly) return;
    throw new Error(
      `cannot ${verb}: this program has attached mesh "${this.name}" of hosts read-only, by the option readOnly or by its ` +
        "certificate; attach the hosts without the option, with the certificate of a driver",
    );
  }

  /** @throws Error if one of the hosts does not belong to the mesh. @param failed the start of the error message */
  checkMembers(numbers: Iterable<number>, failed: string): void {
    const missing = [...new Set(numbers)].filter((number) => !this.members.has(number)).sort((a, b) => a - b);
    if (missing.length === 0) return;
    const hosts = `host${missing.length === 1 ? "" : "s"} ${missing.join(", ")}`;
    const now = formatExtent(regionExtent(this.members.region));
    throw new Error(`${failed}: mesh "${this.name}" of hosts is ${now} and has no ${hosts}; resize it first`);
  }

  /** The addresses that no joining host can have, each with the reason. */
  get takenAddresses(): Map<string, string> {
    const taken = new Map<string, string>();
    for (const { address } of this.#leaving.keys()) {
      taken.set(address, "is still being left; await `ready` of the mesh that the last resize returned");
    }
    for (const { address, isLost } of this.hosts) if (!isLost) taken.set(address, "is attached already");
    return taken;
  }

  /** The meshes of procs that were spawned on these hosts and have not been stopped. */
  get procs(): readonly SpawnedProcs[] {
    return [...this.#procs].filter(({ isStopping }) => !isStopping);
  }

  /** Leaves the hosts to another process, which takes over everything there. */
  giveUp(reason: string): void {
    this.#stopReason ??= reason;
    this.#stopping ??= Promise.resolve();
    this.#procs.clear();
    this.#returns?.stop();
    for (const host of this.hosts) host.giveUp(reason);
    this.#gateway?.giveUp(reason);
    this.#runtime.ownership.remove(this.owner, this);
  }

  /** The hosts that belong to the mesh now. */
  get hosts(): readonly AttachedHost[] {
    return this.#hosts.filter((_, number) => this.members.has(number));
  }

  /** Returns a mesh of procs on one of the given hosts whose processes are being replaced. */
  replacingOn(numbers: readonly number[]): SpawnedProcs | undefined {
    const locations = new Set(numbers.map((number) => this.hostAt(number).location));
    return [...this.#procs].find((procs) => procs.isReplacing && procs.livesAt(locations));
  }

  /**
   * Gives the mesh another number of hosts. The procs on hosts that leave handle the messages that they have been sent for
   * at most `drain` ms, and end; then the driver leaves the hosts.
   * @param targets the addresses of the hosts that join, in rank order
   * @returns the region of the whole mesh, and a promise that resolves when all hosts have accepted this driver and the
   * others have been left
   */
  resize(
    extent: Extent,
    targets: readonly HostAddress[],
    drain: number,
  ): { readonly region: Region; readonly ready: Promise<void> } {
    const resizing = this.members.plan(extent);
    this.members.apply(resizing);
    const reason = leaveReason(this.name, extent);
    for (const number of resizing.leaving) this.#returns?.leave(number);
    const left = resizing.leaving.map((number) => this.#leave(this.hostAt(number), reason, drain));
    const joined = resizing.joining.map(({ number }, i) => {
      const host = this.#makeHost(targets[i]!);
      this.#hosts[number] = host;
      return host;
    });
    this.#addKey(joined);
    const ready = Promise.all([this.ready, ...left]).then(() => {});
    ready.catch(() => {});
    return { region: resizing.region, ready };
  }

  #makeHost(target: HostAddress, id?: ProcId): AttachedHost {
    const { access, through } = this;
    // Hosts do not take a driver for ended that goes on through another gateway.
    const keepAlive = through === undefined ? access.keepAlive : Math.max(access.keepAlive, keepAliveOf(through));
    return new AttachedHost(this.#runtime, target, { ...access, keepAlive }, this.#calls, this.#gateway, id);
  }

  #isGateway({ daemon }: AttachedHost): boolean {
    return daemon !== undefined && daemon === this.#gateway?.daemon;
  }

  /** Without the gateway, this process reaches none of the hosts. */
  #gatewayLost(reason: string): void {
    for (const host of this.hosts) host.markLost(reason);
  }

  #lost(host: AttachedHost, reason: string): void {
    const number = this.#hosts.indexOf(host);
    // A host that ends while it is attached again has no number.
    if (number === -1 || this.#stopping !== undefined || !this.members.has(number)) return;
    this.#returns?.lost(number, reason);
  }

  /**
   * Attaches a host that has taken the place of one that was lost.
   * @throws Error if it does not accept this driver, or its place is not free any more
   */
  async #attachAgain(number: number, target: HostAddress): Promise<void> {
    const host = this.#makeHost(target);
    this.#addKey([host]);
    try {
      await host.ready;
    } catch (error) {
      this.#runtime.hostKeyring.remove(host.id);
      throw error;
    }
    if (this.#returns?.waitFor(number) === undefined || host.isLost) {
      await host.leave("its place is not free any more");
      throw new Error("its place is not free any more");
    }
    this.#hosts[number] = host;
  }

  /** Gives the credentials for hosts to the processes of this machine. */
  #addKey(hosts: readonly AttachedHost[]): void {
    if (hosts.length > 0) this.#runtime.addHostKey({ hosts: hosts.map(({ id }) => id), proof: this.access.proof });
  }

  /** Stops all procs that were spawned here, and leaves the hosts. Idempotent, never rejects. */
  stop(options: StopOptions): Promise<void> {
    this.#stopping ??= this.#stop(options);
    return this.#stopping;
  }

  /** Stops all procs that were spawned here, and shuts the daemons down. @throws Error if a host could not be told */
  async shutdown(options: StopOptions): Promise<void> {
    this.checkWritable("shut hosts down");
    this.checkOpen();
    this.#stopReason = options.reason;
    this.#returns?.stop();
    await this.#stopProcs(options);
    const shutDown = (hosts: readonly AttachedHost[]) =>
      Promise.allSettled(hosts.map((host) => host.shutdown(options.reason)));
    const told = await shutDown(this.hosts.filter((host) => !this.#isGateway(host)));
    // The others cannot be reached any more after the gateway has been shut down.
    this.#gateway?.stay();
    const gateways = this.hosts.filter((host) => this.#isGateway(host));
    told.push(...(await shutDown(gateways)));
    if (gateways.length > 0) this.#gateway?.ended(options.reason);
    await this.stop(options);
    const failed = told.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
    if (failed !== undefined)
      throw new Error(`cannot shut down mesh "${this.name}" of hosts: ${failed.reason.message}`);
  }

  async #stop(options: StopOptions): Promise<void> {
    this.#stopReason ??= options.reason;
    this.#returns?.stop();
    await this.#stopProcs(options);
    await Promise.all([...this.#leaving.values(), ...this.hosts.map((host) => host.leave(options.reason))]);
    await this.#gateway?.leave(options.reason);
    this.#runtime.ownership.remove(this.owner, this);
  }

  async #stopProcs(options: StopOptions): Promise<void> {
    await Promise.all([...this.#procs].map((procs) => procs.stop(options)));
    this.#procs.clear();
  }

  #leave(host: AttachedHost, reason: string, drain: number): Promise<void> {
    const leave = async () => {
      await Promise.all([...this.#procs].map((procs) => procs.leaveLocation(host.location, reason, drain)));
      await host.leave(reason);
      this.#leaving.delete(host);
    };
    const left = leave();
    this.#leaving.set(host, left);
    return left;
  }
}
