/**
 * One host that was attached, as the driver sees it: the way to its agent, the processes that were started there, and its end.
 * Which hosts belong together is a mesh's concern.
 */
import {
  type HostAgentMesh,
  type HostInfo,
  hostAgentDescriptor,
  type StartOrder,
} from "../../../generated/host-agent.js";
import { type HostProof, procAgentDescriptor } from "../../../generated/proc-agent.js";
import { TimeoutError } from "../../actor/errors.js";
import { makeMesh } from "../../actor/mesh/actor-mesh.js";
import type { Proc } from "../../actor/proc/proc.js";
import { MeshRecord } from "../../actor/reference/mesh-record.js";
import { MeshView } from "../../actor/reference/mesh-view.js";
import { AGENT_MESH, type Location, type ProcId } from "../../link/address.js";
import { formatNetworkAddress, type NetworkAddress } from "../../link/network-address.js";
import type { Pipe } from "../../link/pipe.js";
import type { StartRequest } from "../../proc/platform/platform.js";
import { runAsRoot } from "../../proc/proc-agents.js";
import type { HostLink, ProcessRuntime } from "../../proc/process/process-runtime.js";
import { connectToHost, isTransient } from "../../proc/remote/host-connection.js";
import { HostedBackend } from "../../proc/remote/hosted-backend.js";
import { formatHostedLocation } from "../../proc/remote/hosted-location.js";
import { wholeRegion } from "../../shape/index.js";
import { type FailureCause, failureCauseOf } from "../../supervise/failure-cause.js";
import { version } from "../../version.js";
import { hostWatcherOf } from "./host-watcher.js";

/** Between attempts to reach a host, in ms: the first pause, each further one twice as long, up to the longest, less some at random. */
const firstPause = 50;
const longestPause = 1000;
/** The first attempt to connect may take so long, in ms, the next ones twice what the one before could: connections can fall mute. */
const firstAttemptLimit = 2000;

/** How a driver gets to its hosts and what it asks of them. */
export interface HostAccess {
  /** The generated registry that processes there take their actors from; undefined: at the same place as here. */
  readonly registry: string | undefined;
  readonly proof: HostProof;
  /** How long a host may take to be there and to let this driver in, in ms. */
  readonly timeout: number;
  /** How long hosts wait for a driver that they hear nothing of, in ms. */
  readonly keepAlive: number;
  /** How long a host may say nothing before it counts as gone, in ms. */
  readonly silence: number;
}

export class AttachedHost implements HostLink {
  readonly id: ProcId;
  /** As it was given. */
  readonly address: string;
  /** Resolves when the host has let this driver in; rejects with why it has not. */
  readonly ready: Promise<HostInfo>;
  readonly #runtime: ProcessRuntime;
  readonly #target: NetworkAddress;
  readonly #access: HostAccess;
  readonly #agent: HostAgentMesh;
  readonly #backends = new Map<ProcId, HostedBackend>();
  #lostCause: FailureCause | undefined;
  /** Why it could not be reached last. */
  #lastDialError: Error | undefined;
  /** It is not tried again. */
  #isLeaving = false;
  #info: HostInfo | undefined;

  constructor(local: ProcessRuntime, target: NetworkAddress, access: HostAccess) {
    this.id = local.platform.random.id();
    this.address = formatNetworkAddress(target);
    this.#runtime = local;
    this.#target = target;
    this.#access = access;
    const record = new MeshRecord({ id: AGENT_MESH, name: `host ${this.address}`, owner: this.id, extent: {} });
    record.setLocation(0, { proc: this.id, location: this.location });
    this.#agent = makeMesh(new MeshView(record, hostAgentDescriptor, wholeRegion({}))) as unknown as HostAgentMesh;
    local.attachedHosts.set(this.id, this);
    this.ready = this.#attach();
    this.ready.catch(() => {});
  }

  /** The place of the registry there, where it is another than here. */
  get registry(): string | undefined {
    return this.#access.registry;
  }

  /** Of its procs, in references. */
  get location(): Location {
    return formatHostedLocation({ agent: this.id, address: this.#target, ancestors: [] });
  }

  /** Starts a process there that takes orders of `from`. What goes wrong with it is told by its end. */
  start(from: Proc, { identity, label, env, execArgv, cpus, stdio }: Omit<StartRequest, "isolation">): HostedBackend {
    const { id: proc, parent: maker, rank } = identity;
    const set = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const order: StartOrder = {
      proc,
      maker,
      rank,
      extent: Object.entries(identity.extent).map(([name, size]) => ({ name, size })),
      location: this.location,
      label,
      env: Object.fromEntries(set),
      unset: Object.keys(env).filter((name) => env[name] === undefined),
      execArgv: [...(execArgv ?? this.#runtime.platform.execArgv)],
      ...(cpus === undefined ? {} : { cpus }),
      output: stdio !== "ignore",
    };
    const started = this.ready.then(() => this.#ask((agent) => agent.start.callOne(order)));
    const pipe = started.then(() => this.#pipeTo(from, proc));
    // Behind the order to start it, however long the host takes to let this driver in.
    const signal = (which: "terminate" | "kill") => {
      const send = () => {
        if (this.#lostCause === undefined) this.#ask((agent) => agent.signal.broadcast(proc, which));
      };
      started.then(send, () => {});
    };
    const { keepAlive } = this.#runtime.platform;
    const body = new HostedBackend({
      pipe,
      stdio,
      label,
      rank,
      keepAlive,
      signal,
      hostDescription: `on host ${this.address}`,
    });
    this.#backends.set(proc, body);
    this.#runtime.hostedBackends.set(proc, body);
    // What is over may still have something to print, held by what it has started: the host tells when that is all.
    void Promise.all([body.exited, body.outputEnded]).then(() => {
      this.#backends.delete(proc);
      this.#runtime.hostedBackends.delete(proc);
    });
    if (this.#lostCause !== undefined) body.reportLost("spawn", this.#lostCause);
    started.catch((error) =>
      body.reportLost("spawn", failureCauseOf(this.#lostCause === undefined ? error : this.#lostError())),
    );
    return body;
  }

  get proof(): HostProof {
    return this.#access.proof;
  }

  /** To the process itself where it listens, otherwise through the host's agent. */
  async #pipeTo(from: Proc, proc: ProcId): Promise<Pipe> {
    const { port } = this.#isRemote ? await this.#ask((agent) => agent.portOf.callOne(proc)) : {};
    const target = { agent: this.id, address: this.#target, proof: this.proof };
    const direct = port === undefined ? undefined : await this.#runtime.directLinks.connect(proc, from, target, port);
    return direct ?? from.relayTo(proc, this.id, this.location);
  }

  async connect(from: Proc): Promise<Pipe> {
    const { proof, timeout } = this.#access;
    const attaches = from === this.#runtime.mainProc.proc;
    const target = { address: this.#target, proof, agent: this.id, attaches };
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
      // Not all at the same time that wait for the same host.
      const wait = pause * (0.5 + platform.random.number() / 2);
      await new Promise<void>((resolve) => platform.clock.after(wait, resolve));
      if (this.#isLeaving || this.#lostCause !== undefined) throw this.#lastDialError;
      pause = Math.min(2 * pause, longestPause);
      // A host that is slow gets more time.
      limit = Math.min(2 * limit, timeout);
    }
  }

  markLost(reason: string): void {
    if (this.#lostCause !== undefined) return;
    this.#runtime.attachedHosts.delete(this.id);
    hostWatcherOf(this.#runtime).unwatch(this.id);
    this.#lostCause = { name: "HostEnd", message: `host ${this.address} is gone: ${reason}` };
    const procs = [...this.#backends].flatMap(([proc, { hasExited: over }]) => (over ? [] : [proc]));
    for (const body of this.#backends.values()) body.reportLost("process", this.#lostCause);
    this.#runtime.handleHostGone(this.id, this.#lostCause.message, procs);
  }

  /** Ends this driver's processes there, and the tie. Never rejects. */
  async leave(reason: string): Promise<void> {
    if (this.#lostCause !== undefined) return;
    this.#isLeaving = true;
    await this.ready.then(() => this.#ask((agent) => agent.leave.callOne(reason))).catch(() => {});
    this.markLost(reason);
  }

  /** Ends the daemon there. @throws Error if it could not be told */
  async shutdown(reason: string): Promise<void> {
    await this.ready;
    if (this.#lostCause !== undefined) throw new Error(this.#lostCause.message);
    try {
      await this.#ask((agent) => agent.shutdown.callOne(reason));
    } catch (error) {
      // Another driver may have asked for it, too: it is what was wanted.
      if (this.#lostCause === undefined) throw error;
    }
    this.markLost(reason);
  }

  async #attach(): Promise<HostInfo> {
    const { keepAlive, timeout } = this.#access;
    const procAgent = procAgentDescriptor.fingerprint;
    const agents = { hostAgent: hostAgentDescriptor.fingerprint, procAgent };
    const terms = { viceroy: version, ...agents, ...(this.#isRemote ? { keepAlive } : {}) };
    let info: HostInfo;
    try {
      info = await this.#ask((agent) => agent.attach.with({ timeout }).callOne(terms));
    } catch (error) {
      throw this.#attachFailed(error);
    }
    for (const other of this.#runtime.attachedHosts.values()) {
      if (other === this || other.daemon !== info.daemon) continue;
      await this.#ask((agent) => agent.leave.callOne("attached twice")).catch(() => {});
      throw this.#attachFailed(new Error(`it is the same host as ${other.address}, which is attached already`));
    }
    this.#info = info;
    if (this.#isRemote && this.#lostCause === undefined) this.#watch();
    return info;
  }

  /** Its connections may be cut, and come back: whether it is there must be asked. */
  get #isRemote(): boolean {
    return this.#target.kind !== "unix";
  }

  #watch(): void {
    const { proof, silence } = this.#access;
    hostWatcherOf(this.#runtime).watch({ host: this.id, address: this.address, proof, silence });
  }

  /** Random, the same for all drivers; undefined as long as it is unknown. */
  get daemon(): bigint | undefined {
    return this.#info?.daemon;
  }

  #attachFailed(error: unknown): Error {
    const isLate = error instanceof TimeoutError;
    const cause = this.#lastDialError ?? (isLate ? this.#timeoutError() : error);
    const tried = isLate && this.#lastDialError !== undefined ? `; tried for ${this.#access.timeout} ms` : "";
    const why = `${cause instanceof Error ? cause.message : String(cause)}${tried}`;
    this.#lostCause ??= { name: "HostEnd", message: `cannot attach host ${this.address}: ${why}` };
    this.#runtime.attachedHosts.delete(this.id);
    return new Error(this.#lostCause.message, { cause });
  }

  #timeoutError(): Error {
    return new Error(`it did not let this driver in within ${this.#access.timeout} ms`);
  }

  #lostError(): Error {
    return new Error(this.#lostCause!.message);
  }

  #ask<T>(send: (agent: HostAgentMesh) => T): T {
    return runAsRoot(this.#runtime.mainProc.proc, () => send(this.#agent));
  }
}
