/**
 * The detached actors, as the root of a context uses them. They belong to a controller on the hosts, which is started when the
 * first one is created. The context holds their resources on its hosts, so that its tasks do not use them.
 */
import {
  type ActorFound,
  type ActorOrder,
  type DetachedActor,
  DetachedActorsActor,
  type DetachedActorsMesh,
  type HeldForActor,
  type TaskHostMesh,
} from "../../../generated/tasks.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import { type ActorMesh, codec, DeliveryError, type HostMesh, SupervisionError } from "../../index.js";
import { thrownByHandler } from "../actors/creation-errors.js";
import { DetachedActorError } from "../errors.js";
import {
  type ActorClass,
  attachmentOf,
  currentRuntime,
  daemonsOf,
  findOnHosts,
  mainClock,
  serveOnHosts,
} from "../kernel.js";
import { tell } from "../tell.js";
import { DetachedKeeper } from "./detached-keeper.js";
import { keeperName } from "./keeper-name.js";

/** The parts of the context that detached actors use. */
export interface DetachedParts {
  /** The hosts of the context; undefined: this machine, or a mesh of processes. */
  readonly mesh: HostMesh | undefined;
  readonly hosts: readonly { readonly host: TaskHostMesh<never> }[];
  /** Runs code that sends messages, as code of the program. */
  readonly inTurn: <T>(body: () => T) => T;
}

/** A detached actor, as the root keeps it. */
export interface FoundDetached {
  /** The number of the actor on its controller. */
  readonly id: bigint;
  readonly classId: string;
  /** The time of the request for it, in milliseconds since 1970. */
  readonly since: number;
  readonly placed: ActorFound["placed"];
  readonly created: boolean;
}

/** The number of orders to a controller that ends, and the time between them in milliseconds. */
const mostTries = 20;
const retryPause = 100;

export class DetachedActors {
  readonly #parts: DetachedParts;
  #keeper: DetachedActorsMesh<never> | undefined;
  /** The actors whose resources the context holds, by their numbers on the controller. */
  readonly #held = new Set<bigint>();
  /** The numbers under which hosts hold resources, which are those of no actor of the context. */
  #lastHold = 2n ** 63n;

  constructor(parts: DetachedParts) {
    this.#parts = parts;
  }

  /** Whether the hosts can have detached actors. */
  get isPossible(): boolean {
    const { mesh } = this.#parts;
    return mesh !== undefined && attachmentOf(mesh) !== undefined;
  }

  /** Holds the resources of the detached actors that are on the hosts of the context. */
  async holdExisting(): Promise<void> {
    if (!this.isPossible) return;
    const actors = await this.#ask((keeper) => keeper.list.callOne());
    await Promise.all((actors ?? []).map((actor) => this.#hold(actor)));
  }

  /** Returns the actor with a name; undefined if there is none. */
  async find(name: string): Promise<FoundDetached | undefined> {
    if (!this.isPossible) return undefined;
    const found = await this.#ask((keeper) => keeper.find.callOne(name));
    if (found === undefined || found === null) return undefined;
    await this.#hold(found);
    return this.#placed(found);
  }

  /**
   * Creates an actor, or finds the one that another program has created meanwhile.
   *
   * @param host the number of its host in the context
   * @throws DetachedActorError if nothing of the context outlives the program
   */
  async create(name: string, order: ActorOrder, host: number, getIfExists: boolean): Promise<FoundDetached> {
    const daemons = await daemonsOf(this.#parts.mesh!);
    const manager = this.#parts.hosts[host]!.host;
    const number = ++this.#lastHold;
    const held = await manager.hold.callOne({ ...order, id: number }).then(undefined, rethrow);
    const release = () => this.#release(manager, number);
    try {
      const found = await this.#createWith(name, order, daemons[host]!, held, getIfExists);
      if (found.created) {
        this.#held.add(found.id);
        this.#releaseAtEnd(found.id, release);
      } else {
        release();
        await this.#hold(found);
      }
      return await this.#placed(found);
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Stops an actor and its process. An unknown number has no effect. */
  async stop(id: bigint, reason: string, drain: number): Promise<void> {
    await this.#ask((keeper) => keeper.end.callOne(id, reason, drain));
  }

  async #createWith(
    name: string,
    { registry, classId, args, restarts, resources, maxCalls }: ActorOrder,
    host: bigint,
    { gpus, env }: HeldForActor,
    getIfExists: boolean,
  ): Promise<DetachedActor> {
    const limit = maxCalls === undefined ? {} : { maxCalls };
    const order = { name, getIfExists, host, registry, classId, args, restarts, resources, gpus, env, ...limit };
    for (let tries = 0; tries < mostTries; tries++) {
      await this.#serve(name);
      const found = await this.#ask((keeper) => keeper.create.callOne(order));
      if (found !== undefined) return found;
      // The controller has just ended, because it had no actor. Its host starts another one when its process is gone.
      await new Promise<void>((resolve) => mainClock().after(retryPause, resolve));
    }
    throw new DetachedActorError(`cannot create detached actor ${JSON.stringify(name)}: its controller ends at once`);
  }

  /** Has the controller started, if there is none. */
  async #serve(name: string): Promise<void> {
    const actor = await currentRuntime().platform.classes.resolve(DetachedKeeper as unknown as ActorClass);
    const args = DetachedActorsActor.descriptor.args.encode([]);
    try {
      await serveOnHosts(this.#parts.mesh!, { name: keeperName, actor, args });
    } catch (cause) {
      throw new DetachedActorError(`cannot create detached actor ${JSON.stringify(name)}: ${errorMessage(cause)}`, {
        cause,
      });
    }
  }

  /** Sends a request to the controller. Returns undefined if there is none, or it has ended. */
  async #ask<T>(send: (keeper: DetachedActorsMesh<never>) => PromiseLike<T>): Promise<T | undefined> {
    for (let isKnown = this.#keeper !== undefined; ; isKnown = false) {
      this.#keeper ??= (await findOnHosts(
        this.#parts.mesh!,
        "cannot find detached actors",
        keeperName,
        DetachedActorsActor.descriptor,
      )) as DetachedActorsMesh<never> | undefined;
      const keeper = this.#keeper;
      if (keeper === undefined) return undefined;
      try {
        return await this.#parts.inTurn(() => send(keeper));
      } catch (error) {
        if (!(error instanceof SupervisionError || error instanceof DeliveryError)) throw thrownByHandler(error);
        this.#keeper = undefined;
        // The one that was known can have ended long ago, and another one can have been started.
        if (!isKnown) return undefined;
      }
    }
  }

  /** Returns the actor with its mesh, which this process looks up. */
  async #placed({ id, name, registry, classId, since, gpus, created }: DetachedActor): Promise<FoundDetached> {
    const { descriptor } = await currentRuntime().platform.classes.find({ registry, id: classId });
    const failed = `cannot get actor ${JSON.stringify(name)}`;
    const mesh = await findOnHosts(this.#parts.mesh!, failed, name, descriptor);
    if (mesh === undefined) throw new Error(`${failed}: it has ended meanwhile`);
    return {
      id,
      classId,
      since,
      created,
      placed: { mesh: codec.mesh<ActorMesh>(() => descriptor).encode(mesh), gpus },
    };
  }

  /** Holds the resources of an actor that this context has not created, until it ends. */
  async #hold({ id, host, resources, gpus }: DetachedActor): Promise<void> {
    if (this.#held.has(id)) return;
    this.#held.add(id);
    const daemons = await daemonsOf(this.#parts.mesh!);
    const manager = this.#parts.hosts[daemons.indexOf(host)]?.host;
    if (manager === undefined) return;
    const number = ++this.#lastHold;
    // A manager that has ended holds nothing.
    await manager.keep.callOne(number, resources, gpus).then(undefined, () => {});
    this.#releaseAtEnd(id, () => this.#release(manager, number));
  }

  /** Frees what a host holds. The context, and its managers with it, can have been closed. */
  #release(manager: TaskHostMesh<never>, number: bigint): void {
    this.#parts.inTurn(() => tell(manager, () => manager.release.broadcast(number)));
  }

  #releaseAtEnd(id: bigint, release: () => void): void {
    const ended = () => {
      this.#held.delete(id);
      release();
    };
    this.#ask((keeper) => keeper.untilEnded.callOne(id)).then(ended, ended);
  }
}

/** Returns the error of a context whose processes all end with the program. */
export function unattachedError(name: string): DetachedActorError {
  return new DetachedActorError(
    `cannot create detached actor ${JSON.stringify(name)}: all processes of this context end with its program; open the context ` +
      "on the hosts of a job, by JobContext.open({ hosts }), or leave out lifetime",
  );
}

function rethrow(error: unknown): never {
  throw thrownByHandler(error);
}
