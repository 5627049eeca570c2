/** A mesh of hosts as users hold it: where procs are made. Either this machine, or hosts that were attached. */

import { currentCell } from "../../actor/context.js";
import { checkStopOptions, type MeshStopOptions, noReason } from "../../actor/reference/mesh-record.js";
import { OwnProc } from "../../proc/process/own-proc.js";
import { currentRuntime, type ProcessRuntime } from "../../proc/process/process-runtime.js";
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

/** In ms. */
const defaultDrain = 5000;

export class HostMesh<D extends string = string> {
  readonly #runtime: ProcessRuntime;
  readonly #region: Region;
  readonly #attached: AttachedHosts | undefined;

  /** Made by `thisHost` and `attachHosts`. */
  constructor(here: ProcessRuntime, region: Region, attachment?: AttachedHosts) {
    this.#runtime = here;
    this.#region = region;
    this.#attached = attachment;
  }

  /** As given to `attachHosts`. */
  get name(): string {
    return this.#attached?.name ?? "this host";
  }

  /** Resolves when all hosts, also those outside of this slice, have let this driver in; rejects with why one has not. */
  get ready(): Promise<void> {
    return this.#attached?.ready ?? Promise.resolve();
  }

  /** Dimension to size, in order. */
  get extent(): Extent<D> {
    return regionExtent(this.#region) as Extent<D>;
  }

  /** The number of hosts. */
  get size(): number {
    return regionSize(this.#region);
  }

  /**
   * Starts procs on each host, owned by the actor that this is called in, and returns at once: actors can be spawned on
   * them, and called, while they start.
   * @param perHost dimension to size, in addition to those of the hosts: `{ gpus: 4 }`
   * @throws TypeError, RangeError for dimensions and options that make no sense
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

  /** Part of the mesh, with ranks counted from 0: an index drops its dimension, a range keeps part of it. */
  slice<P extends string>(point: PointFor<D, P>): HostMesh<never>;
  slice<const S extends SliceSpec<D>>(spec: OnlyKeys<D, S>): HostMesh<Sliced<D, S>>;
  slice(spec: SliceSpec | Point): unknown {
    return this.#withRegion(sliceRegion(this.#region, spec));
  }

  /** Several dimensions, outermost first, in place of one; one size for each split may be left out. */
  split<const M extends SplitSpec<D>>(
    spec: OnlyKeys<D, M>,
    sizes: SplitSizes<SplitNames<M>> = {},
  ): HostMesh<Split<D, M>> {
    return this.#withRegion(splitRegion<string, SplitSpec>(this.#region, spec, sizes));
  }

  /** Other names for dimensions. */
  rename<const M extends RenameSpec<D>>(names: OnlyKeys<D, M>): HostMesh<Renamed<D, M>> {
    return this.#withRegion(renameRegion<string, RenameSpec>(this.#region, names));
  }

  /** One dimension in place of all. @throws RangeError if this is a slice that leaves out ranks in between */
  flatten<N extends string>(name: N): HostMesh<N> {
    return this.#withRegion(flattenRegion(this.#region, name));
  }

  /** The host at a place. */
  at<P extends string>(point: PointFor<D, P>): HostMesh<never> {
    return this.#withRegion(singleRankRegion(this.#region, point));
  }

  /** Each place with its host, in rank order. */
  *[Symbol.iterator](): Generator<[Point<D>, HostMesh<never>], void, undefined> {
    for (const point of points(this.#region)) yield [point as Point<D>, this.at(point as never)];
  }

  /** One line for each rank: its number, its coordinates, and its address, if it was attached. */
  toTable(): string {
    const attachment = this.#attached;
    if (attachment === undefined) return formatRegionTable(this.#region, [], () => []);
    const ranks = [...baseRanks(this.#region)];
    return formatRegionTable(this.#region, ["address"], (rank) => [attachment.hosts[ranks[rank]!]!.address]);
  }

  /**
   * Stops all procs that were made on these hosts, as `ProcMesh.stop` does, and leaves the hosts: nothing of this driver is left
   * there. Other drivers go on. Idempotent, never rejects.
   * @throws Error on a slice and on the own host
   */
  stop(options: MeshStopOptions = {}): Promise<void> {
    const attachment = this.#requireWhole("stop");
    checkStopOptions(this.name, options);
    const { reason = noReason, drain = defaultDrain } = options;
    return attachment.stop({ reason, drain });
  }

  /**
   * Ends the daemons, too, and with them the procs of all other drivers there.
   * @throws Error on a slice and on the own host; as a rejection, if a host could not be told
   */
  shutdown(options: MeshStopOptions = {}): Promise<void> {
    const attachment = this.#requireWhole("shut down");
    checkStopOptions(this.name, options);
    const { reason = "shut down", drain = defaultDrain } = options;
    return attachment.shutdown({ reason, drain });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

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

/** The machine that this process runs on, as a mesh of one host without dimensions. */
export function thisHost(): HostMesh<never> {
  return new HostMesh(currentRuntime(), wholeRegion({}));
}

const ownProcs = new WeakMap<object, OwnProc>();

/** The process, or the part of one, that the calling code belongs to, as a mesh of one proc without dimensions. */
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
