/**
 * The actors of a context, as its root knows them: where each lives, and which names they have. The root chooses the host of
 * an actor and orders it there; the host starts and supervises the process.
 */
import type { ActorFound, ActorOrder, ActorRequest, HostLoad, TaskHostMesh } from "../../../generated/tasks.js";
import { toError } from "../../../shared/text/error-message.js";
import { ActorNames } from "./actor-names.js";
import { thrownByHandler } from "./creation-errors.js";
import { type Amounts, chooseHost, type HostState } from "./place-actor.js";

/** What the actors need of the root. */
export interface RootHosts {
  /** The managers of the hosts, by their numbers. */
  readonly hosts: readonly { readonly host: TaskHostMesh<never>; readonly resources: Amounts }[];
  /** Returns the time in milliseconds since 1970. */
  now(): number;
}

/** Time in milliseconds in which an actor that is stopped by its name still handles messages that it has been sent. */
const defaultDrain = 5000;

interface RootActor {
  readonly id: bigint;
  readonly host: number;
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
   * @throws ActorNameTakenError, TypeError, ResourceUnavailableError; also rethrows errors of the host
   */
  async request(request: ActorRequest): Promise<ActorFound> {
    const { name, getIfExists, order } = request;
    if (name === undefined) return { ...(await this.#create(request)).found, created: true };
    const at = this.#root.now();
    await this.#forgetIfDead(name);
    const claim = this.#names.claim({ name, classId: order.classId, getIfExists, at });
    if (claim.kind === "found") return { ...(await claim.actor).found, created: false };
    try {
      const actor = await this.#create(request);
      claim.creation.created(actor);
      return { ...actor.found, created: true };
    } catch (error) {
      claim.creation.failed(toError(error));
      throw error;
    }
  }

  /** Returns the actor with a name, also one that is being created. */
  async find(name: string): Promise<ActorFound | null> {
    await this.#forgetIfDead(name);
    const actor = await this.#names.find(name);
    return actor === undefined ? null : { ...actor.found, created: false };
  }

  /** Stops the actor with a name. Returns false if there is none. */
  async stopNamed(name: string): Promise<boolean> {
    // An actor that cannot be created has been told to those who asked for it.
    const actor = await this.#names.find(name)?.catch(() => undefined);
    if (actor === undefined) return false;
    await this.stop(actor.id, `stopped by its name ${JSON.stringify(name)}`, defaultDrain);
    return true;
  }

  /** Stops an actor, and frees its name when it has ended. Rejects if its host does not answer. */
  async stop(id: bigint, reason: string, drain: number): Promise<void> {
    const actor = this.#actors.get(id);
    if (actor === undefined) return;
    try {
      await this.#root.hosts[actor.host]!.host.stopActor.callOne(id, reason, drain);
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
    this.#count(actor.host, -1);
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
    const lives = await this.#root.hosts[actor.host]!.host.actorLives.callOne(actor.id).then(
      (answer) => answer,
      () => false,
    );
    if (!lives) this.ended(actor.id);
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
