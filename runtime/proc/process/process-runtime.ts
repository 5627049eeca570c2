/**
 * This operating-system process or thread as part of a tree of processes: the procs that live here, everything that was
 * spawned from here with its owners, and what must end with this process. Each thread has one, created on first use or
 * by the boot of a child; a simulation has one for each simulated process. Starting processes, spawning meshes and
 * handling failures are in the other folders of `proc/` and in `supervise/`.
 */
import type { ActorMove, HostKey } from "../../../generated/proc-agent.js";
import type { Proc } from "../../actor/proc/proc.js";
import type { ActorProc } from "../../actor/reference/actor-proc.js";
import type { LocalActor } from "../../actor/reference/local-actor.js";
import { MeshRecords } from "../../actor/reference/mesh-record.js";
import type { StopOptions } from "../../actor/reference/stop-options.js";
import { AGENT_MESH, formatId, type Location, type MeshId, type ProcId } from "../../link/address.js";
import { errorFromCause } from "../../supervise/failure-cause.js";
import { Ownership } from "../../supervise/ownership.js";
import { Supervisor } from "../../supervise/supervisor.js";
import { UnhandledFaults } from "../../supervise/unhandled-faults.js";
import { type MemoryService, noMemory } from "../agent/memory-service.js";
import { refuseWhileLoading } from "../agent/module-loading.js";
import { procAgentRole } from "../agent/proc-agent.js";
import { type EndProc, ProcRuntime } from "../agent/proc-runtime.js";
import type { AgentRole, ProcServices } from "../agent/proc-services.js";
import { noPublishedMeshes, type PublishedMeshes } from "../agent/published-meshes.js";
import type { ProcExit, ProcIdentity } from "../launch/proc-backend.js";
import { ChildProc, type ChildProcOptions } from "../mesh/child-proc.js";
import { RecoveryWatch } from "../mesh/recovery-watch.js";
import type { SpawnedActors } from "../mesh/spawned-actors.js";
import type { Platform } from "../platform/platform.js";
import { agentOf, runAsRoot } from "../proc-agents.js";
import { DirectLinks } from "../remote/direct-links.js";
import { HostKeyring } from "../remote/host-keyring.js";
import type { HostLink } from "../remote/host-link.js";
import type { HostedBackend } from "../remote/hosted-backend.js";
import { childLocation } from "../remote/hosted-location.js";

/** The identity of a proc, without the universe of this process. */
type ProcPlacement = Omit<ProcIdentity, "universe" | "parent"> & { readonly parent?: ProcId };

/** The identity of a program whose place this process takes. */
export type ProgramIdentity = Pick<ProcIdentity, "universe" | "id">;

/** The runtime of one operating-system process or thread, or of one simulated process. */
export class ProcessRuntime implements ProcServices {
  readonly platform: Platform;
  readonly universe: bigint;
  /** The proc of the code that runs outside of actors. */
  readonly mainProc: ProcRuntime;
  /** All procs of this process. */
  readonly procs = new Map<ProcId, ProcRuntime>();
  /** Procs that were started from here and have not ended. */
  readonly children = new Map<ProcId, ChildProc>();
  /** Hosts that were attached from here and are not gone, by the ids of their agents. */
  readonly attachedHosts = new Map<ProcId, HostLink>();
  /** Processes that hosts have started for this process, until all their output has arrived. */
  readonly hostedBackends = new Map<ProcId, HostedBackend>();
  /** The location of this process on an attached host; undefined if the process runs on the driver's machine. */
  readonly hostLocation: Location | undefined;
  /** The credentials that this process presents to hosts. */
  readonly hostKeyring = new HostKeyring();
  /** Connects to processes on other hosts. */
  readonly directLinks: DirectLinks;
  /** Finds actors again that are known to have ended. */
  readonly recoveryWatch: RecoveryWatch;
  /** Meshes of actors that were spawned from here and have not been stopped. */
  readonly spawnedActors = new Map<MeshId, SpawnedActors>();
  /** Answers for the registered memory of this process. `rdma/` installs it on first use. */
  memoryService: MemoryService = noMemory;
  /** The meshes that were published or looked up from here. `host/publish/` installs it on first use. */
  publishedMeshes: PublishedMeshes = noPublishedMeshes;
  readonly ownership = new Ownership<LocalActor>();
  readonly supervisor: Supervisor<LocalActor>;
  /** Handles failures that no owner has handled. */
  readonly unhandledFaults: UnhandledFaults;
  /** The known meshes and locations of their actors. */
  readonly records: MeshRecords;
  /** Whether this process is a program, and not a child of one. */
  readonly isProgram: boolean;
  static readonly #byProc = new WeakMap<ActorProc, ProcessRuntime>();
  /** The procs of this process, by the narrower view that their actors have of them. */
  readonly #procs = new WeakMap<ActorProc, Proc>();
  readonly #runDir: string;
  #runDirMade: boolean;
  #shutdownRegistered = false;

  /**
   * @param identity the identity that the parent assigned; undefined for a program
   * @param agent the agent that executes orders here; undefined selects the agent of a process that holds actors
   * @param predecessor the program whose place this one takes, if it takes one
   */
  constructor(
    platform: Platform,
    identity: ProcIdentity | undefined,
    leave: EndProc,
    agent?: AgentRole | undefined,
    predecessor?: ProgramIdentity,
  ) {
    const { clock, random } = platform;
    this.platform = platform;
    this.directLinks = new DirectLinks(platform);
    this.recoveryWatch = new RecoveryWatch(platform.clock, (mesh, rank) =>
      this.spawnedActors.get(mesh)?.statusOf(rank),
    );
    this.unhandledFaults = new UnhandledFaults(platform);
    this.records = new MeshRecords(platform.drops);
    this.supervisor = new Supervisor<LocalActor>(
      {
        isRoot: (cell) => cell.isRoot,
        hasEnded: (cell) => cell.ended !== undefined,
        supervise: (cell, failure) => cell.supervise(failure),
        fail: (cell, cause) => cell.fail({ kind: "supervise", error: errorFromCause(cause), at: clock.epochMs() }),
        unhandled: (failure) => this.unhandledFaults.handle(failure),
      },
      clock,
    );
    this.isProgram = identity === undefined;
    this.universe = (identity ?? predecessor)?.universe ?? random.id();
    this.#runDir = identity?.runDir ?? platform.runDirOf(this.universe);
    this.hostLocation = identity?.host;
    this.#runDirMade = identity !== undefined && this.#runDir !== "";
    const options = identity ?? { id: predecessor?.id ?? random.id(), rank: 0, extent: {}, runDir: this.#runDir };
    this.mainProc = this.addProc(options, leave, agent);
  }

  /** Returns the process to which a proc belongs. */
  static of(proc: ActorProc): ProcessRuntime | undefined {
    return ProcessRuntime.#byProc.get(proc);
  }

  /** Returns the proc that an actor of this process lives in. */
  procOf(actor: LocalActor): Proc {
    return this.#procs.get(actor.proc)!;
  }

  addProc(options: ProcPlacement, endProc: EndProc, agent?: AgentRole | undefined): ProcRuntime {
    const runtime = new ProcRuntime(this, { ...options, endProc, agent: (made) => agent ?? procAgentRole(made) });
    this.procs.set(options.id, runtime);
    ProcessRuntime.#byProc.set(runtime.proc, this);
    this.#procs.set(runtime.proc, runtime.proc);
    return runtime;
  }

  /**
   * Attaches the link of a started child, and registers the child until it has ended. This is the only place where the
   * end of a child enters this process: whatever was pending on the child fails first, and then its mesh is told.
   * @param parent the proc that started the child
   * @param onExit called once, when the child has ended for any reason
   */
  addChild(
    parent: Proc,
    options: Omit<ChildProcOptions, "parent" | "clock">,
    onExit: (child: ChildProc, exit: ProcExit) => void,
  ): ChildProc {
    const { id, backend } = options;
    parent.attach(backend.pipe, id);
    const child = new ChildProc({ ...options, parent: parent.id, clock: parent.clock }, (exit) => {
      this.children.delete(id);
      parent.peerDown(id, exit.cause.message);
      onExit(child, exit);
    });
    this.children.set(id, child);
    return child;
  }

  /** @throws Error if `owner` has ended, or the calling code is not allowed to spawn */
  checkSpawn(owner: LocalActor, what: string): void {
    refuseWhileLoading(what);
    if (!this.ownership.isClosed(owner)) return;
    throw new Error(`cannot spawn ${what}: its owner, the actor ${owner.name}, has ended`);
  }

  /** The directory for the sockets of the process tree. A program makes it on first access. */
  get runDir(): string {
    if (this.isProgram && !this.#runDirMade) {
      this.#runDirMade = true;
      this.platform.makeRunDir(this.#runDir);
      this.mainProc.listen();
    }
    return this.#runDir;
  }

  /** Returns the location of a proc that `parent` starts, if this process runs on an attached host. */
  childLocationOf(parent: Proc): Location | undefined {
    if (this.hostLocation === undefined) return undefined;
    const home = this.mainProc.proc;
    const made = childLocation(this.hostLocation, home.id);
    return parent === home ? made : childLocation(made, parent.id);
  }

  /** Returns the location of a proc of this process that listens, as references contain it. */
  locationOf(runDir: string, id: ProcId): Location {
    if (this.hostLocation === undefined || runDir === "") return this.platform.locationOf(runDir, id);
    return this.hostLocation;
  }

  /**
   * Returns the location at which a proc on this machine accepts links. It follows from the run directory and the id of
   * the proc. The location in a message is compared with it, and is never dialled only because a message names it.
   * @throws Error if the message names another location
   */
  socketLocationOf(peer: ProcId, named: Location): Location {
    const { platform, hostLocation, universe, runDir } = this;
    // A thread has no socket, but dials the sockets of processes.
    const own = platform.locationOf(
      hostLocation === undefined && runDir === "" ? platform.runDirOf(universe) : runDir,
      peer,
    );
    if (hostLocation !== undefined || named === own) return own;
    throw new Error(`cannot dial process ${formatId(peer)}: expected its socket in the run directory, got ${named}`);
  }

  /** Has the program stop everything that it owns when it ends. Called at each spawn; the first call counts. */
  registerShutdown(): void {
    if (!this.isProgram || this.#shutdownRegistered) return;
    this.#shutdownRegistered = true;
    const { ownership } = this;
    this.platform.registerShutdown({
      get isIdle() {
        return ownership.isEmpty;
      },
      stop: (options) => this.stop(options),
      kill: () => this.killChildren(),
    });
  }

  /** Returns the calls that the actors here have not answered, as in `workers[1].sleep`. */
  get openCalls(): readonly string[] {
    const cells = [...this.procs.values()].flatMap(({ proc }) => [...proc.cells()]);
    return cells.filter(({ mesh }) => mesh !== AGENT_MESH).flatMap(({ calls }) => calls.map(({ label }) => label));
  }

  /** Stops everything that this process owns. */
  async stop(options: StopOptions): Promise<void> {
    await this.ownership.stopOwned(this.mainProc.proc.root, options);
    await Promise.all([...this.procs.values()].map((proc) => proc.stopActors(options)));
  }

  /**
   * Adds the credentials for hosts, here and in the processes that this process has started on this machine. Processes
   * on hosts do not get them, because a host must not act for the driver at other hosts.
   */
  addHostKey(key: HostKey): void {
    this.hostKeyring.add(key);
    this.#tellChildren((id) => (this.hostedBackends.has(id) ? undefined : agentOf(id).addHostKey.broadcast(key)));
  }

  /** Tells all procs of this process, and the processes that it has started, that a host is gone. */
  handleHostGone(host: ProcId, reason: string, procs: readonly ProcId[]): void {
    this.hostKeyring.remove(host);
    for (const gone of [host, ...procs]) {
      for (const { proc } of this.procs.values()) proc.peerDown(gone, reason);
      this.memoryService.peerGone(gone, reason);
    }
    this.publishedMeshes.hostGone(host, reason);
    this.#tellChildren((id) => agentOf(id).hostLeft.broadcast(host, reason, [...procs]));
  }

  /**
   * Records that an actor has moved, and tells the neighbours in the process tree, except the one that sent the news.
   * Resolves when they have recorded the move; if the earlier location drains, also when all messages that were sent
   * there have been handled and answered. Never rejects.
   * @param from the main proc of the neighbour that sent the news, or a proc of this process
   */
  async announceMove(move: ActorMove, from: ProcId): Promise<void> {
    const { mainProc, procs, children } = this;
    const left = this.records.recordMove(move);
    const tell = (id: ProcId) => agentOf(id).moved.callSettled(move, mainProc.proc.id);
    const told = this.#tellChildren((id) => (id === from ? undefined : tell(id)));
    // News that comes neither from a child nor from here comes from the parent.
    const isOwn = procs.has(from) || children.has(from);
    if (mainProc.parentOrSelf !== mainProc.proc.id && isOwn)
      told.push(runAsRoot(mainProc.proc, () => tell(mainProc.parentOrSelf)));
    await Promise.all([left, ...told]);
  }

  /**
   * Sends a message to each child process, through the proc that started it and has a link to it. Children that are
   * procs of this process are omitted: they would send the news back for ever.
   */
  #tellChildren<T>(say: (id: ProcId) => T): T[] {
    const living = [...this.children.values()].filter(({ id, exit }) => exit === undefined && !this.procs.has(id));
    return living.flatMap(({ id, parent }) => {
      const by = this.procs.get(parent);
      return by === undefined ? [] : [runAsRoot(by.proc, () => say(id))];
    });
  }

  killChildren(): void {
    for (const child of this.children.values()) child.backend.kill();
  }
}
