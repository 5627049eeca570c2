/**
 * This operating-system process, or this thread, as part of a tree of processes: which procs live here, what was spawned
 * from here and who owns it, and what has to be ended with it. One for each thread, made on first use or by the boot of a
 * child, unless processes are simulated; the mechanics of processes, meshes and failures are not here.
 */
import type { ActorMove, HostProof } from "../../generated/proc-agent.js";
import { MeshRecords } from "../actor/address.js";
import type { Cell } from "../actor/cell.js";
import { currentCell, setMainRoot } from "../actor/context.js";
import type { StopOptions } from "../actor/hooks.js";
import type { Proc } from "../actor/proc.js";
import { AGENT_MESH, hex64, type Location, type MeshId, type ProcId } from "../link/address.js";
import type { Pipe } from "../link/pipe.js";
import { errorOf } from "../supervise/cause.js";
import { Ownership } from "../supervise/ownership.js";
import { Supervisor } from "../supervise/supervisor.js";
import { type UnhandledFaultHook, UnhandledFaults } from "../supervise/unhandled.js";
import { agentOf, asRoot } from "./agents.js";
import type { Identity } from "./body.js";
import { DirectLinks } from "./direct-links.js";
import type { HostedBody } from "./hosted-body.js";
import { locationOfMade } from "./hosted-location.js";
import { refuseWhileLoading } from "./loading.js";
import { type AgentRole, type Leave, LocalProc } from "./local-proc.js";
import type { Member } from "./member.js";
import { type MemoryService, noMemory } from "./memory-service.js";
import { nodePlatform } from "./node-platform.js";
import type { Platform } from "./platform.js";
import { Returns } from "./returns.js";
import type { SpawnedMesh } from "./spawned-mesh.js";

/** Who a proc is, in the universe of this process. */
type ProcPlace = Omit<Identity, "universe" | "parent"> & { readonly parent?: ProcId };

/** A host that was attached, as procs see it. */
export interface HostLink {
  /** A connection to its agent. */
  connect(from: Proc): Promise<Pipe>;
  /** It is gone, and what ran there with it. Idempotent. */
  lost(reason: string): void;
  /** The daemon that it is, once that is known. */
  readonly daemon: bigint | undefined;
  /** How this process proves to it, and to what runs there, that it may speak to them. */
  readonly proof: HostProof;
  /** For people. */
  readonly address: string;
}

export class Local {
  readonly platform: Platform;
  readonly universe: bigint;
  /** The proc that code outside of actors belongs to. */
  readonly home: LocalProc;
  /** All procs that live here. */
  readonly procs = new Map<ProcId, LocalProc>();
  /** Procs that were made from here, until they have ended. */
  readonly members = new Map<ProcId, Member>();
  /** Hosts that were attached from here, by the ids of their agents, until they are gone. */
  readonly hosts = new Map<ProcId, HostLink>();
  /** Processes that hosts have started for this one, until all that they have printed has come. */
  readonly hosted = new Map<ProcId, HostedBody>();
  /** Where this process is, on a host that was attached; undefined: it runs on the driver's machine. */
  readonly host: Location | undefined;
  /** How this process proves to hosts elsewhere that it may speak to them. */
  proof: HostProof | undefined;
  /** How processes on hosts elsewhere are reached. */
  readonly direct: DirectLinks;
  /** How actors that are known to have ended are found again. */
  readonly returns: Returns;
  /** Meshes of actors that were spawned from here, until they have been stopped. */
  readonly meshes = new Map<MeshId, SpawnedMesh>();
  /** Who answers for its registered memory; whoever registers some says so. */
  memory: MemoryService = noMemory;
  readonly ownership = new Ownership<Cell>();
  readonly supervisor: Supervisor<Cell>;
  /** Failures that nobody has handled. */
  readonly faults: UnhandledFaults;
  /** What is known here of meshes. */
  readonly records: MeshRecords;
  /** Whether this is a program, and not something that a program has made. */
  readonly isProgram: boolean;
  readonly #runDir: string;
  #runDirMade: boolean;
  #ending = false;

  /**
   * @param identity what a maker has called this; undefined: a program
   * @param agent who takes orders here; undefined: that of a process which holds actors
   */
  constructor(platform: Platform, identity: Identity | undefined, leave: Leave, agent?: AgentRole | undefined) {
    const { clock, random } = platform;
    this.platform = platform;
    this.direct = new DirectLinks(platform);
    this.returns = new Returns(platform.clock, (mesh, rank) => this.meshes.get(mesh)?.status(rank));
    this.faults = new UnhandledFaults(platform);
    this.records = new MeshRecords(platform.drops);
    this.supervisor = new Supervisor<Cell>(
      {
        isRoot: (cell) => cell.isRoot,
        hasEnded: (cell) => cell.ended !== undefined,
        supervise: (cell, failure) => cell.supervise(failure),
        fail: (cell, cause) => cell.fail({ kind: "supervise", error: errorOf(cause), at: clock.wall() }),
        unhandled: (failure) => this.faults.take(failure),
      },
      clock,
    );
    this.isProgram = identity === undefined;
    this.universe = identity?.universe ?? random.id();
    this.#runDir = identity?.runDir ?? platform.runDirOf(this.universe);
    this.host = identity?.host;
    this.#runDirMade = identity !== undefined && this.#runDir !== "";
    const options = identity ?? { id: random.id(), rank: 0, extent: {}, runDir: this.#runDir };
    this.home = this.addProc(options, leave, agent);
  }

  addProc(options: ProcPlace, leave: Leave, agent?: AgentRole | undefined): LocalProc {
    const made = new LocalProc(this, { ...options, leave, agent });
    this.procs.set(options.id, made);
    locals.set(made.proc, this);
    return made;
  }

  /** @throws Error if nothing can be spawned for `owner` any more, or the calling code must not spawn */
  checkSpawn(owner: Cell, what: string): void {
    refuseWhileLoading(what);
    if (!this.ownership.isClosed(owner)) return;
    throw new Error(`cannot spawn ${what}: the actor ${owner.name}, whose it would be, has come to its end`);
  }

  /** Where the processes of the tree have their sockets; made when first asked for. */
  get runDir(): string {
    if (this.isProgram && !this.#runDirMade) {
      this.#runDirMade = true;
      this.platform.makeRunDir(this.#runDir);
      this.home.listen();
    }
    return this.#runDir;
  }

  /** Where a proc that `maker` makes is, if this is a host that was attached. */
  placeOfMade(maker: Proc): Location | undefined {
    if (this.host === undefined) return undefined;
    const home = this.home.proc;
    const made = locationOfMade(this.host, home.id);
    return maker === home ? made : locationOfMade(made, maker.id);
  }

  /** Where a proc of this process is, as it stands in references. */
  locationOf(runDir: string, id: ProcId): Location {
    if (this.host === undefined || runDir === "") return this.platform.locationOf(runDir, id);
    return this.host;
  }

  /**
   * Returns where a proc on this machine takes links. That follows from the run directory and the proc's id: the place that a
   * message names is compared with it, and never dialled on the message's word.
   * @throws Error if the message names another place
   */
  socketOf(peer: ProcId, named: Location): Location {
    const { platform, host, universe, runDir } = this;
    // A thread has no socket of its own, but dials those of processes.
    const own = platform.locationOf(host === undefined && runDir === "" ? platform.runDirOf(universe) : runDir, peer);
    if (host !== undefined || named === own) return own;
    throw new Error(`cannot dial process ${hex64(peer)}: expected its socket in the run directory, got ${named}`);
  }

  /** From the first spawning on, the end of a program is the end of what it owns. */
  endInOrder(): void {
    if (!this.isProgram || this.#ending) return;
    this.#ending = true;
    const { ownership } = this;
    this.platform.endInOrder({
      get idle() {
        return ownership.empty;
      },
      stop: (options) => this.stop(options),
      kill: () => this.kill(),
    });
  }

  /** Returns the calls that actors here have not answered: `workers[1].sleep`. */
  get calls(): readonly string[] {
    const cells = [...this.procs.values()].flatMap(({ proc }) => [...proc.cells()]);
    return cells.filter(({ mesh }) => mesh !== AGENT_MESH).flatMap(({ calls }) => calls.map(({ label }) => label));
  }

  /** Stops everything that is owned here. */
  async stop(options: StopOptions): Promise<void> {
    await this.ownership.stopOwned(this.home.proc.root, options);
    await Promise.all([...this.procs.values()].map((local) => local.stopAll(options)));
  }

  /** A host is gone: every proc here knows it, and whom this process has started hears of it as well. */
  hostGone(host: ProcId, reason: string, procs: readonly ProcId[]): void {
    for (const gone of [host, ...procs]) {
      for (const { proc } of this.procs.values()) proc.peerDown(gone, reason);
      this.memory.gone(gone, reason);
    }
    this.#toMade((id) => agentOf(id).hostLeft.broadcast(host, reason, [...procs]));
  }

  /**
   * An actor has moved: this process knows it, and asks its neighbours in the tree to know it too, but for the one that it has
   * it from. Resolves when they do, and when everything that was sent to where it lived before has been handled and answered, if
   * that place drains. Never rejects.
   * @param from the home of that one, or a proc that lives here
   */
  async moved(move: ActorMove, from: ProcId): Promise<void> {
    const { home, procs, members } = this;
    const left = this.records.moved(move);
    const tell = (id: ProcId) => agentOf(id).moved.callSettled(move, home.proc.id);
    const told = this.#toMade((id) => (id === from ? undefined : tell(id)));
    // What comes from none of those that were made here comes from the maker.
    const isOwn = procs.has(from) || members.has(from);
    if (home.maker !== home.proc.id && isOwn) told.push(asRoot(home.proc, () => tell(home.maker)));
    await Promise.all([left, ...told]);
  }

  /**
   * Says something to the processes that were made from here, each by the proc that has made it and has a link to it. Procs that
   * live here know it: they would tell each other for ever.
   */
  #toMade<T>(say: (id: ProcId) => T): T[] {
    const living = [...this.members.values()].filter(({ id, end }) => end === undefined && !this.procs.has(id));
    return living.flatMap(({ id, maker }) => {
      const by = this.procs.get(maker);
      return by === undefined ? [] : [asRoot(by.proc, () => say(id))];
    });
  }

  kill(): void {
    for (const member of this.members.values()) member.body.kill();
  }
}

/** Which process a proc is part of. */
const locals = new WeakMap<Proc, Local>();

/** The process that the running code belongs to. */
export function local(): Local {
  const { proc } = currentCell();
  const found = locals.get(proc);
  if (found === undefined) throw new Error(`cannot find the process of ${hex64(proc.id)}: it was made without one`);
  return found;
}

let current: Local | undefined;

/** The one of this thread; a program's is made when it is first needed. */
export function program(): Local {
  current ??= started(new Local(nodePlatform, undefined, () => {}));
  return current;
}

/** Makes this thread what its maker calls it. Called once, before anything else of the runtime is used. */
export function becomeChild(identity: Identity, leave: Leave): Local {
  if (current !== undefined) throw new Error("cannot boot: this process has a runtime already");
  current = started(new Local(nodePlatform, identity, leave));
  return current;
}

function started(made: Local): Local {
  setMainRoot(made.home.proc.root);
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
  return local().faults.replaceHook(hook);
}
