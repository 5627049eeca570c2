/**
 * One attached host as the driver sees it: the connection to its agent, the processes that were started there, and the
 * end of the host. `AttachedHosts` groups hosts that were attached together.
 */

import {
  type HostAgentMesh,
  type HostInfo,
  type HostSignal,
  hostAgentDescriptor,
  type StartOrder,
} from "../../../generated/host-agent.js";
import { type HostProof, procAgentDescriptor } from "../../../generated/proc-agent.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import { TimeoutError } from "../../actor/errors.js";
import { makeMesh } from "../../actor/mesh/actor-mesh.js";
import type { Proc } from "../../actor/proc/proc.js";
import { MeshRecord } from "../../actor/reference/mesh-record.js";
import { MeshView } from "../../actor/reference/mesh-view.js";
import { AGENT_MESH, type Location, type ProcId } from "../../link/address.js";
import { formatNetworkAddress, type NetworkAddress } from "../../link/transport/network-address.js";
import type { Pipe } from "../../link/transport/pipe.js";
import { withInspector } from "../../proc/launch/inspector.js";
import type { StartRequest } from "../../proc/platform/platform.js";
import { runAsRoot } from "../../proc/proc-agents.js";
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { connectToHost, type HostTarget, isTransient } from "../../proc/remote/host-connection.js";
import type { HostLink } from "../../proc/remote/host-link.js";
import type { HostRoute } from "../../proc/remote/host-route.js";
import { HostedBackend } from "../../proc/remote/hosted-backend.js";
import { formatHostedLocation } from "../../proc/remote/hosted-location.js";
import { wholeRegion } from "../../shape/index.js";
import { type FailureCause, failureCauseOf } from "../../supervise/failure-cause.js";
import { version } from "../../version.js";
import { driverName } from "./driver-name.js";
import type { HostAddress } from "./host-targets.js";
import { type HostWatcher, hostWatcherOf } from "./host-watcher.js";
import { type CodePlace, codeOn, type MeshCode, startIn } from "./hosts-code.js";
import { type BeatLimits, OwnBeats } from "./own-beats.js";

/**
 * Pauses between attempts to reach a host, in ms: each pause is twice the previous one, up to `longestPause`, less a
 * random part.
 */
const firstPause = 50;
const longestPause = 1000;
/**
 * Time limit of the first attempt to connect, in ms. Each further attempt gets twice the time of the previous one,
 * because a connection can stop responding without an error.
 */
const firstAttemptLimit = 2000;

/** Options that all supported versions of Node.js know. */
const commonOptions = /^(?:--import|--require|-r|--conditions|-C|--enable-source-maps|--max-old-space-size)(?:=|$)/;

/** The versions of Node.js on hosts that this process has been warned about. */
const comparedVersions = new Set<string>();

function majorOf(version: string): string {
  return version.split(".", 1)[0]!;
}

/** The options for the access to hosts. */
export interface HostAccess {
  /** The generated registry from which processes on the host load actors; undefined selects the same path as here. */
  readonly registry: string | undefined;
  readonly proof: HostProof;
  /** Time limit in ms for a host to be reachable and to accept this driver. */
  readonly timeout: number;
  /** Time in ms after which a host ends the processes of a driver from which it hears nothing. */
  readonly keepAlive: number;
  /** Time in ms after which a silent host counts as gone. */
  readonly silence: number;
  /** Whether what the host prints is in the same log as what this program prints. */
  readonly isSameLog: boolean;
  /** Whether this driver only looks. The host refuses all else. */
  readonly readOnly: boolean;
  /** `gateway` if the host is attached only because this driver reaches others through it. */
  readonly role?: "gateway";
  /** The way to the host. Absent: the gateway, or the address of the host. */
  readonly way?: HostRoute | undefined;
}

/** The host through which a host is reached. */
export interface HostGateway {
  readonly route: HostRoute;
  /** Resolves when the gateway can start what watches the host. Rejects with the reason if it cannot. */
  readonly ready: Promise<unknown>;
  /** Watches the host for this driver. */
  readonly watcher: HostWatcher;
}

/** The calls by which a host tells its mesh that it was lost, and asks whether it comes back. */
export interface HostCalls {
  /** Called when the host was lost, and was not left. */
  lost(host: AttachedHost, reason: string): void;
  /** Returns the wait for a lost host that may come back: it resolves when the host is back. */
  waitFor(host: AttachedHost): Promise<void> | undefined;
}

/** The calls of a host that belongs to no mesh. */
const noCalls: HostCalls = { lost() {}, waitFor: () => undefined };

/** A process on a host, as its backend describes it. */
interface HostedProcess extends Pick<StartRequest, "label" | "stdio"> {
  readonly proc: ProcId;
  readonly rank: number;
}

/** A host that this driver has attached, or is attaching. */
export class AttachedHost implements HostLink {
  readonly id: ProcId;
  /** The address as the user gave it, which may be a URL. */
  readonly address: string;
  /** Resolves when the host has accepted this driver; rejects with the reason if it has not. */
  readonly ready: Promise<HostInfo>;
  readonly #runtime: ProcessRuntime;
  readonly target: HostAddress;
  readonly #access: HostAccess;
  readonly #calls: HostCalls;
  readonly #gateway: HostGateway | undefined;
  readonly #agent: HostAgentMesh;
  readonly #backends = new Map<ProcId, HostedBackend>();
  #lostCause: FailureCause | undefined;
  /** The error of the last failed attempt to reach the host. */
  #lastDialError: Error | undefined;
  /** Whether the driver leaves the host. Then no further attempt is made. */
  #isLeaving = false;
  #info: HostInfo | undefined;
  #beats: OwnBeats | undefined;

  /**
   * @param gateway the host through which this one is reached; undefined if this driver reaches it itself
   * @param id the id of the agent on the host: a new one, or that of a driver whose place this process takes
   */
  constructor(
    runtime: ProcessRuntime,
    target: HostAddress,
    access: HostAccess,
    calls = noCalls,
    gateway?: HostGateway,
    id = runtime.platform.random.id(),
  ) {
    this.id = id;
    this.#calls = calls;
    this.#gateway = gateway;
    this.address = target.name ?? formatNetworkAddress(target.address);
    this.#runtime = runtime;
    this.target = target;
    this.#access = access;
    const record = new MeshRecord({ id: AGENT_MESH, name: `host ${this.address}`, owner: this.id, extent: {} });
    record.setLocation(0, { proc: this.id, location: this.location });
    this.#agent = makeMesh(new MeshView(record, hostAgentDescriptor, wholeRegion({}))) as unknown as HostAgentMesh;
    runtime.attachedHosts.set(this.id, this);
    this.ready = this.#attach();
    this.ready.catch(() => {});
  }

  /** The registry on the host, if it differs from the one here. */
  get registry(): string | undefined {
    return this.#access.registry;
  }

  /** The location of the host's procs in references. */
  get location(): Location {
    return formatHostedLocation({ agent: this.id, address: this.target.address, ancestors: [] });
  }

  /**
   * Starts a process on the host that takes orders from `from`. Failures are reported through its exit.
   * @param code the code that the process runs, which may have to be brought to the host first
   */
  start(from: Proc, request: Omit<StartRequest, "isolation">, code?: MeshCode): HostedBackend {
    const { identity, label, stdio } = request;
    const { id: proc, rank } = identity;
    const place = codeOn(code, this.id);
    const send = (found: CodePlace | undefined) => {
      const order = this.#orderFor(request, found);
      return this.ask((agent) => agent.start.callOne(order));
    };
    const started =
      place instanceof Promise
        ? Promise.all([place, this.ready]).then(([found]) => send(found))
        : this.ready.then(() => send(place));
    // The host prints the lines already.
    const shown = stdio === "prefix" && this.#access.isSameLog ? () => {} : stdio;
    return this.#backendOf(from, { proc, label, rank, stdio: shown }, started);
  }

  #orderFor(
    {
      identity,
      label,
      env: given,
      execArgv: options,
      inspect,
      cpus,
      cwd: folder,
      stdio,
    }: Omit<StartRequest, "isolation">,
    place: CodePlace | undefined,
  ): StartOrder {
    const { id: proc, parent, rank } = identity;
    const start = { env: given, cwd: folder, execArgv: options ?? this.#runtime.platform.execArgv };
    const { env, execArgv, cwd } = startIn(place, start);
    const set = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return {
      proc,
      maker: parent,
      rank,
      extent: Object.entries(identity.extent).map(([name, size]) => ({ name, size })),
      location: this.location,
      label,
      env: Object.fromEntries(set),
      unset: Object.keys(env).filter((name) => env[name] === undefined),
      execArgv: [...withInspector(execArgv, inspect)],
      ...(cpus === undefined ? {} : { cpus }),
      output: stdio !== "ignore",
      ...(cwd === undefined ? {} : { cwd }),
    };
  }

  /** Takes over a process that runs on the host. Its parent is `from`, in place of the process that has started it. */
  adopt(from: Proc, process: HostedProcess): HostedBackend {
    return this.#backendOf(
      from,
      process,
      this.ready.then(() => {}),
    );
  }

  /** @param started resolves when the process can be reached */
  #backendOf(from: Proc, { proc, label, rank, stdio }: HostedProcess, started: Promise<void>): HostedBackend {
    const pipe = started.then(() => this.#pipeTo(from, proc));
    // Signals follow the order to start, even if the host takes long to accept this driver.
    const signal = (which: HostSignal) => {
      const send = () => {
        if (this.#lostCause === undefined) this.ask((agent) => agent.signal.broadcast(proc, which));
      };
      started.then(send, () => {});
    };
    const { keepAlive } = this.#runtime.platform;
    const backend = new HostedBackend({
      pipe,
      stdio,
      label,
      rank,
      keepAlive,
      signal,
      hostDescription: `on host ${this.address}`,
    });
    this.#backends.set(proc, backend);
    this.#runtime.hostedBackends.set(proc, backend);
    // The descendants of an ended process may still print. The host reports the end of the output.
    void Promise.all([backend.exited, backend.outputEnded]).then(() => {
      this.#backends.delete(proc);
      this.#runtime.hostedBackends.delete(proc);
    });
    if (this.#lostCause !== undefined) backend.reportLost("spawn", this.#lostCause);
    started.catch((error) =>
      backend.reportLost("spawn", failureCauseOf(this.#lostCause === undefined ? error : this.#lostError())),
    );
    return backend;
  }

  /** Connects to the process directly if it listens, and otherwise through the host's agent. */
  async #pipeTo(from: Proc, proc: ProcId): Promise<Pipe> {
    const isReachable = this.#isRemote && !this.isRouted;
    const { port } = isReachable ? await this.ask((agent) => agent.portOf.callOne(proc)) : {};
    const target = { ...this.#way, agent: this.id, address: this.target.address, proof: this.#access.proof };
    const direct = port === undefined ? undefined : await this.#runtime.directLinks.connect(proc, from, target, port);
    return direct ?? from.relayTo(proc, this.id, this.location);
  }

  async connect(from: Proc): Promise<Pipe> {
    const { proof, timeout } = this.#access;
    const attaches = from === this.#runtime.mainProc.proc;
    const target = { ...this.#way, address: this.#dialled, proof, agent: this.id, attaches };
    const { platform } = this.#runtime;
    let pause = firstPause;
    let limit = attaches ? Math.min(firstAttemptLimit, timeout) : timeout;
    for (;;) {
      try {
        const pipe = await connectToHost(platform, from, target, limit);
        if (attaches) this.#lastDialError = undefined;
        return pipe;
      } catch (error) {
        if (!attaches) throw error;
        this.#lastDialError = error as Error;
        if (!isTransient(error)) throw error;
      }
      // The random part keeps processes from retrying at the same time.
      const wait = pause * (0.5 + platform.random.number() / 2);
      await new Promise<void>((resolve) => platform.clock.after(wait, resolve));
      if (this.#isLeaving || this.#lostCause !== undefined) throw this.#lastDialError;
      pause = Math.min(2 * pause, longestPause);
      // A slow host gets more time at the next attempt.
      limit = Math.min(2 * limit, timeout);
    }
  }

  /** Whether the host is gone, was left, or could not be attached. */
  get isLost(): boolean {
    return this.#lostCause !== undefined;
  }

  /** The wait for this host, if it was lost and may come back as another one. It resolves then, and rejects with the reason if it does not. */
  get comeback(): Promise<void> | undefined {
    return this.isLost ? this.#calls.waitFor(this) : undefined;
  }

  /** Sends to the agent of the host as the root of this program. */
  ask<T>(send: (agent: HostAgentMesh) => T): T {
    return runAsRoot(this.#runtime.mainProc.proc, () => send(this.#agent));
  }

  /**
   * Sends a beat, in place of the process that watches hosts for drivers. Resolves with whether the host has answered. Never
   * rejects.
   */
  async beat(): Promise<boolean> {
    if (this.#lostCause !== undefined) return false;
    const { silence } = this.#limits;
    return this.ask((agent) => agent.beat.with({ timeout: silence }).callOne()).then(
      () => true,
      () => false,
    );
  }

  markLost(reason: string): void {
    if (this.#lostCause !== undefined) return;
    this.#runtime.attachedHosts.delete(this.id);
    if (this.#access.readOnly) this.#beats?.stop();
    else this.#watcher.unwatch(this.id);
    this.#lostCause = { name: "HostEnd", message: `host ${this.address} is gone: ${reason}` };
    // Processes that end with the host find out whether it comes back.
    if (!this.#isLeaving) this.#calls.lost(this, this.#lostCause.message);
    const procs = [...this.#backends].flatMap(([proc, { hasExited }]) => (hasExited ? [] : [proc]));
    for (const backend of this.#backends.values()) backend.reportLost("process", this.#lostCause);
    this.#runtime.handleHostGone(this.id, this.#lostCause.message, procs);
  }

  /** Leaves the host to another process, which takes over the session and the processes of this driver. */
  giveUp(reason: string): void {
    if (this.#lostCause !== undefined) return;
    this.#isLeaving = true;
    this.#runtime.mainProc.proc.leavePeer(this.id, reason);
    this.markLost(reason);
  }

  /** Ends this driver's processes on the host, and disconnects. Never rejects. */
  async leave(reason: string): Promise<void> {
    if (this.#lostCause !== undefined) return;
    this.#isLeaving = true;
    await this.ready.then(() => this.ask((agent) => agent.leave.callOne(reason))).catch(() => {});
    this.markLost(reason);
  }

  /** Shuts the daemon of the host down. @throws Error if the host could not be told */
  async shutdown(reason: string): Promise<void> {
    await this.ready;
    if (this.#lostCause !== undefined) throw new Error(this.#lostCause.message);
    this.#isLeaving = true;
    try {
      await this.ask((agent) => agent.shutdown.callOne(reason));
    } catch (error) {
      // Another driver may have shut the host down first, which is what this driver wants.
      if (this.#lostCause === undefined) {
        this.#isLeaving = false;
        throw error;
      }
    }
    this.markLost(reason);
  }

  async #attach(): Promise<HostInfo> {
    const { keepAlive, timeout, readOnly } = this.#access;
    const procAgent = procAgentDescriptor.fingerprint;
    const agents = { hostAgent: hostAgentDescriptor.fingerprint, procAgent };
    const driver = driverName(this.#runtime.platform.pid);
    const terms = { viceroy: version, driver, ...agents, ...(this.#isRemote ? { keepAlive } : {}), readOnly };
    let info: HostInfo;
    try {
      info = await this.ask((agent) => agent.attach.with({ timeout }).callOne(terms));
      await this.#gateway?.ready;
    } catch (error) {
      throw this.#attachFailed(error);
    }
    for (const other of this.#runtime.attachedHosts.values()) {
      const isSame = other !== this && other.daemon === info.daemon;
      // The gateway may be one of the hosts, too.
      if (!isSame || this.isGateway || (other instanceof AttachedHost && other.isGateway)) continue;
      await this.ask((agent) => agent.leave.callOne("attached twice")).catch(() => {});
      throw this.#attachFailed(new Error(`it is the same host as ${other.address}, which is attached already`));
    }
    this.#info = info;
    this.#compareNode(info.node);
    // Another process cannot dial it. The gateway that is dialled gets the beats of this one.
    if (this.#isRemote && this.target.dial === undefined && this.#lostCause === undefined) this.#watch();
    return info;
  }

  /** Warns, once for each version, if the Node.js of the host may not know the options that this process passes on. */
  #compareNode(theirs: string): void {
    const { node: own, execArgv } = this.#runtime.platform;
    const doubtful = execArgv.filter((option) => option.startsWith("-") && !commonOptions.test(option));
    if (majorOf(theirs) === majorOf(own) || doubtful.length === 0 || comparedVersions.has(theirs)) return;
    comparedVersions.add(theirs);
    this.#runtime.platform.warn(
      `host ${this.address} has Node.js ${theirs.slice(1)}, and this process ${own.slice(1)}: processes there get the options of this ` +
        `process, ${doubtful.join(" ")}; if that version does not know them, pass others with the option execArgv`,
      "ViceroyNodeVersion",
    );
  }

  /**
   * Whether the host is reached over the network. Connections may then be cut and restored, so beats must show whether
   * the host is alive.
   */
  get #isRemote(): boolean {
    return this.target.address.kind !== "unix";
  }

  get isRouted(): boolean {
    return this.target.route !== undefined || this.target.dial !== undefined;
  }

  get through(): HostRoute | undefined {
    return this.#gateway?.route ?? this.#access.way;
  }

  /** Whether the host is attached only because this driver reaches others through it. */
  get isGateway(): boolean {
    return this.#access.role === "gateway";
  }

  /** The driver connects to the host and its processes in this way. Links to a gateway wait for as long as it may be silent. */
  get #way(): Pick<HostTarget, "through" | "absence"> {
    return { through: this.through, absence: this.isGateway ? this.#access.silence : undefined };
  }

  get #watcher(): HostWatcher {
    return this.#gateway?.watcher ?? hostWatcherOf(this.#runtime);
  }

  /** The address by which this driver reaches the host. */
  get #dialled(): NetworkAddress {
    return this.target.route ?? this.target.address;
  }

  /** The time limits of the beats of a driver that sends them itself. Behind a gateway, the driver may be absent for longer. */
  get #limits(): BeatLimits {
    const { silence, keepAlive } = this.#access;
    return { silence: this.#gateway === undefined ? silence : keepAlive, keepAlive };
  }

  #watch(): void {
    const { proof, silence, readOnly } = this.#access;
    if (readOnly) {
      this.#beats = new OwnBeats(this.#runtime.platform.clock, this, this.#limits);
      return;
    }
    const order = { host: this.id, address: formatNetworkAddress(this.#dialled), silence };
    // A gateway has credentials of its own.
    this.#watcher.watch(this.#gateway === undefined ? { ...order, proof } : order);
  }

  /** The random id of the daemon, the same for all drivers; undefined until it is known. */
  get daemon(): bigint | undefined {
    return this.#info?.daemon;
  }

  #attachFailed(error: unknown): Error {
    const isLate = error instanceof TimeoutError;
    const cause = this.#lastDialError ?? (isLate ? this.#timeoutError() : error);
    const tried = isLate && this.#lastDialError !== undefined ? `; tried for ${this.#access.timeout} ms` : "";
    const why = `${errorMessage(cause)}${tried}`;
    this.#lostCause ??= { name: "HostEnd", message: `cannot attach host ${this.address}: ${why}` };
    this.#runtime.attachedHosts.delete(this.id);
    return new Error(this.#lostCause.message, { cause });
  }

  #timeoutError(): Error {
    return new Error(`it did not accept this driver within ${this.#access.timeout} ms`);
  }

  #lostError(): Error {
    return new Error(this.#lostCause!.message);
  }
}
