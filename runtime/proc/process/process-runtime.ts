/**
 * This operating-system process, or this thread, as part of a tree of processes: which procs live here, what was spawned
 * from here and who owns it, and what has to be ended with it. One for each thread, made on first use or by the boot of a
 * child, unless processes are simulated; the mechanics of processes, meshes and failures are not here.
 */
import type { ActorMove, HostProof } from "../../../generated/proc-agent.js";
import type { ActorCell } from "../../actor/cell/actor-cell.js";
import { currentCell, setMainRoot } from "../../actor/context.js";
import type { Proc } from "../../actor/proc/proc.js";
import { MeshRecords } from "../../actor/reference/mesh-record.js";
import type { StopOptions } from "../../actor/reference/proc-hooks.js";
import { AGENT_MESH, hex64, type Location, type MeshId, type ProcId } from "../../link/address.js";
import type { Pipe } from "../../link/pipe.js";
import { errorFromCause } from "../../supervise/failure-cause.js";
import { Ownership } from "../../supervise/ownership.js";
import { Supervisor } from "../../supervise/supervisor.js";
import { type UnhandledFaultHook, UnhandledFaults } from "../../supervise/unhandled-faults.js";
import { type MemoryService, noMemory } from "../agent/memory-service.js";
import { refuseWhileLoading } from "../agent/module-loading.js";
import { type AgentRole, type EndProc, ProcRuntime } from "../agent/proc-runtime.js";
import type { ProcIdentity } from "../launch/proc-backend.js";
import type { ChildProc } from "../mesh/child-proc.js";
import { RecoveryWatch } from "../mesh/recovery-watch.js";
import type { SpawnedActors } from "../mesh/spawned-actors.js";
import { nodePlatform } from "../platform/node-platform.js";
import type { Platform } from "../platform/platform.js";
import { agentOf, runAsRoot } from "../proc-agents.js";
import { DirectLinks } from "../remote/direct-links.js";
import type { HostedBackend } from "../remote/hosted-backend.js";
import { childLocation } from "../remote/hosted-location.js";

/** Who a proc is, in the universe of this process. */
type ProcPlacement = Omit<ProcIdentity, "universe" | "parent"> & { readonly parent?: ProcId };

/** A host that was attached, as procs see it. */
export interface HostLink {
  /** A connection to its agent. */
  connect(from: Proc): Promise<Pipe>;
  /** It is gone, and what ran there with it. Idempotent. */
  markLost(reason: string): void;
  /** The daemon that it is, once that is known. */
  readonly daemon: bigint | undefined;
  /** How this process proves to it, and to what runs there, that it may speak to them. */
  readonly proof: HostProof;
  /** For people. */
  readonly address: string;
}

export class ProcessRuntime {
  readonly platform: Platform;
  readonly universe: bigint;
  /** The proc that code outside of actors belongs to. */
  readonly mainProc: ProcRuntime;
  /** All procs that live here. */
  readonly procs = new Map<ProcId, ProcRuntime>();
  /** Procs that were made from here, until they have ended. */
  readonly children = new Map<ProcId, ChildProc>();
  /** Hosts that were attached from here, by the ids of their agents, until they are gone. */
  readonly attachedHosts = new Map<ProcId, HostLink>();
  /** Processes that hosts have started for this one, until all that they have printed has come. */
  readonly hostedBackends = new Map<ProcId, HostedBackend>();
  /** Where this process is, on a host that was attached; undefined: it runs on the driver's machine. */
  readonly hostLocation: Location | undefined;
  /** How this process proves to hosts elsewhere that it may speak to them. */
  hostProof: HostProof | undefined;
  /** How processes on hosts elsewhere are reached. */
  readonly directLinks: DirectLinks;
  /** How actors that are known to have ended are found again. */
  readonly recoveryWatch: RecoveryWatch;
  /** Meshes of actors that were spawned from here, until they have been stopped. */
  readonly spawnedActors = new Map<MeshId, SpawnedActors>();
  /** Who answers for its registered memory; whoever registers some says so. */
  memoryService: MemoryService = noMemory;
  readonly ownership = new Ownership<ActorCell>();
  readonly supervisor: Supervisor<ActorCell>;
  /** Failures that nobody has handled. */
  readonly unhandledFaults: UnhandledFaults;
  /** What is known here of meshes. */
  readonly records: MeshRecords;
  /** Whether this is a program, and not something that a program has made. */
  readonly isProgram: boolean;
  readonly #runDir: string;
  #runDirMade: boolean;
  #shutdownRegistered = false;

  /**
   * @param identity what a maker has called this; undefined: a program
   * @param agent who takes orders here; undefined: that of a process which holds actors
   */
  constructor(platform: Platform, identity: ProcIdentity | undefined, leave: EndProc, agent?: AgentRole | undefined) {
    const { clock, random } = platform;
    this.platform = platform;
    this.directLinks = new DirectLinks(platform);
    this.recoveryWatch = new RecoveryWatch(platform.clock, (mesh, rank) =>
      this.spawnedActors.get(mesh)?.statusOf(rank),
    );
    this.unhandledFaults = new UnhandledFaults(platform);
    this.records = new MeshRecords(platform.drops);
    this.supervisor = new Supervisor<ActorCell>(
      {
        isRoot: (cell) => cell.isRoot,
        hasEnded: (cell) => cell.ended !== undefined,
        supervise: (cell, failure) => cell.supervise(failure),
        fail: (cell, cause) => cell.fail({ kind: "supervise", error: errorFromCause(cause), at: clock.wall() }),
        unhandled: (failure) => this.unhandledFaults.handle(failure),
      },
      clock,
    );
    this.isProgram = identity === undefined;
    this.universe = identity?.universe ?? random.id();
    this.#runDir = identity?.runDir ?? platform.runDirOf(this.universe);
    this.hostLocation = identity?.host;
    this.#runDirMade = identity !== undefined && this.#runDir !== "";
    const options = identity ?? { id: random.id(), rank: 0, extent: {}, runDir: this.#runDir };
    this.mainProc = this.addProc(options, leave, agent);
  }

  addProc(options: ProcPlacement, leave: EndProc, agent?: AgentRole | undefined): ProcRuntime {
    const made = new ProcRuntime(this, { ...options, endProc: leave, agent });
    this.procs.set(options.id, made);
    runtimesByProc.set(made.proc, this);
    return made;
  }

  /** @throws Error if nothing can be spawned for `owner` any more, or the calling code must not spawn */
  checkSpawn(owner: ActorCell, what: string): void {
    refuseWhileLoading(what);
    if (!this.ownership.isClosed(owner)) return;
    throw new Error(`cannot spawn ${what}: the actor ${owner.name}, whose it would be, has come to its end`);
  }

  /** Where the processes of the tree have their sockets; made when first asked for. */
  get runDir(): string {
    if (this.isProgram && !this.#runDirMade) {
      this.#runDirMade = true;
      this.platform.makeRunDir(this.#runDir);
      this.mainProc.listen();
    }
    return this.#runDir;
  }

  /** Where a proc that `maker` makes is, if this is a host that was attached. */
  childLocationOf(maker: Proc): Location | undefined {
    if (this.hostLocation === undefined) return undefined;
    const home = this.mainProc.proc;
    const made = childLocation(this.hostLocation, home.id);
    return maker === home ? made : childLocation(made, maker.id);
  }

  /** Where a proc of this process is, as it stands in references. */
  locationOf(runDir: string, id: ProcId): Location {
    if (this.hostLocation === undefined || runDir === "") return this.platform.locationOf(runDir, id);
    return this.hostLocation;
  }

  /**
   * Returns where a proc on this machine takes links. That follows from the run directory and the proc's id: the place that a
   * message names is compared with it, and never dialled on the message's word.
   * @throws Error if the message names another place
   */
  socketLocationOf(peer: ProcId, named: Location): Location {
    const { platform, hostLocation: host, universe, runDir } = this;
    // A thread has no socket of its own, but dials those of processes.
    const own = platform.locationOf(host === undefined && runDir === "" ? platform.runDirOf(universe) : runDir, peer);
    if (host !== undefined || named === own) return own;
    throw new Error(`cannot dial process ${hex64(peer)}: expected its socket in the run directory, got ${named}`);
  }

  /** From the first spawning on, the end of a program is the end of what it owns. */
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

  /** Returns the calls that actors here have not answered: `workers[1].sleep`. */
  get openCalls(): readonly string[] {
    const cells = [...this.procs.values()].flatMap(({ proc }) => [...proc.cells()]);
    return cells.filter(({ mesh }) => mesh !== AGENT_MESH).flatMap(({ calls }) => calls.map(({ label }) => label));
  }

  /** Stops everything that is owned here. */
  async stop(options: StopOptions): Promise<void> {
    await this.ownership.stopOwned(this.mainProc.proc.root, options);
    await Promise.all([...this.procs.values()].map((local) => local.stopActors(options)));
  }

  /** A host is gone: every proc here knows it, and whom this process has started hears of it as well. */
  handleHostGone(host: ProcId, reason: string, procs: readonly ProcId[]): void {
    for (const gone of [host, ...procs]) {
      for (const { proc } of this.procs.values()) proc.peerDown(gone, reason);
      this.memoryService.peerGone(gone, reason);
    }
    this.#tellChildren((id) => agentOf(id).hostLeft.broadcast(host, reason, [...procs]));
  }

  /**
   * An actor has moved: this process knows it, and asks its neighbours in the tree to know it too, but for the one that it has
   * it from. Resolves when they do, and when everything that was sent to where it lived before has been handled and answered, if
   * that place drains. Never rejects.
   * @param from the home of that one, or a proc that lives here
   */
  async announceMove(move: ActorMove, from: ProcId): Promise<void> {
    const { mainProc: home, procs, children: members } = this;
    const left = this.records.recordMove(move);
    const tell = (id: ProcId) => agentOf(id).moved.callSettled(move, home.proc.id);
    const told = this.#tellChildren((id) => (id === from ? undefined : tell(id)));
    // What comes from none of those that were made here comes from the maker.
    const isOwn = procs.has(from) || members.has(from);
    if (home.parentOrSelf !== home.proc.id && isOwn) told.push(runAsRoot(home.proc, () => tell(home.parentOrSelf)));
    await Promise.all([left, ...told]);
  }

  /**
   * Says something to the processes that were made from here, each by the proc that has made it and has a link to it. Procs that
   * live here know it: they would tell each other for ever.
   */
  #tellChildren<T>(say: (id: ProcId) => T): T[] {
    const living = [...this.children.values()].filter(({ id, exit: end }) => end === undefined && !this.procs.has(id));
    return living.flatMap(({ id, parent: maker }) => {
      const by = this.procs.get(maker);
      return by === undefined ? [] : [runAsRoot(by.proc, () => say(id))];
    });
  }

  killChildren(): void {
    for (const member of this.children.values()) member.backend.kill();
  }
}

/** Which process a proc is part of. */
const runtimesByProc = new WeakMap<Proc, ProcessRuntime>();

/** The process that the running code belongs to. */
export function currentRuntime(): ProcessRuntime {
  const { proc } = currentCell();
  const found = runtimesByProc.get(proc);
  if (found === undefined) throw new Error(`cannot find the process of ${hex64(proc.id)}: it was made without one`);
  return found;
}

let threadRuntime: ProcessRuntime | undefined;

/** The one of this thread; a program's is made when it is first needed. */
export function programRuntime(): ProcessRuntime {
  threadRuntime ??= setAsMainRuntime(new ProcessRuntime(nodePlatform, undefined, () => {}));
  return threadRuntime;
}

/** Makes this thread what its maker calls it. Called once, before anything else of the runtime is used. */
export function startChildRuntime(identity: ProcIdentity, leave: EndProc): ProcessRuntime {
  if (threadRuntime !== undefined) throw new Error("cannot boot: this process has a runtime already");
  threadRuntime = setAsMainRuntime(new ProcessRuntime(nodePlatform, identity, leave));
  return threadRuntime;
}

function setAsMainRuntime(made: ProcessRuntime): ProcessRuntime {
  setMainRoot(made.mainProc.proc.root);
  return made;
}

/**
 * Sets what happens to failures that no owner has handled, in this process. With a hook, the program and its other
 * meshes go on. Without one, the process prints the report and exits with code 1.
 *
 * @example
 * ```ts
 * import { onUnhandledFault } from "viceroy";
 *
 * onUnhandledFault((failure) => console.error(failure.report()));
 * ```
 *
 * @param hook called once for each failure; undefined restores the default
 * @returns the previous hook
 */
export function onUnhandledFault(hook: UnhandledFaultHook | undefined): UnhandledFaultHook | undefined {
  return currentRuntime().unhandledFaults.replaceHook(hook);
}
