/**
 * The part of a host that belongs to one driver: the proc of its agent, the processes that were started for it, and
 * their directory. The session is created when the driver connects and ends completely when the driver leaves or is
 * gone. Drivers share no part of their sessions.
 */
import {
  type HostInfo,
  type HostSignal,
  type HostTerms,
  type HostUse,
  hostAgentDescriptor,
  type SeenDriver,
  type StartOrder,
} from "../../../generated/host-agent.js";
import { type HostProof, type ProcessOutput, procAgentDescriptor } from "../../../generated/proc-agent.js";
import type { ActorClass } from "../../actor/reference/actor-request.js";
import { formatId, type ProcId } from "../../link/address.js";
import { formatNetworkAddress, type NetworkAddress } from "../../link/transport/network-address.js";
import type { Pipe } from "../../link/transport/pipe.js";
import type { PeerIdentity } from "../../link/transport/tls/identity.js";
import type { ProcExit } from "../../proc/launch/proc-backend.js";
import type { Stdio } from "../../proc/launch/stdio.js";
import type { ScopedPlatform } from "../../proc/platform/platform.js";
import { agentOf, runAsRoot } from "../../proc/proc-agents.js";
import { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { parseHostedLocation } from "../../proc/remote/hosted-location.js";
import { SilenceTimer } from "../../proc/remote/silence-timer.js";
import { settlesWithin } from "../../proc/time-limit.js";
import { makeExtent } from "../../shape/extent.js";
import { version } from "../../version.js";
import { objectsOfProcess } from "../objects/objects-of-process.js";
import type { Controllers } from "./controllers.js";
import { type DriverOrigin, describeDriver } from "./driver-origin.js";
import { type DriverRequests, HostAgent } from "./host-agent.js";
import { gpuVariables } from "./host-gpus.js";
import { MessageHold } from "./message-hold.js";
import { OutputQueue, type OutputReceiver } from "./output-queue.js";
import { PublicationRelay } from "./publication-relay.js";
import type { Publications } from "./publications.js";
import { type ReadOnlyReason, readOnlyByCertificate, readOnlyByOption } from "./read-only.js";
import { type Machine, SessionCommands } from "./session-commands.js";
import { WatchingProcesses } from "./watching-processes.js";

export interface DriverSessionOptions {
  readonly universe: bigint;
  /** The id of the agent, chosen by the driver. */
  readonly id: ProcId;
  readonly driver: ProcId;
  /** The identity of the driver in the job of this host, if both have one. */
  readonly identity?: PeerIdentity | undefined;
}

/** The daemon as its sessions see it. */
export interface SessionOwner {
  /** A random id; the same for all drivers. */
  readonly id: bigint;
  readonly hostname: string;
  /** The credentials that processes of this host present to others. */
  readonly proof: HostProof;
  /** Gets each line that a process prints, marked with the name of the process, if the host prints them too. */
  readonly print: ((line: string) => void) | undefined;
  /** The environment that lists the GPUs that a job has been given; undefined if processes are given none. */
  readonly gpuEnv: NodeJS.ProcessEnv | undefined;
  /** Undefined where there is no real machine. */
  readonly machine: Machine | undefined;
  /** The meshes that the drivers have published. */
  readonly publications: Publications<PublicationRelay>;
  /** The controllers that have been started on this host. */
  readonly controllers: Controllers;
  /**
   * Returns an address at which processes may listen that are reached by addresses of this kind; undefined if there is
   * none.
   */
  addressFor(kind: NetworkAddress["kind"]): NetworkAddress | undefined;
  /** Describes the use of the host by all its drivers. */
  describe(): HostUse;
  /** Writes a line to the log of the host. */
  audit(line: string): void;
  /** Removes a session that has ended. */
  sessionEnded(session: DriverSession): void;
  /**
   * Ends all sessions, and tells their drivers, except the driver that asks. Resolves when all processes of the
   * sessions have ended.
   */
  shutdown(reason: string, by: DriverSession): Promise<void>;
}

/** Time limit in ms for a driver to attach after it has connected. */
const attachLimitMs = 10_000;

/** Time limit in ms for processes to end by themselves after the driver has ended. */
const farewellLimit = 500;

export class DriverSession implements OutputReceiver, DriverRequests {
  readonly id: ProcId;
  readonly driver: ProcId;
  /** The identity of the driver in the job of this host, if both have one. */
  readonly identity: PeerIdentity | undefined;
  /** Passes messages to and from other drivers. */
  readonly relay: PublicationRelay;
  #origin: DriverOrigin = {};
  readonly #platform: ScopedPlatform;
  readonly #owner: SessionOwner;
  readonly #runtime: ProcessRuntime;
  readonly #output: OutputQueue;
  /** The ports of processes for which one was requested. */
  readonly #hold: MessageHold;
  readonly #ports = new Map<ProcId, Promise<number | undefined>>();
  /** The names of the processes that have not ended. */
  readonly #labels = new Map<ProcId, string>();
  /** The kind of address by which the driver reaches this host. */
  #addressKind: NetworkAddress["kind"] = "unix";
  readonly #commands: SessionCommands | undefined;
  #isAttached = false;
  /** The description of the driver in the log of the host; undefined until it has attached. */
  #who: string | undefined;
  /** The time at which the driver has attached, in ms since 1970. */
  #attachedAt = 0;
  #readOnly: ReadOnlyReason | undefined;
  #runDir: string | undefined;
  #ending: Promise<void> | undefined;
  #silence: SilenceTimer | undefined;
  readonly #watching: WatchingProcesses;

  /** @param platform a platform for this session only: everything that is started through it ends with the session */
  constructor(platform: ScopedPlatform, { universe, id, driver, identity }: DriverSessionOptions, owner: SessionOwner) {
    this.id = id;
    this.driver = driver;
    this.identity = identity;
    this.#readOnly = readOnlyByCertificate(identity);
    this.#platform = platform;
    this.#owner = owner;
    if (owner.machine !== undefined) this.#commands = new SessionCommands(owner.machine);
    this.#output = new OutputQueue(platform.clock, this);
    const { clock } = platform;
    const over = (limit: number) => void this.abandon(`no controller has taken its driver's place within ${limit} ms`);
    const hold = new MessageHold(clock, over);
    this.#hold = hold;
    this.#watching = new WatchingProcesses(clock);
    const sendToDriver = <T>(send: (to: ReturnType<typeof agentOf>) => T) => this.#sendToDriver(send);
    this.relay = new PublicationRelay({ publications: owner.publications, clock, agent: id, sendToDriver, hold });
    const own = { universe, id, parent: driver, rank: 0, extent: {}, runDir: "" };
    const actorClass = HostAgent as unknown as ActorClass;
    const agent = { descriptor: hostAgentDescriptor, actorClass, args: [this] };
    this.#runtime = new ProcessRuntime(platform, own, (reason) => void this.abandon(reason), agent);
    platform.clock.after(attachLimitMs, () => {
      if (!this.#isAttached) void this.abandon("its driver did not attach in time");
    });
  }

  /** Takes a connection of the driver's process tree to the agent. */
  accept(pipe: Pipe, from: ProcId, origin: DriverOrigin): void {
    if (from === this.driver) this.#origin = origin;
    const { proc } = this.#runtime.mainProc;
    // A controller has the identity of the driver, whose connection may still be closing.
    if (from === this.driver && this.#hold.opened !== undefined) proc.leavePeer(from, "a controller takes its place");
    proc.attach(pipe);
  }

  get readOnly(): ReadOnlyReason | undefined {
    return this.#readOnly;
  }

  /** The driver, as others see it; undefined until it has attached, and after it has left. */
  get seen(): SeenDriver | undefined {
    if (this.#who === undefined) return undefined;
    const processes = [...this.#runtime.children.values()].flatMap(({ id, rank, backend: { pid } }) =>
      pid === undefined ? [] : [{ pid, rank, label: this.#labels.get(id) ?? "" }],
    );
    const readOnly = this.#readOnly !== undefined;
    const objects = processes.flatMap(({ pid }) => objectsOfProcess(pid));
    return {
      ...{ description: this.#who, readOnly, attachedAt: BigInt(this.#attachedAt), processes },
      ...(objects.length === 0 ? {} : { objects }),
    };
  }

  describe(): HostUse {
    return this.#owner.describe();
  }

  get controllers(): Controllers {
    return this.#owner.controllers;
  }

  get processes(): readonly ProcId[] {
    return [...this.#runtime.children.keys()];
  }

  hold(limit: number): void {
    this.#hold.hold(limit);
  }

  resume(publisher: string | undefined): void {
    if (publisher !== undefined) this.relay.renamePublisher(publisher);
    this.#hold.resume();
  }

  /** @throws Error if the agents of the driver have other schemas: each side would misread the messages of the other */
  attach(terms: HostTerms): HostInfo {
    const { pid, node } = this.#platform;
    const own = { hosts: hostAgentDescriptor.fingerprint, processes: procAgentDescriptor.fingerprint };
    checkAgentSchemas("hosts", terms.hostAgent, own.hosts, terms.viceroy);
    checkAgentSchemas("processes", terms.procAgent, own.processes, terms.viceroy);
    this.#isAttached = true;
    // A driver gives its rights up for the whole session.
    if (terms.readOnly === true) this.#readOnly ??= readOnlyByOption;
    this.#who = describeDriver(terms, this.#origin);
    this.#attachedAt = this.#platform.clock.epochMs();
    this.#owner.audit(`attached${this.#readOnly === undefined ? "" : " read-only"}: ${this.#who}`);
    const { keepAlive } = terms;
    if (keepAlive !== undefined) {
      const over = () => void this.abandon(`its driver has sent no beat for ${keepAlive} ms`);
      // A controller that takes the place of the driver may wait for another time.
      this.#silence?.stop();
      // The beats come from a process that the driver starts only now, so the first one may take longer.
      this.#silence = new SilenceTimer(this.#platform.clock, keepAlive, over, attachLimitMs);
    }
    const { id, hostname } = this.#owner;
    return { daemon: id, pid, hostname, node, viceroy: version };
  }

  /**
   * Records that the driver's machine is reachable.
   * @param from the process that watches this host for the driver
   * @throws Error if no driver has attached, or the session is ending
   */
  beat(from: ProcId): void {
    if (!this.#isAttached || this.#ending !== undefined) throw new Error("this host has no session with the driver");
    this.#watching.beat(from);
    this.#silence?.reset();
  }

  /**
   * Ends the session because the driver has ended, unless another process still watches this host for the driver: the
   * driver has left the gateway that reports it.
   */
  driverEnded(reason: string, from: ProcId): void {
    if (this.#watching.leave(from)) return;
    this.#platform.clock.nextTurn(() => void this.abandon(reason));
  }

  /** @throws Error if the driver has not attached, or the session is ending */
  start(order: StartOrder): void {
    if (!this.#isAttached) throw new Error("cannot start a process: the driver has not attached");
    if (this.#ending !== undefined) throw new Error("cannot start a process: the driver is leaving the host");
    const { proc, rank, label, execArgv, cpus, cwd, output } = order;
    const extent = makeExtent(order.extent.map(({ name, size }) => [name, size]));
    this.#addressKind = parseHostedLocation(order.location)?.address.kind ?? "unix";
    const here = { launcher: this.id, host: order.location, runDir: this.#runDirectory() };
    const identity = { universe: this.#runtime.universe, id: proc, parent: order.maker, rank, extent, ...here };
    const { gpuEnv } = this.#owner;
    const gpu = gpuEnv === undefined ? {} : gpuVariables(extent, rank, gpuEnv, order.env);
    const env: Record<string, string | undefined> = { ...order.env, ...gpu };
    for (const name of order.unset) env[name] = undefined;
    const { print } = this.#owner;
    const stdio: Stdio = output
      ? (line, { stream }) => {
          print?.(`[${label}] ${line}`);
          this.#output.addLine(proc, stream === "stderr", line);
        }
      : "ignore";
    const request = { isolation: "process" as const, identity, label, env, execArgv, cpus, cwd, stdio };
    const backend = this.#platform.start(request);
    this.#labels.set(proc, label);
    this.#runtime.addChild(this.#runtime.mainProc.proc, { id: proc, rank, location: "", backend }, (_, exit) =>
      this.#childExited(proc, exit),
    );
    void backend.outputEnded.then(() => this.#output.endProcess(proc));
    runAsRoot(this.#runtime.mainProc.proc, () => agentOf(proc).prove.broadcast(this.#proofForProcesses));
  }

  /** The credentials of the host, and the key of the driver, so that processes accept no links of other drivers. */
  get #proofForProcesses(): HostProof {
    const { proof } = this.#owner;
    return this.identity === undefined ? proof : { ...proof, driverKey: this.identity.key };
  }

  /**
   * Returns the port at which a process accepts links itself; undefined if it accepts none or does not exist. Never
   * rejects.
   */
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
    const child = this.#runtime.children.get(proc);
    if (signal === "terminate") child?.backend.terminate();
    else child?.backend.kill();
  }

  /** The commands of the driver. @throws Error if the driver has not attached, or the session is ending */
  get commands(): SessionCommands {
    if (this.#isAttached && this.#ending === undefined && this.#commands !== undefined) return this.#commands;
    throw new Error("cannot run a command: the driver is not attached to the host");
  }

  endCommand(id: bigint, grace: number): void {
    this.#commands?.end(id, grace);
  }

  /** Ends all processes. Resolves when they have ended and their output has been read. Idempotent, never rejects. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  /** Closes the links and removes the session, after the answers of this turn have been sent. */
  closeSoon(reason: string): void {
    this.#platform.clock.nextTurn(() => {
      this.#close(reason);
    });
  }

  /** Shuts the daemon down, on request of this driver. */
  async shutdown(reason: string): Promise<void> {
    await this.#owner.shutdown(reason, this);
  }

  /** Ends the session because the daemon ends, and tells the driver. */
  async evict(reason: string): Promise<void> {
    if (this.#isAttached) this.#sendToDriver((agent) => agent.hostLeft.broadcast(this.id, reason));
    await this.end();
  }

  receiveOutput(output: ProcessOutput): PromiseLike<unknown> {
    return this.#tellDriver((agent) => agent.processPrinted.broadcast(output));
  }

  receiveEnd(proc: ProcId): void {
    this.#tellDriver((agent) => agent.processFinished.broadcast(proc));
  }

  #childExited(proc: ProcId, { kind, cause, clean = false }: ProcExit): void {
    this.#ports.delete(proc);
    this.#labels.delete(proc);
    this.#tellDriver((agent) => agent.processEnded.broadcast({ proc, ran: kind === "process", cause, clean }));
  }

  /** Ends the session without its driver, because the driver is gone or cannot be told. */
  async abandon(reason: string): Promise<void> {
    this.#output.close();
    this.#ending ??= this.#endWithDriver(reason);
    await this.#ending;
    // A link that waits for a new connection would otherwise keep waiting.
    this.#runtime.mainProc.proc.peerDown(this.driver, reason);
    this.#close(reason);
  }

  #close(reason: string): void {
    this.#runtime.mainProc.proc.close(reason);
    this.#owner.sessionEnded(this);
    if (this.#who !== undefined) this.#owner.audit(`left: ${this.#who}: ${reason}`);
    this.#who = undefined;
  }

  /** Lets the processes here end because the driver has ended. One of them may watch other hosts for it, and tells them. Never rejects. */
  async #endWithDriver(reason: string): Promise<void> {
    const { children, mainProc } = this.#runtime;
    runAsRoot(mainProc.proc, () => {
      for (const id of children.keys()) agentOf(id).driverEnded.broadcast(reason);
    });
    const ended = Promise.all([...children.values()].map(({ backend }) => backend.exited));
    await settlesWithin(this.#platform.clock, farewellLimit, ended);
    await this.#end();
  }

  async #end(): Promise<void> {
    this.#silence?.stop();
    this.relay.end();
    this.#hold.resume();
    const commandsEnded = this.#commands?.endAll();
    const backends = [...this.#runtime.children.values()].map(({ backend }) => backend);
    for (const backend of backends) backend.terminate();
    this.#platform.endAll();
    await Promise.all(backends.map(({ exited }) => exited));
    await Promise.all([...backends.map(({ outputEnded }) => outputEnded), commandsEnded]);
  }

  #runDirectory(): string {
    if (this.#runDir === undefined) {
      this.#runDir = this.#platform.runDirOf(this.id);
      this.#platform.makeRunDir(this.#runDir);
    }
    return this.#runDir;
  }

  /** Sends a message to the driver: at once, unless messages are kept. */
  #tellDriver<T>(send: (agent: ReturnType<typeof agentOf>) => PromiseLike<T>): PromiseLike<T> {
    const { opened } = this.#hold;
    return opened === undefined ? this.#sendToDriver(send) : opened.then(() => this.#sendToDriver(send));
  }

  #sendToDriver<T>(send: (agent: ReturnType<typeof agentOf>) => T): T {
    return runAsRoot(this.#runtime.mainProc.proc, () => send(agentOf(this.driver)));
  }
}

function checkAgentSchemas(what: string, driver: bigint, own: bigint, theirVersion: string): void {
  if (driver === own) return;
  throw new Error(
    `the agents of ${what} have another schema here, Viceroy ${version}, than at the driver, Viceroy ${theirVersion}; ` +
      "install versions on both whose agents have the same schemas, as two releases of one minor version have, " +
      `got fingerprints ${formatId(own)} and ${formatId(driver)}`,
  );
}
