/**
 * One driver's share of a host: the proc of its agent, the processes that it has had started, and their directory. Made when
 * the driver connects, and gone without a trace when the driver leaves or is gone: no two drivers share any of it.
 */
import {
  type HostInfo,
  type HostSignal,
  type HostTerms,
  hostAgentDescriptor,
  type ProcessOutput,
  type StartOrder,
} from "../../../generated/host-agent.js";
import { type HostProof, procAgentDescriptor } from "../../../generated/proc-agent.js";
import type { ActorClass } from "../../actor/reference/proc-hooks.js";
import { hex64, type ProcId } from "../../link/address.js";
import { formatNetworkAddress, type NetworkAddress } from "../../link/network-address.js";
import type { Pipe } from "../../link/pipe.js";
import type { ProcExit } from "../../proc/launch/proc-backend.js";
import type { Stdio } from "../../proc/launch/stdio.js";
import { ChildProc } from "../../proc/mesh/child-proc.js";
import type { ScopedPlatform } from "../../proc/platform/platform.js";
import { agentOf, runAsRoot } from "../../proc/proc-agents.js";
import { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { parseHostedLocation } from "../../proc/remote/hosted-location.js";
import { SilenceTimer } from "../../proc/remote/silence-timer.js";
import { makeExtent } from "../../shape/extent.js";
import { version } from "../../version.js";
import { HostAgent } from "./host-agent.js";
import { OutputQueue, type OutputReceiver } from "./output-queue.js";

export interface DriverSessionOptions {
  readonly universe: bigint;
  /** Of the agent: drawn by the driver. */
  readonly id: ProcId;
  readonly driver: ProcId;
}

/** The daemon, as its tenants see it. */
export interface SessionOwner {
  /** Random; the same for all drivers. */
  readonly id: bigint;
  readonly hostname: string;
  /** How processes of this host prove to others that they may speak to them. */
  readonly proof: HostProof;
  /** Where processes may listen that are reached by addresses of a kind; undefined: nowhere. */
  addressFor(kind: NetworkAddress["kind"]): NetworkAddress | undefined;
  /** The tenant has come to its end. */
  sessionEnded(tenant: DriverSession): void;
  /** Ends all tenants, and tells the others but not the one who asks. Resolves when nothing of them is left. */
  shutdown(reason: string, by: DriverSession): Promise<void>;
}

/** How long a driver that has connected may take to say what it wants, in ms. */
const attachLimitMs = 10_000;

export class DriverSession implements OutputReceiver {
  readonly id: ProcId;
  readonly driver: ProcId;
  readonly #platform: ScopedPlatform;
  readonly #owner: SessionOwner;
  readonly #runtime: ProcessRuntime;
  readonly #output: OutputQueue;
  /** Of processes that were asked for. */
  readonly #ports = new Map<ProcId, Promise<number | undefined>>();
  /** By what kind of address the driver reaches this host. */
  #addressKind: NetworkAddress["kind"] = "unix";
  #isAttached = false;
  #runDir: string | undefined;
  #ending: Promise<void> | undefined;
  #silence: SilenceTimer | undefined;

  /** @param platform of this tenant alone: what is started through it ends with it */
  constructor(platform: ScopedPlatform, { universe, id, driver }: DriverSessionOptions, landlord: SessionOwner) {
    this.id = id;
    this.driver = driver;
    this.#platform = platform;
    this.#owner = landlord;
    this.#output = new OutputQueue(platform.clock, this);
    const identity = { universe, id, parent: driver, rank: 0, extent: {}, runDir: "" };
    const actorClass = HostAgent as unknown as ActorClass;
    const agent = { descriptor: hostAgentDescriptor, actorClass, args: [this] };
    this.#runtime = new ProcessRuntime(platform, identity, (reason) => void this.abandon(reason), agent);
    platform.clock.after(attachLimitMs, () => {
      if (!this.#isAttached) void this.abandon("its driver has not said what it wants");
    });
  }

  /** A connection of the driver's tree to the agent. */
  accept(pipe: Pipe): void {
    this.#runtime.mainProc.proc.attach(pipe);
  }

  /** @throws Error if the driver's agents have other schemas: what one orders, the other would misread */
  attach(terms: HostTerms): HostInfo {
    const { pid, node } = this.#platform;
    const own = { hosts: hostAgentDescriptor.fingerprint, processes: procAgentDescriptor.fingerprint };
    checkAgentSchemas("hosts", terms.hostAgent, own.hosts, terms.viceroy);
    checkAgentSchemas("processes", terms.procAgent, own.processes, terms.viceroy);
    this.#isAttached = true;
    const { keepAlive } = terms;
    if (keepAlive !== undefined) {
      const over = () => void this.abandon(`its driver has not been heard of for ${keepAlive} ms`);
      // Who beats is a process that the driver starts now.
      this.#silence ??= new SilenceTimer(this.#platform.clock, keepAlive, over, attachLimitMs);
    }
    const { id, hostname } = this.#owner;
    return { daemon: id, pid, hostname, node, viceroy: version };
  }

  /** The driver's machine is there. @throws Error if this agent is none of a driver, or no more */
  beat(): void {
    if (!this.#isAttached || this.#ending !== undefined)
      throw new Error("it does not know this driver, or not any more");
    this.#silence?.reset();
  }

  /** The driver's machine knows that the driver has ended. */
  driverEnded(reason: string): void {
    this.#platform.clock.soon(() => void this.abandon(reason));
  }

  /** @throws Error if it cannot be started */
  start(order: StartOrder): void {
    if (!this.#isAttached) throw new Error("cannot start a process: the driver has not been let in");
    if (this.#ending !== undefined) throw new Error("cannot start a process: the host is being left");
    const { proc, rank, label, execArgv, cpus, output } = order;
    const extent = makeExtent(order.extent.map(({ name, size }) => [name, size]));
    this.#addressKind = parseHostedLocation(order.location)?.address.kind ?? "unix";
    const here = { launcher: this.id, host: order.location, runDir: this.#runDirectory() };
    const identity = { universe: this.#runtime.universe, id: proc, parent: order.maker, rank, extent, ...here };
    const env: Record<string, string | undefined> = { ...order.env };
    for (const name of order.unset) env[name] = undefined;
    const stdio: Stdio = output
      ? (line, { stream }) => this.#output.addLine(proc, stream === "stderr", line)
      : "ignore";
    const request = { isolation: "process" as const, identity, label, env, execArgv, cpus, stdio };
    const body = this.#platform.start(request);
    const { clock } = this.#platform;
    this.#runtime.mainProc.proc.attach(body.pipe, proc);
    const member = new ChildProc({ id: proc, parent: this.id, rank, location: "", backend: body, clock }, (_, end) =>
      this.#childExited(proc, end),
    );
    this.#runtime.children.set(proc, member);
    void body.outputEnded.then(() => this.#output.endProcess(proc));
    runAsRoot(this.#runtime.mainProc.proc, () => agentOf(proc).prove.broadcast(this.#owner.proof));
  }

  /** At which port a process takes links itself. Undefined: at none, or there is no such process. Never rejects. */
  portOf(proc: ProcId): Promise<number | undefined> {
    const known = this.#ports.get(proc);
    if (known !== undefined) return known;
    const address = this.#owner.addressFor(this.#addressKind);
    if (address === undefined || !this.#runtime.children.has(proc)) return Promise.resolve(undefined);
    const opened = runAsRoot(this.#runtime.mainProc.proc, () =>
      agentOf(proc).openPort.callOne(formatNetworkAddress(address)),
    );
    const port = opened.then(undefined, () => undefined);
    this.#ports.set(proc, port);
    return port;
  }

  signal(proc: ProcId, signal: HostSignal): void {
    const member = this.#runtime.children.get(proc);
    if (signal === "terminate") member?.backend.terminate();
    else member?.backend.kill();
  }

  /** Ends all processes. Resolves when nothing of them is left. Idempotent, never rejects. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  /** Says farewell, once what has been answered is on its way. */
  closeSoon(reason: string): void {
    this.#platform.clock.soon(() => {
      this.#runtime.mainProc.proc.close(reason);
      this.#owner.sessionEnded(this);
    });
  }

  /** The daemon ends, as this driver has asked. */
  async shutdown(reason: string): Promise<void> {
    await this.#owner.shutdown(reason, this);
  }

  /** The daemon ends, whatever this driver thinks of it. */
  async evict(reason: string): Promise<void> {
    if (this.#isAttached) this.#tellDriver((agent) => agent.hostLeft.broadcast(this.id, reason));
    await this.end();
  }

  receiveOutput(output: ProcessOutput): PromiseLike<unknown> {
    return this.#tellDriver((agent) => agent.processPrinted.broadcast(output));
  }

  receiveEnd(proc: ProcId): void {
    this.#tellDriver((agent) => agent.processFinished.broadcast(proc));
  }

  #childExited(proc: ProcId, { kind, cause, clean = false }: ProcExit): void {
    this.#runtime.children.delete(proc);
    this.#ports.delete(proc);
    this.#runtime.mainProc.proc.peerDown(proc, cause.message);
    this.#tellDriver((agent) => agent.processEnded.broadcast({ proc, ran: kind === "process", cause, clean }));
  }

  /** The driver is gone, or nobody can tell it anything any more. */
  async abandon(reason: string): Promise<void> {
    this.#output.close();
    await this.end();
    // A link that waits for another connection would wait on.
    this.#runtime.mainProc.proc.peerDown(this.driver, reason);
    this.#runtime.mainProc.proc.close(reason);
    this.#owner.sessionEnded(this);
  }

  async #end(): Promise<void> {
    this.#silence?.stop();
    const bodies = [...this.#runtime.children.values()].map(({ backend: body }) => body);
    for (const body of bodies) body.terminate();
    this.#platform.endAll();
    await Promise.all(bodies.map(({ exited: ended }) => ended));
    await Promise.all(bodies.map(({ outputEnded: finished }) => finished));
  }

  #runDirectory(): string {
    if (this.#runDir === undefined) {
      this.#runDir = this.#platform.runDirOf(this.id);
      this.#platform.makeRunDir(this.#runDir);
    }
    return this.#runDir;
  }

  #tellDriver<T>(send: (agent: ReturnType<typeof agentOf>) => T): T {
    return runAsRoot(this.#runtime.mainProc.proc, () => send(agentOf(this.driver)));
  }
}

function checkAgentSchemas(what: string, driver: bigint, own: bigint, theirVersion: string): void {
  if (driver === own) return;
  throw new Error(
    `the agents of ${what} have another schema here, Viceroy ${version}, than at the driver, Viceroy ${theirVersion}; ` +
      "install versions on both whose agents have the same schemas, as two releases of one minor version have, " +
      `got fingerprints ${hex64(own)} and ${hex64(driver)}`,
  );
}
