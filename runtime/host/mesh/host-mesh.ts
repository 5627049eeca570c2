/** `HostMesh`, the public handle of a mesh of hosts, on which procs are spawned: this machine, or attached hosts. */

import { currentCell } from "../../actor/context.js";
import { checkStopOptions, type MeshStopOptions, noReason } from "../../actor/reference/mesh-record.js";
import { currentRuntime } from "../../proc/process/current-runtime.js";
import { OwnProc } from "../../proc/process/own-proc.js";
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import {
  baseRanks,
  type Extent,
  extentSize,
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
import { ProcMesh } from "./proc-mesh.js";
import type { ProcPlanner } from "./resize-options.js";
import { planProcs, type SpawnProcsOptions } from "./spawn-procs-options.js";
import { type PlanForExtent, planReplacements, startJoining, startProcs } from "./start-procs.js";

/** Time in ms for which queued messages are handled at a stop. */
const defaultDrain = 5000;

/** Maps the names of dimensions to types of host meshes. */
interface HostMeshKind extends RegionMeshKind {
  readonly mesh: HostMesh<this["dims"]>;
}

/** A mesh of hosts, or a slice of one. {@link thisHost} and {@link attachHosts} return host meshes. */
export class HostMesh<D extends string = string> extends RegionMesh<HostMeshKind, D> {
  readonly #runtime: ProcessRuntime;
  readonly #region: Region;
  readonly #attached: AttachedHosts | undefined;

  /**
   * Called by `thisHost` and `attachHosts`.
   *
   * @hidden
   */
  constructor(here: ProcessRuntime, region: Region, attachment?: AttachedHosts) {
    super();
    this.#runtime = here;
    this.#region = region;
    this.#attached = attachment;
  }

  /** The name of the mesh in reports, as given to `attachHosts`. */
  get name(): string {
    return this.#attached?.name ?? "this host";
  }

  /**
   * Resolves when all attached hosts, also those outside this slice, have accepted this driver. Rejects with the reason
   * if a host has not.
   */
  get ready(): Promise<void> {
    return this.#attached?.ready ?? Promise.resolve();
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
    attachment?.checkOpen();
    const hosts = attachment && [...baseRanks(this.#region)].map((rank) => attachment.hosts[rank]!);
    const size = extentSize(perHost);
    const planFor = (given: SpawnProcsOptions<D | P>): PlanForExtent<D | P> => {
      const plan = planProcs(given, size, hosts);
      return (at) => (at === extent ? plan : planProcs(given, extentSize(at) / this.size, hosts));
    };
    const plans = planFor(options);
    const procs = startProcs(this.#runtime, extent, plans);
    attachment?.addProcs(procs);
    const planner: ProcPlanner = {
      hostDimensions: Object.keys(this.extent),
      listsCpus: Array.isArray(options.cpus),
      replacing: (changes) =>
        planReplacements(this.#runtime, procs, planFor({ ...options, ...changes } as SpawnProcsOptions<D | P>)),
      joining: (joining) => {
        attachment?.checkOpen();
        return startJoining(this.#runtime, procs, plans, joining);
      },
    };
    return new ProcMesh<D | P>(procs, wholeRegion(extent), { planner });
  }

  /**
   * Returns a table as text, with one line for each rank: its number, its coordinates, and the address of an attached
   * host.
   */
  toTable(): string {
    const attachment = this.#attached;
    if (attachment === undefined) return formatRegionTable(this.#region, [], () => []);
    const ranks = [...baseRanks(this.#region)];
    return formatRegionTable(this.#region, ["address"], (rank) => [attachment.hosts[ranks[rank]!]!.address]);
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
    const attachment = this.#requireWhole("stop");
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

  #requireWhole(verb: string): AttachedHosts {
    const attachment = this.#attached;
    if (attachment === undefined) throw new Error(`cannot ${verb} the own host: it was not attached`);
    if (this.size === attachment.hosts.length) return attachment;
    throw new Error(`cannot ${verb} a slice of mesh "${this.name}" of hosts: ${verb} the whole mesh`);
  }

  /** @hidden */
  protected get [meshRegion](): Region {
    return this.#region;
  }

  /** @hidden */
  protected [meshOfRegion](region: Region): HostMesh {
    return new HostMesh(this.#runtime, region, this.#attached);
  }
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
