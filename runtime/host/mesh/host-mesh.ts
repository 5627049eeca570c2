/** `HostMesh`, the public handle of a mesh of hosts, on which procs are spawned: this machine, or attached hosts. */

import { currentCell } from "../../actor/context.js";
import { checkStopOptions, type MeshStopOptions, noReason } from "../../actor/reference/mesh-record.js";
import { ownScheme } from "../../proc/platform/program-places.js";
import { currentRuntime } from "../../proc/process/current-runtime.js";
import { OwnProc } from "../../proc/process/own-proc.js";
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import {
  baseRanks,
  type Extent,
  formatRegionTable,
  joinExtents,
  meshOfRegion,
  meshRegion,
  type Region,
  RegionMesh,
  type RegionMeshKind,
  wholeRegion,
} from "../../shape/index.js";
import type { AttachedHosts } from "../attached/attached-hosts.js";
import type { RoutedHost } from "../attached/host-targets.js";
import type { CodePlace } from "../attached/hosts-code.js";
import { describeHost, type HostDescription } from "./describe-hosts.js";
import { commandsOf, type HostCommands, ownCommands } from "./host-commands.js";
import { OwnHosts } from "./own-hosts.js";
import { ProcMesh } from "./proc-mesh.js";
import { layoutsOf } from "./procs-layout.js";
import { checkHostsResize, type ResizeHostsOptions } from "./resize-hosts.js";
import type { ProcPlanner, ResizeSpec } from "./resize-options.js";
import { checkListedCpus, checkProcsOptions, planProcs, type SpawnProcsOptions } from "./spawn-procs-options.js";
import { type PlanForExtent, planReplacements, startJoining, startProcs } from "./start-procs.js";
import { bringProgram, type SyncOptions, type SyncReport, syncCode } from "./sync-code.js";

/** Time in ms for which queued messages are handled at a stop. */
const defaultDrain = 5000;

let readAttachment: (mesh: HostMesh) => AttachedHosts | undefined;
let readRegion: (mesh: HostMesh) => Region;

/**
 * Attaches more hosts of a job to a mesh, like {@link HostMesh.resize}.
 * @param joining the addresses of the hosts that join, in the order of their positions
 */
export let joinHosts: (mesh: HostMesh<"hosts">, joining: readonly RoutedHost[]) => HostMesh<"hosts">;

/** Maps the names of dimensions to types of host meshes. */
interface HostMeshKind extends RegionMeshKind {
  readonly mesh: HostMesh<this["dims"]>;
}

/** A mesh of hosts, or a slice of one. {@link thisHost} and {@link attachHosts} return host meshes. */
export class HostMesh<D extends string = string> extends RegionMesh<HostMeshKind, D> {
  readonly #runtime: ProcessRuntime;
  readonly #region: Region;
  readonly #attached: AttachedHosts | undefined;
  /** The procs of a mesh that is this machine under another name. */
  readonly #own: OwnHosts | undefined;
  readonly #ready: Promise<void>;

  static {
    readAttachment = (mesh) => mesh.#attached;
    readRegion = (mesh) => mesh.#region;
    joinHosts = (mesh, joining) => {
      const addresses = joining.map(({ address }) => address);
      const routes = joining.map(({ route }) => route);
      return mesh.#resize({ hosts: mesh.size + joining.length }, { addresses }, routes);
    };
  }

  /**
   * Called by `thisHost` and `attachHosts`.
   *
   * @hidden
   */
  constructor(
    here: ProcessRuntime,
    region: Region,
    {
      attachment,
      own,
      ready = Promise.resolve(),
    }: { readonly attachment?: AttachedHosts; readonly own?: OwnHosts; readonly ready?: Promise<void> } = {},
  ) {
    super();
    this.#runtime = here;
    this.#region = region;
    this.#attached = attachment;
    this.#own = own;
    this.#ready = ready;
  }

  /** The name of the mesh in reports, as given to `attachHosts`. */
  get name(): string {
    return (this.#attached ?? this.#own)?.name ?? "this host";
  }

  /**
   * Resolves when all attached hosts, also those outside this slice, have accepted this driver. Rejects with the reason
   * if a host has not. The `ready` of a mesh that {@link resize} returned also waits until the hosts that leave have been
   * left.
   */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /**
   * Starts procs on each host. They are owned by the actor that calls this method. The method returns at once: actors
   * can be spawned on the procs and called while they start.
   *
   * @example
   * ```ts
   * import { thisHost } from "viceroy";
   *
   * await using procs = thisHost().spawnProcs({ gpus: 4 }, { env: (point) => ({ GPU: String(point.coordinates.gpus) }) });
   * console.log(procs.extent); // { gpus: 4 }
   * ```
   *
   * @param perHost the dimensions of the procs of one host, in addition to those of the hosts; without them, each host
   *   gets one proc
   * @param options isolation, environment, output, restarts
   * @returns a mesh with the dimensions of the hosts, followed by those of `perHost`
   * @throws {TypeError} when a dimension or an option is malformed, or the isolation does not support an option
   * @throws {RangeError} when a number is out of range
   * @throws {Error} when the hosts have been stopped, or an actor module is being loaded
   */
  spawnProcs<P extends string = never>(
    perHost: Extent<P> = {} as Extent<P>,
    options: SpawnProcsOptions<D | P> = {},
  ): ProcMesh<D | P> {
    const extent = joinExtents(this.extent, perHost);
    const attachment = this.#attached;
    (attachment ?? this.#own)?.checkOpen();
    attachment?.checkMembers(baseRanks(this.#region), "cannot spawn procs");
    const followsHosts = attachment?.members.isExtent(this.#region) === true;
    const layoutFor = layoutsOf(perHost, {
      // The number of a host of a whole mesh is its index, also if it joins later.
      numbersFor: (at) => (followsHosts ? [...Array(at[attachment.dimension]).keys()] : [...baseRanks(this.#region)]),
      hostAt: attachment && ((number) => attachment.hostAt(number)),
    });
    checkProcsOptions(options);
    const isOwn = options.registry instanceof URL && options.registry.protocol === ownScheme;
    // Who names a registry says that the hosts have the program there.
    const hasRegistry = (options.registry ?? attachment?.access.registry) !== undefined;
    const latestCode = () => (isOwn ? undefined : attachment?.code.forSpawn(hasRegistry));
    let code = latestCode();
    const planFor = (given: SpawnProcsOptions<D | P>): PlanForExtent<D | P> => {
      const own = code;
      let last = { at: extent, plan: planProcs(given, layoutFor(extent), own) };
      return (at) => {
        if (at !== last.at) last = { at, plan: planProcs(given, layoutFor(at), own) };
        return last.plan;
      };
    };
    let plans = planFor(options);
    const procs = startProcs(this.#runtime, extent, plans);
    (attachment ?? this.#own)?.addProcs(procs);
    const planner: ProcPlanner = {
      hostDimensions: Object.keys(this.extent),
      replacing: (changes) =>
        planReplacements(this.#runtime, procs, planFor({ ...options, ...changes } as SpawnProcsOptions<D | P>)),
      renewing: () => {
        code = latestCode();
        plans = planFor(options);
        return planReplacements(this.#runtime, procs, plans);
      },
      followsHosts,
      joining: (joining) => {
        attachment?.checkOpen();
        const failed = `cannot resize mesh "${procs.name}"`;
        const layout = layoutFor(joining[0]!.point.extent);
        const hostNumbers = joining.map(({ point }) => layout.hostNumberOf(point.rank));
        attachment?.checkMembers(hostNumbers, failed);
        checkListedCpus(options.cpus, layout, failed);
        return startJoining(this.#runtime, procs, plans, joining);
      },
    };
    return new ProcMesh<D | P>(procs, wholeRegion(extent), { planner });
  }

  /**
   * Attaches more hosts, or leaves the last ones. The processes on hosts that leave take no new messages, handle those that
   * they have been sent, for at most `drain` milliseconds, run the `cleanup` of their actors and end; this is not a failure.
   * Then the driver leaves the hosts, which go on running. Older handles keep their extents.
   *
   * The method returns at once. Meshes of processes get processes on hosts that join only when they are passed on:
   * `procs.resize({ hosts: 3 })` starts them. It also gives a mesh its smaller extent after hosts have left.
   *
   * @example
   * ```ts
   * import { attachHosts } from "viceroy";
   *
   * await using hosts = attachHosts(["tcp://node1:26600", "tcp://node2:26600"]);
   * const procs = hosts.spawnProcs({ gpus: 4 });
   * const moreHosts = hosts.resize({ hosts: 3 }, { addresses: ["tcp://node3:26600"] });
   * const moreProcs = procs.resize({ hosts: 3 });
   * console.log(moreHosts.size, moreProcs.size); // 3 12
   * ```
   *
   * @param sizes the dimension of the hosts and its new size, at least 1
   * @param options the addresses of the hosts that join, and the time for messages to processes on hosts that leave
   * @returns a handle of the mesh with its new extent
   * @throws {TypeError} when the dimension does not exist, an option or an address is malformed, or the number of addresses
   *   is not that of the hosts that join
   * @throws {RangeError} when the size is not an integer from 1, or `drain` is out of range
   * @throws {Error} when this mesh is a slice or was resized since, has been stopped, belongs to another actor, or is that
   *   of `thisHost`, or when processes on a host that leaves are being replaced
   */
  resize(sizes: ResizeSpec<D>, options: ResizeHostsOptions = {}): HostMesh<D> {
    return this.#resize(sizes, options);
  }

  #resize(sizes: ResizeSpec<D>, options: ResizeHostsOptions, routes?: readonly (string | undefined)[]): HostMesh<D> {
    const attachment = this.#attached;
    if (attachment === undefined) throw new Error("cannot resize the own host: it was not attached");
    const { extent, targets, drain } = checkHostsResize(
      attachment,
      this.#region,
      sizes,
      options,
      currentCell(),
      routes,
    );
    if (targets.length > 0) this.#runtime.checkSpawn(currentCell(), "hosts");
    const { region, ready } = attachment.resize(extent, targets, drain);
    return new HostMesh<D>(this.#runtime, region, { attachment, ready });
  }

  /**
   * Brings the code of this program to the hosts: the files that git lists in the roots, and what the program loads although git
   * ignores it. Hosts fetch from each other what they lack. Processes that are spawned later run this code, in a folder of
   * their host; processes that run go on with theirs. Does nothing if the mesh is this machine.
   *
   * @example
   * ```ts
   * import { attachHosts } from "viceroy";
   *
   * await using hosts = attachHosts(["tls://node1:26600", "tls://node2:26600"], {
   *   tls: { cert: "driver.crt", key: "driver.key", ca: "ca.crt" },
   * });
   * const { files, hosts: fetched } = await hosts.sync({ exclude: ["*.log"] });
   * console.log(`${files} files, ${fetched.map(({ bytes }) => bytes)} bytes fetched`);
   * ```
   *
   * @param options the roots, and what is left out
   * @returns what the tree contains, and what each host has fetched
   * @throws {SyncError} (rejects) when a root or file is refused, or a host does not get the code; other hosts then have it, but
   *   processes go on to be spawned with the earlier code
   * @throws {Error} (rejects) when the hosts have been stopped
   */
  async sync(options: SyncOptions = {}): Promise<SyncReport> {
    return syncCode(this.#attached, this.#region, options);
  }

  /**
   * Asks each host who uses it: its drivers with their processes, and the meshes that they have published. A program that has
   * attached the hosts with `readOnly` can ask, too.
   *
   * @example
   * ```ts
   * import { attachHosts } from "viceroy";
   *
   * await using hosts = attachHosts(["tcp://node1:26600"], { readOnly: true });
   * for (const { address, drivers } of await hosts.describe()) {
   *   console.log(address, drivers.flatMap(({ processes }) => processes).length);
   * }
   * ```
   *
   * @returns the hosts in rank order
   * @throws {Error} (rejects) when a host has not accepted this driver, or is gone, or this mesh is that of `thisHost`
   */
  async describe(): Promise<readonly HostDescription[]> {
    const attachment = this.#attached;
    if (attachment === undefined) throw new Error("cannot describe the own host: it was not attached");
    return Promise.all([...baseRanks(this.#region)].map((number) => describeHost(attachment.hostAt(number))));
  }

  /**
   * Returns a table as text, with one line for each rank: its number, its coordinates, and the address of an attached
   * host.
   */
  toTable(): string {
    const attachment = this.#attached;
    if (attachment === undefined) return formatRegionTable(this.#region, [], () => []);
    const ranks = [...baseRanks(this.#region)];
    return formatRegionTable(this.#region, ["address"], (rank) => [attachment.hostAt(ranks[rank]!).address]);
  }

  /**
   * Stops all procs that this driver has spawned on the hosts, as `ProcMesh.stop` does, and disconnects from the hosts.
   * The hosts go on running, and so do the procs of other drivers. Stopping a mesh again has no effect.
   *
   * @param options the reason, and the time for queued messages
   * @returns a promise that resolves when the driver has left all hosts; it never rejects
   * @throws {Error} when this mesh is a slice, or is that of `thisHost`
   * @throws {RangeError} when `drain` is negative or larger than 2^32 - 1
   */
  stop(options: MeshStopOptions = {}): Promise<void> {
    const attachment = this.#own ?? this.#requireWhole("stop");
    checkStopOptions(this.name, options);
    const { reason = noReason, drain = defaultDrain } = options;
    return attachment.stop({ reason, drain });
  }

  /**
   * Stops the hosts themselves, and with them the procs of all drivers there.
   *
   * @param options the reason, and the time for queued messages
   * @returns a promise that resolves when all hosts have been told; it rejects if a host could not be told
   * @throws {Error} when this mesh is a slice, or is that of `thisHost`
   * @throws {RangeError} when `drain` is negative or larger than 2^32 - 1
   */
  shutdown(options: MeshStopOptions = {}): Promise<void> {
    const attachment = this.#requireWhole("shut down");
    checkStopOptions(this.name, options);
    const { reason = "shut down", drain = defaultDrain } = options;
    return attachment.shutdown({ reason, drain });
  }

  /** Stops the procs and leaves the hosts at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Returns the name and the extent as text: `hosts{"hosts":2}`. */
  override toString(): string {
    return `${this.name}${JSON.stringify(this.extent)}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `HostMesh ${this.toString()}`;
  }

  /**
   * Returns what runs commands on one host, which are not processes of Viceroy.
   *
   * @hidden
   */
  commandsAt(rank: number): HostCommands {
    const attachment = this.#attached;
    return attachment === undefined
      ? ownCommands()
      : commandsOf(attachment.hostAt([...baseRanks(this.#region)][rank]!));
  }

  /**
   * Brings the code of a program that is no process of Viceroy to the first host.
   *
   * @param started the files with which that program starts
   * @returns where the code is there
   * @hidden
   */
  bringProgram(options: SyncOptions, started: readonly string[]): Promise<CodePlace> {
    const attachment = this.#attached;
    if (attachment === undefined) throw new Error("cannot bring a program to the own host: it is there");
    return bringProgram(attachment, this.#region, options, started);
  }

  /**
   * Brings the code of this program to all hosts for commands there, unless they have it, or nothing is brought to them.
   *
   * @param files the files and folders of this machine that the commands need
   * @returns where the code is on each host of this mesh; undefined where commands find it at the paths of this machine
   * @hidden
   */
  async placesOfProgram(files: readonly string[]): Promise<(CodePlace | undefined)[]> {
    const attachment = this.#attached;
    const tree = await attachment?.code.forProgram(files);
    const hosts = [...baseRanks(this.#region)].map((rank) => attachment?.hostAt(rank).id);
    return Promise.all(hosts.map((host) => (host === undefined ? undefined : tree?.on(host))));
  }

  #requireWhole(verb: string): AttachedHosts {
    const attachment = this.#attached;
    if (attachment === undefined) throw new Error(`cannot ${verb} the own host: it was not attached`);
    if (attachment.members.isWhole(this.#region)) return attachment;
    throw new Error(`cannot ${verb} a slice of mesh "${this.name}" of hosts: ${verb} the whole mesh`);
  }

  /** @hidden */
  protected get [meshRegion](): Region {
    return this.#region;
  }

  /** @hidden */
  protected [meshOfRegion](region: Region): HostMesh {
    const attachment = this.#attached;
    const own = this.#own;
    return new HostMesh(this.#runtime, region, {
      ...(attachment && { attachment }),
      ...(own && { own }),
      ready: this.#ready,
    });
  }
}

/** Returns the machine that this process runs on, as a mesh with the dimension `hosts`, whose procs can be stopped together. */
export function ownHosts(name: string): HostMesh<"hosts"> {
  return new HostMesh(currentRuntime(), wholeRegion({ hosts: 1 }), { own: new OwnHosts(name) });
}

/** Returns the attached hosts of a mesh; undefined for this machine. */
export function attachmentOf(mesh: HostMesh): AttachedHosts | undefined {
  return readAttachment(mesh);
}

/** Returns the region of the hosts that were attached together to which a mesh refers. */
export function hostRegionOf(mesh: HostMesh): Region {
  return readRegion(mesh);
}

/** Returns the machine that this process runs on, as a mesh of one host without dimensions. */
export function thisHost(): HostMesh<never> {
  return new HostMesh(currentRuntime(), wholeRegion({}));
}

const ownProcs = new WeakMap<object, OwnProc>();

/**
 * Returns the proc that the calling code runs in, as a mesh of one proc without dimensions. Actors that are spawned on
 * it share the event loop of the caller.
 */
export function thisProc(): ProcMesh<never> {
  const here = currentRuntime();
  const { proc } = currentCell();
  let own = ownProcs.get(proc);
  if (own === undefined) {
    own = new OwnProc(here, here.procs.get(proc.id)!);
    ownProcs.set(proc, own);
  }
  return new ProcMesh<never>(own, wholeRegion({}));
}
