/**
 * `ProcMesh`, the public handle of a mesh of procs: a region of the procs that were started together, on which actors
 * are spawned. Slices are meshes too. The procs themselves are in `proc/mesh/spawned-procs.ts`.
 */
import type { Actor } from "../../actor/actor.js";
import { currentCell } from "../../actor/context.js";
import type { Apply } from "../../actor/mesh-kind.js";
import type { ActorClass } from "../../actor/reference/actor-request.js";
import { checkStopOptions, type MeshStopOptions, noReason } from "../../actor/reference/mesh-record.js";
import { formatId } from "../../link/address.js";
import type { ProcGroup, SupervisionPlan } from "../../proc/mesh/proc-group.js";
import type { StartedChild } from "../../proc/mesh/replace-child.js";
import { SpawnedProcs } from "../../proc/mesh/spawned-procs.js";
import {
  checkOptionNames,
  type Extent,
  formatRegionTable,
  meshOfRegion,
  meshRegion,
  type Region,
  RegionMesh,
  type RegionMeshKind,
} from "../../shape/index.js";
import { planSupervision, type SpawnOptions } from "./spawn-options.js";
import { type ReplaceOptions, replaceableOptions } from "./spawn-procs-options.js";

/** A class that extends a generated actor class. */
export interface SpawnableClass {
  /** Makes an actor. Called by the runtime. */
  new (...args: never[]): Actor;
  /** Describes the actor interface. Generated code sets it. */
  readonly descriptor: ActorClass["descriptor"];
}

/** The type of the mesh that `ProcMesh.spawn` returns for the class `C` and the dimensions `D`. */
export type MeshOf<C extends SpawnableClass, D extends string> = Apply<InstanceType<C>["$kind"], D>;

/** The arguments of the constructor that the schema declares for the class `C`. */
export type ArgsOf<C extends SpawnableClass> = InstanceType<C>["$kind"]["args"];

/** A class whose constructor accepts the arguments that its schema declares. */
type Constructible<C extends SpawnableClass> = new (...args: ArgsOf<C>) => Actor;

/** Time in ms for which queued messages are handled at a stop or a replacement. */
const defaultDrain = 5000;

/** Makes the function that starts replacement processes with the given changes. */
type ReplacementPlanner = (changes: ReplaceOptions) => (rank: number) => StartedChild;

/** Maps the names of dimensions to types of proc meshes. */
interface ProcMeshKind extends RegionMeshKind {
  readonly mesh: ProcMesh<this["dims"]>;
}

/** A mesh of procs, or a slice of one. `HostMesh.spawnProcs` and {@link thisProc} return proc meshes. */
export class ProcMesh<D extends string = string> extends RegionMesh<ProcMeshKind, D> {
  readonly #group: ProcGroup & { readonly ready: Promise<void>; readonly extent: Extent };
  readonly #region: Region;
  readonly #planReplacement: ReplacementPlanner | undefined;
  readonly #plan: SupervisionPlan;

  /**
   * Called by `spawnProcs` and `thisProc`.
   *
   * @hidden
   */
  constructor(
    procs: ProcGroup & { readonly ready: Promise<void>; readonly extent: Extent },
    region: Region,
    replacing?: ReplacementPlanner,
    plan: SupervisionPlan = {},
  ) {
    super();
    this.#plan = plan;
    this.#group = procs;
    this.#region = region;
    this.#planReplacement = replacing;
  }

  /** The name of the mesh in reports, as given to `spawnProcs`. */
  get name(): string {
    return this.#group.name;
  }

  /**
   * Resolves when all procs have started and run their bootstrap modules. Rejects with the reason if a proc has not.
   */
  get ready(): Promise<void> {
    return this.#group.ready;
  }

  /**
   * Makes one actor on each proc. The actors are owned by the actor that calls this method. The method returns at once:
   * calls wait until the actors have started.
   *
   * @param name of the mesh, in reports and in the names of its actors
   * @param actorClass a class that extends a generated actor class, exported by a module that the registry lists
   * @param args the arguments of the constructor; each actor gets a copy, which has been encoded and decoded
   * @returns a mesh with the dimensions of the procs
   * @throws {TypeError} when `name` is empty, `actorClass` is not an actor class, or the number of arguments is wrong
   * @throws {CodecError} when an argument has a wrong type or is out of range
   * @throws {Error} when the class is not registered, the procs have been stopped, or an actor module is being loaded
   */
  spawn<C extends SpawnableClass>(name: string, actorClass: C & Constructible<C>, ...args: ArgsOf<C>): MeshOf<C, D> {
    const owner = currentCell();
    const mesh: unknown = this.#group.spawn(this.#region, name, actorClass as ActorClass, args, owner, this.#plan);
    return mesh as MeshOf<C, D>;
  }

  /**
   * Returns the same procs with options for the actors that are spawned on them: `procs.with({ restart
   * }).spawn("workers", Worker)`.
   *
   * @param options restarts of failed actors, and time limits of handlers
   * @throws {TypeError} when an option is malformed
   * @throws {RangeError} when a number is out of range
   */
  with(options: SpawnOptions): ProcMesh<D> {
    return new ProcMesh(this.#group, this.#region, this.#planReplacement, {
      ...this.#plan,
      ...planSupervision(options),
    });
  }

  /**
   * Replaces the processes of this mesh or slice by new ones, one after another in rank order: a rolling upgrade. Each
   * new process gets the actors of all meshes that live there, made of the same arguments, with fresh state. Later
   * messages go to the new process, under the same addresses. The old process handles the messages that it has been
   * sent, for at most `drain` milliseconds, and is stopped.
   *
   * @param changes how the new processes differ from what `spawnProcs` was given
   * @returns a promise that resolves when the last process has been replaced
   * @throws {Error} as a rejection, when a new process cannot be started, a constructor or `init` fails, or the schemas
   *   are not compatible; that process and later ones are not replaced
   * @throws {TypeError} as a rejection, when an option is malformed
   * @throws {RangeError} as a rejection, when a number is out of range
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

  /** The procs by their numbers, in rank order. @internal */
  get procIds(): readonly bigint[] {
    return this.#group.locations(this.#region).map(({ proc }) => proc);
  }

  /** Returns a table as text, with one line for each rank: its number, its coordinates, and the id of the proc. */
  toTable(): string {
    const places = this.#group.locations(this.#region);
    return formatRegionTable(this.#region, ["process"], (rank) => [formatId(places[rank]!.proc)]);
  }

  /**
   * Stops the procs. Their actors take no new messages, handle queued messages for at most `drain` milliseconds, stop
   * what they own and run `cleanup`. A process that has not ended then gets SIGTERM, and 2 seconds later SIGKILL.
   * Stopping a mesh again has no effect.
   *
   * @param options the reason, and the time for queued messages
   * @returns a promise that resolves when all procs have ended; it never rejects
   * @throws {Error} when this mesh is a slice, or is that of `thisProc`
   * @throws {RangeError} when `drain` is negative or larger than 2^32 - 1
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

  /** Stops the procs at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Returns the name and the extent as text: `procs{"gpus":4}`. */
  override toString(): string {
    return `${this.name}${JSON.stringify(this.extent)}`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `ProcMesh ${this.toString()}`;
  }

  /** @hidden */
  protected get [meshRegion](): Region {
    return this.#region;
  }

  /** @hidden */
  protected [meshOfRegion](region: Region): ProcMesh {
    return new ProcMesh(this.#group, region, this.#planReplacement, this.#plan);
  }
}

function sizeOfExtent(extent: Extent): number {
  return Object.values(extent).reduce((product, size) => product * size, 1);
}
