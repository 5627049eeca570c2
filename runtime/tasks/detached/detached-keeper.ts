/**
 * The detached actors of some hosts, as their controller has them: it owns their processes, keeps their names, and publishes
 * each by its name. The controller ends when it has had no actor for a while, so that the hosts can become idle.
 */
import {
  type ActorOrder,
  type DetachedActor,
  DetachedActorsActor,
  type DetachedOrder,
} from "../../../generated/tasks.js";
import { toError } from "../../../shared/text/error-message.js";
import { context, type HostMesh, type MeshFailure, type PublishedMesh, publish } from "../../index.js";
import { ActorNames } from "../actors/actor-names.js";
import { ActorProcesses } from "../actors/actor-processes.js";
import {
  currentCell,
  daemonsOf,
  endController,
  mainClock,
  NoMessageTurn,
  oneRank,
  runInTurn,
  servedHosts,
} from "../kernel.js";

/** The time in milliseconds after which a controller without actors ends. */
const idleLimit = 10_000;

interface Kept {
  readonly found: Omit<DetachedActor, "created">;
  readonly ended: Promise<void>;
  readonly resolveEnded: () => void;
  published: PublishedMesh | undefined;
}

/** @internal */
export class DetachedKeeper extends DetachedActorsActor {
  readonly #hosts = servedHosts();
  readonly #daemons = daemonsOf(this.#hosts);
  readonly #cell = currentCell();
  readonly #clock = mainClock();
  readonly #names = new ActorNames<Kept>();
  readonly #kept = new Map<bigint, Kept>();
  /** The orders of actors that are being created, by number. */
  readonly #orders = new Map<bigint, DetachedOrder>();
  readonly #processes: ActorProcesses;
  #lastId = 0n;
  #requests = 0;
  #idle = this.#clock.after(idleLimit, () => this.#endIfIdle());

  constructor() {
    super();
    this.#processes = new ActorProcesses({
      inTurn: (body) => this.#inTurn(body),
      // The context that asks holds the resources.
      acquire: async ({ id }) => ({ gpus: this.#orders.get(id)!.gpus, release: () => {} }),
      prepare: async ({ id }) => {
        const { host, env } = this.#orders.get(id)!;
        const rank = (await this.#daemons).indexOf(host);
        if (rank < 0) throw new Error("its host has been attached after the controller of detached actors has started");
        const on: HostMesh<never> = oneRank(this.#hosts as HostMesh, rank);
        return (options) => on.spawnProcs({}, { ...options, env });
      },
      ended: (id) => this.#ended(id),
    });
  }

  async create(order: DetachedOrder): Promise<DetachedActor> {
    const { name, classId, getIfExists } = order;
    const at = this.#clock.epochMs();
    const claim = this.#names.claim({ name, classId, getIfExists, at });
    if (claim.kind === "found") return { ...(await claim.actor).found, created: false };
    this.#requests++;
    try {
      const kept = await this.#create(order, at);
      claim.creation.created(kept);
      // It can have failed while it was published.
      if (!this.#processes.lives(kept.found.id)) this.#ended(kept.found.id);
      return { ...kept.found, created: true };
    } catch (error) {
      claim.creation.failed(toError(error));
      throw error;
    } finally {
      this.#requests--;
      this.#awaitRequests();
    }
  }

  async find(name: string): Promise<DetachedActor | null> {
    const kept = await this.#names.find(name);
    return kept === undefined ? null : { ...kept.found, created: false };
  }

  async end(id: bigint, reason: string, drain: number): Promise<void> {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    await this.#processes.stop(id, { reason, drain });
    this.#ended(id);
    await kept.published?.unpublish();
  }

  list(): DetachedActor[] {
    return [...this.#kept.values()].map(({ found }) => ({
      ...{ ...found, created: false },
      ...this.#processes.lifeOf(found.id),
    }));
  }

  async untilEnded(id: bigint): Promise<void> {
    await this.#kept.get(id)?.ended;
  }

  override supervise(failure: MeshFailure): boolean {
    this.#processes.supervise(failure);
    return true;
  }

  async #create(order: DetachedOrder, since: number): Promise<Kept> {
    const { name, registry, classId, args, restarts, resources, gpus, host, maxCalls } = order;
    const id = ++this.#lastId;
    this.#orders.set(id, order);
    const limit = maxCalls === undefined ? {} : { maxCalls };
    const started: ActorOrder = { id, label: name, registry, classId, args, resources, restarts, ...limit };
    try {
      await this.#processes.start(started, context().signal);
      const published = await publish(name, this.#processes.meshOf(id)!);
      let resolveEnded!: () => void;
      const ended = new Promise<void>((resolve) => {
        resolveEnded = resolve;
      });
      const kept: Kept = {
        found: { id, name, registry, classId, since, host, resources, gpus },
        ...{ ended, resolveEnded, published },
      };
      this.#kept.set(id, kept);
      return kept;
    } catch (error) {
      await this.#processes.stop(id, { reason: "it could not be created", drain: 0 });
      throw error;
    } finally {
      this.#orders.delete(id);
    }
  }

  #ended(id: bigint): void {
    const kept = this.#kept.get(id);
    if (kept === undefined) return;
    this.#kept.delete(id);
    this.#names.free(kept.found.name, kept);
    void kept.published?.unpublish();
    kept.resolveEnded();
    this.#awaitRequests();
  }

  /** Ends the controller later if it has no actor then. */
  #awaitRequests(): void {
    this.#idle.cancel();
    this.#idle = this.#clock.after(idleLimit, () => this.#endIfIdle());
  }

  #endIfIdle(): void {
    if (this.#kept.size === 0 && this.#requests === 0) void endController("it has no detached actor");
  }

  /** Runs code outside of the message that is being handled: it goes on when the caller of the message has ended. */
  #inTurn<T>(body: () => T): T {
    return runInTurn(new NoMessageTurn(this.#cell), body) as T;
  }
}
