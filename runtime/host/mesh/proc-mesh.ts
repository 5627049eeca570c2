/**
 * A mesh of procs as users hold it: a region of the procs that were made together, on which actors are spawned. Slices
 * are meshes too. What becomes of the procs is not decided here.
 */
import type { Actor } from "../../actor/actor.js";
import { currentCell } from "../../actor/context.js";
import type { Apply } from "../../actor/mesh-kind.js";
import { checkStopOptions, type MeshStopOptions, noReason } from "../../actor/reference/mesh-record.js";
import type { ActorClass } from "../../actor/reference/proc-hooks.js";
import { hex64 } from "../../link/address.js";
import type { ProcGroup, SupervisionPlan } from "../../proc/mesh/proc-group.js";
import type { StartedChild } from "../../proc/mesh/replace-child.js";
import { SpawnedProcs } from "../../proc/mesh/spawned-procs.js";
import {
  checkOptionNames,
  type Extent,
  flattenRegion,
  formatRegionTable,
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
} from "../../shape/index.js";
import { planSupervision, type SpawnOptions } from "./spawn-options.js";
import { type ReplaceOptions, replaceableOptions } from "./spawn-procs-options.js";

/** A class that extends a generated actor. */
export interface SpawnableClass {
  new (...args: never[]): Actor;
  readonly descriptor: ActorClass["descriptor"];
}

/** The mesh of actors that `spawn` makes of a class. */
export type MeshOf<C extends SpawnableClass, D extends string> = Apply<InstanceType<C>["$kind"], D>;

/** The arguments that an actor's schema asks for. */
export type ArgsOf<C extends SpawnableClass> = InstanceType<C>["$kind"]["args"];

/** A class whose constructor takes what its schema says. */
type Constructible<C extends SpawnableClass> = new (...args: ArgsOf<C>) => Actor;

const defaultDrain = 5000;

/** What starts a process in place of another one, given how it is to differ. */
type ReplacementPlanner = (changes: ReplaceOptions) => (rank: number) => StartedChild;

export class ProcMesh<D extends string = string> {
  readonly #group: ProcGroup & { readonly ready: Promise<void>; readonly extent: Extent };
  readonly #region: Region;
  readonly #planReplacement: ReplacementPlanner | undefined;
  readonly #plan: SupervisionPlan;

  /** Made by `spawnProcs` and `thisProc`. */
  constructor(
    procs: ProcGroup & { readonly ready: Promise<void>; readonly extent: Extent },
    region: Region,
    replacing?: ReplacementPlanner,
    plan: SupervisionPlan = {},
  ) {
    this.#plan = plan;
    this.#group = procs;
    this.#region = region;
    this.#planReplacement = replacing;
  }

  /** As given to `spawnProcs`. */
  get name(): string {
    return this.#group.name;
  }

  /** Dimension to size, in order. */
  get extent(): Extent<D> {
    return regionExtent(this.#region) as Extent<D>;
  }

  /** The number of procs. */
  get size(): number {
    return regionSize(this.#region);
  }

  /** Resolves when all procs have answered and run their bootstrap modules; rejects with why one has not. */
  get ready(): Promise<void> {
    return this.#group.ready;
  }

  /**
   * Makes an actor on each proc, owned by the actor that this is called in, and returns at once: calls wait behind it.
   * @throws TypeError for something that is no actor class and the wrong number of arguments, CodecError for arguments
   * of wrong types, Error for a class that is not registered, a name that is taken and procs that were stopped
   */
  spawn<C extends SpawnableClass>(name: string, actorClass: C & Constructible<C>, ...args: ArgsOf<C>): MeshOf<C, D> {
    const owner = currentCell();
    const mesh: unknown = this.#group.spawn(this.#region, name, actorClass as ActorClass, args, owner, this.#plan);
    return mesh as MeshOf<C, D>;
  }

  /**
   * The same procs, on which actors are spawned with options: `procs.with({ restart }).spawn("workers", Worker)`.
   * @throws TypeError, RangeError for options that make no sense
   */
  with(options: SpawnOptions): ProcMesh<D> {
    return new ProcMesh(this.#group, this.#region, this.#planReplacement, {
      ...this.#plan,
      ...planSupervision(options),
    });
  }

  /**
   * Replaces the processes of this mesh, or of this slice of one, one after another in rank order: for rolling upgrades. A
   * new process is started, as `spawnProcs` was told except for what `options` say, and gets the actors of all meshes that
   * live there, made of the same arguments, with fresh state. What is sent from then on goes to it, under the same
   * addresses; the old one handles what was sent before, for at most `drain` milliseconds (5,000), and is stopped. Resolves then.
   * @throws Error (as a rejection) if a new process, a constructor or an `init` fails, or schemas cannot be read by each
   * other: the old process goes on then, and those after it are not replaced. TypeError, RangeError for options
   */
  async replace({ drain = defaultDrain, ...changes }: ReplaceOptions = {}): Promise<void> {
    const procs = this.#group;
    if (!(procs instanceof SpawnedProcs) || this.#planReplacement === undefined) {
      throw new Error("cannot replace the own process: it was not spawned from here");
    }
    checkOptionNames(`cannot replace processes of "${this.name}"`, changes, ["drain", ...replaceableOptions]);
    checkStopOptions(this.name, { drain });
    await procs.replace(this.#region, this.#planReplacement(changes), drain);
  }

  /** Part of the mesh, with ranks counted from 0: an index drops its dimension, a range keeps part of it. */
  slice<P extends string>(point: PointFor<D, P>): ProcMesh<never>;
  slice<const S extends SliceSpec<D>>(spec: OnlyKeys<D, S>): ProcMesh<Sliced<D, S>>;
  slice(spec: SliceSpec | Point): unknown {
    return this.#withRegion(sliceRegion(this.#region, spec));
  }

  /** Several dimensions, outermost first, in place of one; one size for each split may be left out. */
  split<const M extends SplitSpec<D>>(
    spec: OnlyKeys<D, M>,
    sizes: SplitSizes<SplitNames<M>> = {},
  ): ProcMesh<Split<D, M>> {
    return this.#withRegion(splitRegion<string, SplitSpec>(this.#region, spec, sizes));
  }

  /** Other names for dimensions. */
  rename<const M extends RenameSpec<D>>(names: OnlyKeys<D, M>): ProcMesh<Renamed<D, M>> {
    return this.#withRegion(renameRegion<string, RenameSpec>(this.#region, names));
  }

  /** One dimension in place of all. @throws RangeError if this is a slice that leaves out ranks in between */
  flatten<N extends string>(name: N): ProcMesh<N> {
    return this.#withRegion(flattenRegion(this.#region, name));
  }

  /** The proc at a place. */
  at<P extends string>(point: PointFor<D, P>): ProcMesh<never> {
    return this.#withRegion(singleRankRegion(this.#region, point));
  }

  /** The procs by their numbers, in rank order. @internal */
  get procIds(): readonly bigint[] {
    return this.#group.locations(this.#region).map(({ proc }) => proc);
  }

  /** Each place with its proc, in rank order. */
  *[Symbol.iterator](): Generator<[Point<D>, ProcMesh<never>], void, undefined> {
    for (const point of points(this.#region)) yield [point as Point<D>, this.at(point as never)];
  }

  /** One line for each rank: its number, its coordinates, its process. */
  toTable(): string {
    const places = this.#group.locations(this.#region);
    return formatRegionTable(this.#region, ["process"], (rank) => [hex64(places[rank]!.proc)]);
  }

  /**
   * Stops the procs: no new messages, then those that wait, for at most `drain` (5 s), then what actors own and their
   * `cleanup`, then the processes, by SIGTERM and SIGKILL if need be. Idempotent, never rejects.
   * @throws Error on a slice and on the own process
   */
  stop(options: MeshStopOptions = {}): Promise<void> {
    const procs = this.#group;
    if (!(procs instanceof SpawnedProcs)) throw new Error("cannot stop the own process: it was not spawned from here");
    if (this.size !== sizeOfExtent(procs.extent)) {
      throw new Error(`cannot stop a slice of mesh "${this.name}": stop the whole mesh`);
    }
    checkStopOptions(this.name, options);
    const { reason = noReason, drain = defaultDrain } = options;
    return procs.stop({ reason, drain });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  toString(): string {
    return `${this.name}${JSON.stringify(this.extent)}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `ProcMesh ${this.toString()}`;
  }

  #withRegion<E extends string>(region: Region): ProcMesh<E> {
    return new ProcMesh(this.#group, region, this.#planReplacement, this.#plan);
  }
}

function sizeOfExtent(extent: Extent): number {
  return Object.values(extent).reduce((product, size) => product * size, 1);
}
