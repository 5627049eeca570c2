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
  flattenRegion,
  formatRegionTable,
  joinExtents,
  type OnlyKeys,
  type Point,
  type PointFor,
  points,
  type Region,
  type Renamed,
  type RenameSpec,
  regionExtent,
  regionSize,
  renameRegion,
  type Sliced,
  type SliceSpec,
  type Split,
  type SplitNames,
  type SplitSizes,
  type SplitSpec,
  singleRankRegion,
  sliceRegion,
  splitRegion,
  wholeRegion,
} from "../../shape/index.js";
import type { AttachedHosts } from "../attached/attached-hosts.js";
import { ProcMesh } from "./proc-mesh.js";
import { planProcs, type ReplaceOptions, type SpawnProcsOptions } from "./spawn-procs-options.js";
import { planReplacements, startProcs } from "./start-procs.js";

/** Time in ms for which queued messages are handled at a stop. */
const defaultDrain = 5000;

/** A mesh of hosts, or a slice of one. {@link thisHost} and {@link attachHosts} return host meshes. */
export class HostMesh<D extends string = string> {
  readonly #runtime: ProcessRuntime;
  readonly #region: Region;
  readonly #attached: AttachedHosts | undefined;

  /**
   * Called by `thisHost` and `attachHosts`.
   *
   * @hidden
   */
  constructor(here: ProcessRuntime, region: Region, attachment?: AttachedHosts) {
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

  /** The size of each dimension, in the order of the dimensions. */
  get extent(): Extent<D> {
    return regionExtent(this.#region) as Extent<D>;
  }

  /** The number of hosts. */
  get size(): number {
    return regionSize(this.#region);
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
    const procs = startProcs(this.#runtime, extent, planProcs(options, size, hosts));
    attachment?.addProcs(procs);
    const replacing = (changes: ReplaceOptions) => {
      const changed = { ...options, ...changes } as SpawnProcsOptions;
      return planReplacements(this.#runtime, procs, planProcs(changed, size, hosts));
    };
    return new ProcMesh<D | P>(procs, wholeRegion(extent), replacing);
  }

  /**
   * Returns a part of the mesh, whose ranks are numbered from 0. An index removes its dimension, a {@link range} keeps
   * a part of the dimension, and a point selects one host.
   *
   * @param point a position in this mesh
   * @returns the part as a mesh of its own; the hosts are the same
   * @throws {TypeError} when a dimension does not exist, or the point belongs to another extent
   * @throws {RangeError} when an index or a range is outside the dimension, or a range is empty
   */
  slice<P extends string>(point: PointFor<D, P>): HostMesh<never>;
  /**
   * @param spec an index or a range for each dimension to cut: `{ gpus: 0 }`, `{ gpus: range(0, 4) }`
   * @returns the part as a mesh of its own; the hosts are the same
   */
  slice<const S extends SliceSpec<D>>(spec: OnlyKeys<D, S>): HostMesh<Sliced<D, S>>;
  slice(spec: SliceSpec | Point): unknown {
    return this.#withRegion(sliceRegion(this.#region, spec));
  }

  /**
   * Replaces dimensions by several dimensions each: `split({ gpus: ["dp", "tp"] }, { tp: 2 })`. Ranks and their order
   * stay.
   *
   * @param spec the new dimensions of each dimension to split, outermost first
   * @param sizes the sizes of the new dimensions; one size of each split can be left out
   * @returns the same hosts with other dimensions
   * @throws {TypeError} when a dimension does not exist, a name is used twice, or a size is missing
   * @throws {RangeError} when the sizes do not multiply to the size of the dimension
   */
  split<const M extends SplitSpec<D>>(
    spec: OnlyKeys<D, M>,
    sizes: SplitSizes<SplitNames<M>> = {},
  ): HostMesh<Split<D, M>> {
    return this.#withRegion(splitRegion<string, SplitSpec>(this.#region, spec, sizes));
  }

  /**
   * Gives dimensions other names: `rename({ gpus: "tp" })`.
   *
   * @param names the new name of each dimension to rename
   * @returns the same hosts with other dimensions
   * @throws {TypeError} when a dimension does not exist, or a name is invalid or used twice
   */
  rename<const M extends RenameSpec<D>>(names: OnlyKeys<D, M>): HostMesh<Renamed<D, M>> {
    return this.#withRegion(renameRegion<string, RenameSpec>(this.#region, names));
  }

  /**
   * Replaces all dimensions by one. Ranks and their order stay.
   *
   * @param name of the new dimension: letters, digits and underscores, with no digit first
   * @returns the same hosts with one dimension
   * @throws {TypeError} when `name` is invalid
   * @throws {RangeError} when this mesh is a slice that leaves out ranks in between
   */
  flatten<N extends string>(name: N): HostMesh<N> {
    return this.#withRegion(flattenRegion(this.#region, name));
  }

  /**
   * Returns one host, as a mesh of size 1.
   *
   * @param point the position of the host: a {@link Point} of a mesh with the same extent
   * @throws {TypeError} when the point belongs to another extent
   */
  at<P extends string>(point: PointFor<D, P>): HostMesh<never> {
    return this.#withRegion(singleRankRegion(this.#region, point));
  }

  /** Yields the position and the host of each rank, in rank order. */
  *[Symbol.iterator](): Generator<[Point<D>, HostMesh<never>], void, undefined> {
    for (const point of points(this.#region)) yield [point as Point<D>, this.at(point as never)];
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
  toString(): string {
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

  #withRegion<E extends string>(region: Region): HostMesh<E> {
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
