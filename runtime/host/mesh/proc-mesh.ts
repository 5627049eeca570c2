/**
 * `ProcMesh`, the public handle of a mesh of procs: a region of the procs that were started together, on which actors
 * are spawned. Slices are meshes too. The procs themselves are in `proc/mesh/spawned-procs.ts`.
 */
import { describeValue } from "../../../shared/text/describe-value.js";
import type { Actor } from "../../actor/actor.js";
import { currentCell } from "../../actor/context.js";
import { type ActorMesh, makeMesh } from "../../actor/mesh/actor-mesh.js";
import type { Apply, MeshKind } from "../../actor/mesh-kind.js";
import type { ActorClass } from "../../actor/reference/actor-request.js";
import { checkStopOptions, type MeshStopOptions, noReason } from "../../actor/reference/mesh-record.js";
import { MeshView } from "../../actor/reference/mesh-view.js";
import { formatId } from "../../link/address.js";
import type { ProcBackend } from "../../proc/launch/proc-backend.js";
import type { ProcGroup, SupervisionPlan } from "../../proc/mesh/proc-group.js";
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
import {
  checkActorsResizable,
  checkResizable,
  checkResize,
  type ProcPlanner,
  type ResizeOptions,
  type ResizeSpec,
} from "./resize-options.js";
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

/** The options of `ProcMesh.restart`. */
export interface RestartProcsOptions {
  /** The new processes run the code of the program as it is now. */
  readonly code: true;
  /** The time in milliseconds for which an old process handles the messages that it has been sent. Default: 5,000. */
  readonly drain?: number;
}

/** The parts of a handle that slices share. */
interface ProcMeshParts {
  readonly planner?: ProcPlanner | undefined;
  readonly plan?: SupervisionPlan;
  readonly ready?: Promise<void>;
}

/** Maps the names of dimensions to types of proc meshes. */
interface ProcMeshKind extends RegionMeshKind {
  readonly mesh: ProcMesh<this["dims"]>;
}

/** A mesh of procs, or a slice of one. `HostMesh.spawnProcs` and {@link thisProc} return proc meshes. */
export class ProcMesh<D extends string = string> extends RegionMesh<ProcMeshKind, D> {
  readonly #group: ProcGroup & { readonly ready: Promise<void>; readonly extent: Extent };
  readonly #region: Region;
  readonly #planner: ProcPlanner | undefined;
  readonly #plan: SupervisionPlan;
  readonly #ready: Promise<void>;

  /**
   * Called by `spawnProcs` and `thisProc`.
   *
   * @hidden
   */
  constructor(
    procs: ProcGroup & { readonly ready: Promise<void>; readonly extent: Extent },
    region: Region,
    { planner, plan = {}, ready }: ProcMeshParts = {},
  ) {
    super();
    this.#plan = plan;
    this.#group = procs;
    this.#region = region;
    this.#planner = planner;
    this.#ready = ready ?? procs.ready;
  }

  /** The name of the mesh in reports, as given to `spawnProcs`. */
  get name(): string {
    return this.#group.name;
  }

  /**
   * Resolves when all procs have started and run their bootstrap modules. Rejects with the reason if a proc has not. The
   * `ready` of a mesh that {@link resize} returned also waits until the procs that leave have ended.
   */
  get ready(): Promise<void> {
    return this.#ready;
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
    return this.#withParts(this.#region, { plan: { ...this.#plan, ...planSupervision(options) } });
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
    if (!(procs instanceof SpawnedProcs) || this.#planner === undefined) {
      throw new Error("cannot replace the own process: it was not spawned from here");
    }
    checkOptionNames(`cannot replace processes of "${this.name}"`, changes, ["drain", ...replaceableOptions]);
    checkStopOptions(this.name, { drain });
    await procs.replace(this.#region, this.#planner.replacing(changes), drain);
  }

  /**
   * Replaces the processes of this mesh or slice by new ones, one after another in rank order, so that they run the program's code as it is
   * now: after an edit of a file, or after another `sync` of the hosts. Actors whose classes have `save` and `restore` keep their state; the
   * others begin with fresh state. Addresses, handles and messages are as with {@link replace}.
   *
   * @example
   * ```ts
   * import { thisHost } from "viceroy";
   *
   * await using procs = thisHost().spawnProcs({ gpus: 4 });
   * await procs.restart({ code: true });
   * ```
   *
   * @param options what is new, and the time for messages of the old processes
   * @returns a promise that resolves when the last process has been replaced
   * @throws {Error} as a rejection, when a new process cannot be started, an actor cannot be created or its state cannot be
   *   restored; that process and later ones go on with the old code
   * @throws {TypeError} as a rejection, when an option is malformed
   * @throws {RangeError} as a rejection, when a number is out of range
   */
  async restart(options: RestartProcsOptions): Promise<void> {
    const procs = this.#group;
    if (!(procs instanceof SpawnedProcs) || this.#planner === undefined) {
      throw new Error("cannot restart the own process: it was not spawned from here");
    }
    const failed = `cannot restart processes of "${this.name}"`;
    checkOptionNames(failed, options, ["code", "drain"]);
    const { code, drain = defaultDrain } = options;
    if (code !== true) throw new TypeError(`${failed}: expected code: true, got ${describeValue(code)}`);
    checkStopOptions(this.name, { drain });
    procs.checkMembers(this.#region, failed);
    await procs.replace(this.#region, this.#planner.renewing(), drain, true);
  }

  /**
   * Changes the size of one dimension of this mesh. The ranks that stay keep their processes, their actors and their
   * state. Processes that join are started with the options of `spawnProcs`. Processes that leave take no new messages,
   * handle those that they have been sent, for at most `drain` milliseconds, run the `cleanup` of their actors and end;
   * this is not a failure. Older handles keep their extents: calls to ranks that have left reject.
   *
   * The method returns at once. Meshes of actors grow only when they are passed to {@link resizeActors}.
   *
   * @example
   * ```ts
   * import { thisHost } from "viceroy";
   *
   * await using procs = thisHost().spawnProcs({ workers: 4 });
   * const more = procs.resize({ workers: 8 });
   * console.log(more.size, procs.size); // 8 4
   * await more.ready;
   * ```
   *
   * @param sizes one dimension of `spawnProcs` and its new size, at least 1
   * @param options the time for messages of ranks that leave
   * @returns a handle of the mesh with its new extent
   * @throws {TypeError} when there is not exactly one dimension, the dimension does not exist, or an option is malformed
   * @throws {RangeError} when the size is not an integer from 1, or `drain` is out of range
   * @throws {Error} when this mesh is a slice or was resized since, has been stopped, is being replaced, or belongs to
   *   another actor, or when the mesh of hosts has too few hosts, or was sliced before processes were spawned on it
   */
  resize(sizes: ResizeSpec<D>, options: ResizeOptions = {}): ProcMesh<D> {
    const { extent, drain } = checkResize(`cannot resize mesh "${this.name}"`, this.#region, sizes, options);
    const procs = this.#group;
    const planner = this.#planner;
    if (!(procs instanceof SpawnedProcs) || planner === undefined) {
      throw new Error("cannot resize the own process: it was not spawned from here");
    }
    checkResizable(procs, planner, this.#region, extent, currentCell());
    const { region, ready } = procs.resize(extent, planner.joining, drain);
    const all = Promise.all([this.#ready, ready]).then(() => {});
    // A rejection is reported to the owner as a failure, too.
    all.catch(() => {});
    return this.#withParts(region, { ready: all });
  }

  /**
   * Gives a mesh of actors the extent of this mesh, after {@link resize}: creates actors on the processes that have joined,
   * with the arguments that the mesh was spawned with. The other actors and their state stay. The method returns at once:
   * calls wait until the actors have started.
   *
   * @param actors a whole mesh of actors that was spawned on the whole of this mesh of procs, at any extent that it had
   * @returns a handle of the same mesh of actors with the extent of this mesh; `actors` keeps its extent
   * @throws {TypeError} when `actors` is not a mesh of actors
   * @throws {Error} when the mesh of actors lives elsewhere, is a slice, has been stopped, or belongs to another actor, or
   *   when this mesh is a slice or was resized since
   */
  resizeActors<M extends ActorMesh<MeshKind, D>>(actors: M): M {
    const { procs, mesh, descriptor } = checkActorsResizable(this.#group, this.#region, actors, currentCell());
    const resized: unknown = makeMesh(new MeshView(mesh.record, descriptor, procs.resizeActors(mesh)));
    return resized as M;
  }

  /** The procs by their numbers, in rank order. @internal */
  get procIds(): readonly bigint[] {
    return this.#group.locations(this.#region).map(({ proc }) => proc);
  }

  /** The backends of the procs that this mesh has started, in rank order. @internal */
  get backends(): readonly ProcBackend[] {
    const procs = this.#group;
    return procs instanceof SpawnedProcs ? procs.backends(this.#region) : [];
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
    if (!procs.members.isWhole(this.#region)) {
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
    return this.#withParts(region, {});
  }

  #withParts<E extends string>(region: Region, parts: ProcMeshParts): ProcMesh<E> {
    const same = { planner: this.#planner, plan: this.#plan, ready: this.#ready };
    return new ProcMesh<E>(this.#group, region, { ...same, ...parts });
  }
}
