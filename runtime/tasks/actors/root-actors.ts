/**
 * The actors of a context, as its root knows them: where each lives, and which names they have. The root chooses the host of
 * an actor and orders it there; the host starts and supervises the process.
 */
import type { ActorFound, ActorOrder, ActorRequest, HostLoad, TaskHostMesh } from "../../../generated/tasks.js";
import { toError } from "../../../shared/text/error-message.js";
import { type DetachedActors, type FoundDetached, unattachedError } from "../detached/detached-actors.js";
import { ActorNames, checkClass, nameTakenError } from "./actor-names.js";
import { thrownByHandler } from "./creation-errors.js";
import { type Amounts, chooseHost, type HostState } from "./place-actor.js";

/** The parts of the root that the actors use. */
export interface RootHosts {
  /** The managers of the hosts, by their numbers. */
  readonly hosts: readonly { readonly host: TaskHostMesh<never>; readonly resources: Amounts }[];
  readonly detached: DetachedActors;
  /** Returns the time in milliseconds since 1970. */
  now(): number;
}

/** Time in milliseconds in which an actor that is stopped by its name still handles messages that it has been sent. */
const defaultDrain = 5000;

interface RootActor {
  readonly id: bigint;
  /** The number of its host; undefined: it is detached. */
  readonly host: number | undefined;
  /** The number of a detached actor on its controller. */
  readonly detached?: bigint;
  readonly name: string | undefined;
  readonly found: Omit<ActorFound, "created">;
}

interface Ordered {
  readonly id: bigint;
  readonly host: number;
  readonly resources: Amounts;
  hasEnded: boolean;
}

export class RootActors {
  readonly #root: RootHosts;
  readonly #names = new ActorNames<RootActor>();
  readonly #actors = new Map<bigint, RootActor>();
  /** Orders that hosts have not answered, with their resources, which the hosts may not count yet. */
  readonly #ordered = new Map<bigint, Ordered>();
  /** The number of actors of each host, those that are being created included. */
  readonly #counts = new Map<number, number>();
  #lastId = 0n;

  constructor(root: RootHosts) {
    this.#root = root;
  }

  /** The number of actors that live. */
  get size(): number {
    return this.#actors.size;
  }

  /**
   * Creates an actor, or finds the one that has the name.
   *
   * @throws ActorNameTakenError, TypeError, ResourceUnavailableError, DetachedActorError; also rethrows errors of the host
   */
  async request(request: ActorRequest): Promise<ActorFound> {
    const { name, getIfExists, order } = request;
    if (name === undefined) return { ...(await this.#create(request)).found, created: true };
    const at = this.#root.now();
    await this.#forgetIfDead(name);
    const claim = this.#names.claim({ name, classId: order.classId, getIfExists, at });
    if (claim.kind === "found") return { ...(await claim.actor).found, created: false };
    try {
      const [actor, created] = await this.#createNamed(name, request);
      claim.creation.created(actor);
      return { ...actor.found, created };
    } catch (error) {
      claim.creation.failed(toError(error));
      throw error;
    }
  }

  /** Returns the actor with a name, also one that is being created. */
  async find(name: string): Promise<ActorFound | null> {
    const actor = await this.#find(name);
    return actor === undefined ? null : { ...actor.found, created: false };
  }

  /** Stops the actor with a name. Returns false if there is none. */
  async stopNamed(name: string): Promise<boolean> {
    // An actor that cannot be created has been told to those who asked for it.
    const actor = await this.#find(name).catch(() => undefined);
    if (actor === undefined) return false;
    await this.stop(actor.id, `stopped by its name ${JSON.stringify(name)}`, defaultDrain);
    return true;
  }

  /** Stops an actor, and frees its name when it has ended. Rejects if its host does not answer. */
  async stop(id: bigint, reason: string, drain: number): Promise<void> {
    const actor = this.#actors.get(id);
    if (actor === undefined) return;
    const { host, detached } = actor;
    try {
      if (host === undefined) await this.#root.detached.stop(detached!, reason, drain);
      else await this.#root.hosts[host]!.host.stopActor.callOne(id, reason, drain);
    } finally {
      this.ended(id);
    }
  }

  /** Forgets an actor that has failed for good, and frees its name. */
  ended(id: bigint): void {
    const ordered = this.#ordered.get(id);
    // The report can arrive before the answer of the host.
    if (ordered !== undefined) ordered.hasEnded = true;
    const actor = this.#actors.get(id);
    if (actor === undefined) return;
    this.#actors.delete(id);
    if (actor.host !== undefined) this.#count(actor.host, -1);
    if (actor.name !== undefined) this.#names.free(actor.name, actor);
  }

  /** Forgets the actors of a host that has ended. */
  hostEnded(host: number): void {
    for (const actor of [...this.#actors.values()]) if (actor.host === host) this.ended(actor.id);
  }

  /**
   * Asks the host whether the actor with a name lives: a caller can see that an actor has failed before the host has
   * reported it here.
   */
  async #forgetIfDead(name: string): Promise<void> {
    const actor = this.#names.living(name);
    if (actor === undefined) return;
    const lives = await this.#lives(name, actor).catch(() => false);
    if (!lives) this.ended(actor.id);
  }

  async #lives(name: string, { id, host, detached }: RootActor): Promise<boolean> {
    if (host === undefined) return (await this.#root.detached.find(name))?.id === detached;
    return this.#root.hosts[host]!.host.actorLives.callOne(id);
  }

  /** Returns the actor with a name, also a detached one that this context does not know yet. */
  async #find(name: string): Promise<RootActor | undefined> {
    await this.#forgetIfDead(name);
    const known = this.#names.find(name);
    if (known !== undefined) return known;
    const found = await this.#root.detached.find(name);
    if (found === undefined) return undefined;
    const { classId } = found;
    const claim = this.#names.claim({ name, classId, getIfExists: true, at: this.#root.now() });
    if (claim.kind === "found") return claim.actor;
    const actor = this.#addDetached(name, found);
    claim.creation.created(actor);
    return actor;
  }

  /** Creates an actor, or finds a detached one of another program. Returns whether it has created it. */
  async #createNamed(name: string, request: ActorRequest): Promise<[RootActor, boolean]> {
    const { order, getIfExists, detached: isDetached = false } = request;
    const { detached } = this.#root;
    const known = await detached.find(name);
    if (known !== undefined) {
      if (!getIfExists) throw nameTakenError(name, known.classId, known.since, true);
      checkClass(name, known.classId, order.classId);
      return [this.#addDetached(name, known), false];
    }
    if (!isDetached) return [await this.#create(request), true];
    if (!detached.isPossible) throw unattachedError(name);
    const host = this.#chooseHost(order, await this.#loads());
    const found = await detached.create(name, order, host, getIfExists);
    return [this.#addDetached(name, found), found.created];
  }

  #addDetached(name: string, { id: detached, classId, placed }: FoundDetached): RootActor {
    const id = ++this.#lastId;
    const actor: RootActor = { id, host: undefined, detached, name, found: { id, placed, classId } };
    this.#actors.set(id, actor);
    return actor;
  }

  async #create({ order, name, host: given }: ActorRequest): Promise<RootActor> {
    const loads = given === undefined ? await this.#loads() : [];
    // From here to the order nothing is awaited, so that two creations count each other.
    const host = given ?? this.#chooseHost(order, loads);
    const id = ++this.#lastId;
    const ordered: Ordered = { id, host, resources: order.resources, hasEnded: false };
    this.#ordered.set(id, ordered);
    this.#count(host, 1);
    try {
      const placed = await this.#root.hosts[host]!.host.startActor.callOne({ ...order, id }).then(
        undefined,
        (error) => {
          throw thrownByHandler(error);
        },
      );
      const actor: RootActor = { id, host, name, found: { id, placed, classId: order.classId } };
      if (ordered.hasEnded) this.#count(host, -1);
      else this.#actors.set(id, actor);
      return actor;
    } catch (error) {
      this.#count(host, -1);
      throw error;
    } finally {
      this.#ordered.delete(id);
    }
  }

  /** Asks all hosts for their loads. The index is the number of the host; undefined: it does not answer. */
  #loads(): Promise<(HostLoad | undefined)[]> {
    const { hosts } = this.#root;
    if (hosts.length === 1) {
      return Promise.resolve(
        hosts.map(({ resources }) => ({ total: resources, free: resources, waiting: 0, workers: 0 })),
      );
    }
    const asked = hosts.map(({ host }) =>
      host.load.callOne().then(
        (load) => load,
        () => undefined,
      ),
    );
    return Promise.all(asked);
  }

  #chooseHost({ label, resources }: ActorOrder, loads: readonly (HostLoad | undefined)[]): number {
    const states = loads.flatMap((load, host): HostState[] => {
      if (load === undefined) return [];
      // A host does not count what was ordered since it has answered.
      const free: Record<string, number> = { ...load.free };
      for (const ordered of this.#ordered.values()) {
        if (ordered.host !== host) continue;
        for (const [name, amount] of Object.entries(ordered.resources)) free[name] = (free[name] ?? 0) - amount;
      }
      return [{ ...load, host, free, actors: this.#counts.get(host) ?? 0 }];
    });
    return chooseHost(label, resources, states);
  }

  #count(host: number, change: 1 | -1): void {
    this.#counts.set(host, (this.#counts.get(host) ?? 0) + change);
  }
}
