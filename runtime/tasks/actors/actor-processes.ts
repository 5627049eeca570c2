/**
 * The actors that one host runs, each in a process of its own. The manager of the host calls the methods as an actor: it owns
 * the processes, which end with it.
 */
import type { ActorOrder, ActorPlaced } from "../../../generated/tasks.js";
import {
  type ActorMesh,
  codec,
  type MeshFailure,
  type MeshStopOptions,
  type ProcMesh,
  type SpawnProcsOptions,
} from "../../index.js";
import { callLimit, currentRuntime, viewOf } from "../kernel.js";
import { ENDLESS_RESTARTS } from "./actor-options.js";
import { ActorCreationError } from "./creation-errors.js";

/** Resources that an actor holds until it ends. */
export interface HeldResources {
  /** The indices of its GPUs. */
  readonly gpus: readonly number[];
  release(): void;
}

/** Starts the process of an actor. */
export type StartProcess = (options: Pick<SpawnProcsOptions<never>, "name" | "restart">) => ProcMesh<never>;

/** The parts of the manager of the host that the actors use. */
export interface ActorHost {
  /** Runs code that spawns processes, as code of the manager of the host. */
  inTurn<T>(body: () => T): T;
  /**
   * Waits until the resources of an actor are free, and takes them.
   *
   * @throws ResourceUnavailableError if they never are; also rethrows the reason of the signal
   */
  acquire(order: ActorOrder, signal: AbortSignal): Promise<HeldResources>;
  /**
   * Prepares the start of the process of an actor, until all that it needs is on the host.
   *
   * @returns a function that starts the process with further options
   */
  prepare(order: ActorOrder, gpus: readonly number[]): Promise<StartProcess>;
  /** Reports that an actor has failed for good. */
  ended(id: bigint, reason: string): void;
}

interface RunningActor {
  readonly order: ActorOrder;
  readonly procs: ProcMesh<never>;
  readonly mesh: ActorMesh;
  /** Gives its resources back. */
  release(): void;
  stopping: Promise<void> | undefined;
}

export class ActorProcesses {
  readonly #host: ActorHost;
  readonly #actors = new Map<bigint, RunningActor>();
  /** Orders whose actors have not started, by number. */
  readonly #starting = new Map<bigint, AbortController>();

  constructor(host: ActorHost) {
    this.#host = host;
  }

  /** The number of actors, those that are being started included. */
  get size(): number {
    return this.#actors.size + this.#starting.size;
  }

  /** Stops the actors that use the resources of a placement group. Never rejects. */
  async endGroup(group: bigint, reason: string): Promise<void> {
    const actors = [...this.#actors.values()].filter(({ order }) => order.group === group);
    await Promise.all(actors.map(({ order: { id } }) => this.#end(id, reason)));
  }

  async #end(id: bigint, reason: string): Promise<void> {
    const stopped = this.stop(id, { reason, drain: 0 });
    this.#host.ended(id, reason);
    await stopped;
  }

  /**
   * Starts a process, and the actor in it. Resolves when the constructor and `init` have run. Rejects with the reason if the
   * actor cannot be created; then nothing of it is left.
   *
   * @param signal gives the creation up
   */
  async start(order: ActorOrder, signal: AbortSignal): Promise<ActorPlaced> {
    const giveUp = new AbortController();
    const given = AbortSignal.any([signal, giveUp.signal]);
    this.#starting.set(order.id, giveUp);
    let held: HeldResources | undefined;
    try {
      held = await this.#host.acquire(order, given);
      const actor = await this.#spawn(order, held, given);
      this.#actors.set(order.id, actor);
      const { descriptor } = viewOf(actor.mesh);
      return { mesh: codec.mesh<ActorMesh>(() => descriptor).encode(actor.mesh), gpus: [...held.gpus] };
    } catch (error) {
      held?.release();
      throw error;
    } finally {
      this.#starting.delete(order.id);
    }
  }

  /** Returns the mesh of an actor that has started. */
  meshOf(id: bigint): ActorMesh | undefined {
    return this.#actors.get(id)?.mesh;
  }

  /** Returns whether an actor lives, or is being restarted. */
  lives(id: bigint): boolean {
    const actor = this.#actors.get(id);
    return actor !== undefined && actor.stopping === undefined && !hasFailed(actor);
  }

  /** Returns how many processes an actor has had before this one, and whether it waits for the next one. */
  lifeOf(id: bigint): { readonly incarnation: number; readonly isRestarting?: true } {
    const actor = this.#actors.get(id);
    const spawned = actor && spawnedOf(actor);
    if (spawned === undefined) return { incarnation: 0 };
    const isRestarting = spawned.statusOf(0).state === "restarting";
    return { incarnation: spawned.failures.incarnationOf(0), ...(isRestarting && { isRestarting }) };
  }

  /**
   * Stops an actor and its process, or gives its creation up. Resolves when the process has ended. Never rejects.
   *
   * @param options the reason, and the time in which the actor handles messages that it has been sent
   */
  async stop(id: bigint, options: MeshStopOptions): Promise<void> {
    this.#starting.get(id)?.abort(new Error(options.reason ?? "it was stopped"));
    const actor = this.#actors.get(id);
    if (actor === undefined) return;
    actor.stopping ??= this.#stop(actor, options);
    await actor.stopping;
  }

  /** Stops all actors. Never rejects. */
  async stopAll(options: MeshStopOptions): Promise<void> {
    const ids = [...this.#starting.keys(), ...this.#actors.keys()];
    await Promise.all(ids.map((id) => this.stop(id, options)));
  }

  /**
   * Ends the actor of a mesh that has failed, if the mesh is that of an actor or of its process. The failure of an actor whose
   * creation has failed arrives here, too, and has no effect: the creation has been rejected with it.
   */
  supervise(failure: MeshFailure): void {
    for (const actor of this.#actors.values()) {
      // Actors can have equal names.
      if (actor.order.label !== failure.mesh || actor.stopping !== undefined || !hasFailed(actor)) continue;
      const { id } = actor.order;
      const reason = failure.cause.message;
      actor.stopping = this.#stop(actor, { reason, drain: 0 });
      this.#host.ended(id, reason);
    }
  }

  async #spawn(order: ActorOrder, held: HeldResources, signal: AbortSignal): Promise<RunningActor> {
    const { label, registry, classId, restarts, maxCalls } = order;
    const [actorClass, startProcess] = await Promise.all([
      currentRuntime().platform.classes.find({ registry, id: classId }),
      this.#host.prepare(order, held.gpus),
    ]);
    signal.throwIfAborted();
    const maxRestarts = restarts === ENDLESS_RESTARTS ? Number.POSITIVE_INFINITY : restarts;
    const within = Number.POSITIVE_INFINITY;
    const restart = { policy: restarts === 0 ? "never" : "on-failure", maxRestarts, within } as const;
    const { inTurn } = this.#host;
    const procs = inTurn(() => startProcess({ name: label, restart }));
    const stop = () => void procs.stop({ reason: "its creation was given up", drain: 0 });
    signal.addEventListener("abort", stop);
    try {
      const args = actorClass.descriptor.args.decode(order.args);
      const mesh: ActorMesh = inTurn(() =>
        procs.with({ [callLimit]: maxCalls }).spawn(label, actorClass as never, ...(args as never)),
      );
      await mesh.ready.catch((error: Error) => {
        throw new ActorCreationError(`cannot create actor ${label}: ${error.message}`, { cause: error.cause ?? error });
      });
      signal.throwIfAborted();
      return { order, procs, mesh, release: () => held.release(), stopping: undefined };
    } catch (error) {
      await procs.stop({ reason: "its creation has failed", drain: 0 });
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async #stop(actor: RunningActor, options: MeshStopOptions): Promise<void> {
    await actor.procs.stop(options);
    actor.release();
    this.#actors.delete(actor.order.id);
  }
}

/** Returns whether an actor has failed for good. */
function hasFailed(actor: RunningActor): boolean {
  return spawnedOf(actor)?.isLost(0) !== false;
}

/** Returns the mesh of an actor as this process has spawned it; undefined if it has been stopped. */
function spawnedOf({ mesh }: RunningActor) {
  return currentRuntime().spawnedActors.get(viewOf(mesh).record.id);
}
