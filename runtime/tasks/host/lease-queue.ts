/**
 * Decides who gets the worker processes and resources of a host, and who has to give them back. Requests are granted in the
 * order in which they came. A request that has waited longer than the patience is not overtaken any more: what it needs is kept for
 * it as it becomes free, unless actors or bundles have it, which need not give it back. Holders of leases are asked to
 * give them back when others wait, the longest held first. So every request is granted one day, if holders give back what is wanted.
 */
import { Capacity, type Share } from "./capacity.js";
import type { Amounts } from "./resources.js";
import { type Need, Room, workerProcesses } from "./room.js";

/** A request for a worker process, for the process of an actor, or for a bundle. */
export interface QueueRequest extends Need {
  /** The number of the request, and of what it is granted. */
  readonly id: number;
  /** A text that is equal for requests that can use the same leases. Leases are not asked to give way to their own kind. */
  readonly kind: string;
  /** Whether the holder need not give it back when others wait: actors and bundles. */
  readonly isLasting: boolean;
}

/** The grant of a request. */
export interface Granted {
  readonly request: QueueRequest;
  readonly share: Share;
}

/** The decisions of one look at the queue. */
export interface Decisions {
  readonly granted: readonly Granted[];
  /** The leases whose holders are asked to give them back. Each is named once. */
  readonly wanted: readonly number[];
}

export interface LeaseQueueOptions {
  readonly total: Amounts;
  /** The number of worker processes that can have tasks at the same time. */
  readonly workers: number;
  /** The time in ms for which a request that cannot be granted may be overtaken. */
  readonly patience: number;
}

interface Waiting {
  readonly request: QueueRequest;
  readonly since: number;
}

interface Held extends Granted {
  isWanted: boolean;
  isSuspended: boolean;
}

const nothing: Decisions = { granted: [], wanted: [] };

export class LeaseQueue {
  readonly #patience: number;
  /** All that there is. Nothing is taken from it. */
  readonly #whole: Room;
  /** All but what actors and bundles have. */
  readonly #potential: Room;
  readonly #room: Room;
  /** In the order of the requests. */
  readonly #waiting = new Map<number, Waiting>();
  /** In the order in which they were granted. */
  readonly #held = new Map<number, Held>();

  constructor({ total, workers, patience }: LeaseQueueOptions) {
    this.#patience = patience;
    this.#whole = new Room(workers, new Map([["", Capacity.ofHost(total)]]));
    this.#potential = new Room(workers, new Map([["", Capacity.ofHost(total)]]));
    this.#room = new Room(workers, new Map([["", Capacity.ofHost(total)]]));
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** The resources of the host that are free. */
  get free(): Amounts {
    return this.#room.at("")!.free;
  }

  get total(): Amounts {
    return this.totalOf("");
  }

  /** Returns the names of what can never be granted, because there is less of it in all. */
  neverHas(need: Need): string[] {
    return this.#whole.lacks(need);
  }

  /** Returns all resources of a place. */
  totalOf(place: string): Amounts {
    return this.#whole.at(place)!.total;
  }

  hasPlace(place: string): boolean {
    return this.#whole.at(place) !== undefined;
  }

  /** Adds a request that can be granted one day. */
  add(request: QueueRequest, now: number): void {
    this.#waiting.set(request.id, { request, since: now });
  }

  /** Takes a request back. Returns false if it does not wait. */
  withdraw(id: number): boolean {
    return this.#waiting.delete(id);
  }

  /** Grants a lasting request what its owner has already, also if it is not free. */
  keep(request: QueueRequest, share: Share): void {
    this.#held.set(request.id, { request, share, isWanted: false, isSuspended: false });
    this.#room.retake(request, share);
    this.#potential.retake(request, share);
  }

  /** Ends what was granted to a request. An unknown number has no effect. */
  release(id: number): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    this.#held.delete(id);
    if (!held.isSuspended) this.#room.give(held.request, held.share);
    if (held.request.isLasting) this.#potential.give(held.request, held.share);
  }

  /** Makes what a lease has free for others, until it is resumed. */
  suspend(id: number): void {
    const held = this.#held.get(id);
    if (held === undefined || held.isSuspended) return;
    held.isSuspended = true;
    this.#room.give(held.request, held.share);
  }

  /** A lease uses again what it had, also if others have it now. */
  resume(id: number): void {
    const held = this.#held.get(id);
    if (held === undefined || !held.isSuspended) return;
    held.isSuspended = false;
    this.#room.retake(held.request, held.share);
  }

  /** Opens a place for requests, which has what was granted to a bundle. */
  open(place: string, share: Share): void {
    for (const room of [this.#whole, this.#potential, this.#room]) room.open(place, Capacity.ofShare(share));
  }

  /** Closes a place in which nothing is held and for which nobody waits. */
  close(place: string): void {
    for (const room of [this.#whole, this.#potential, this.#room]) room.close(place);
  }

  /** Changes the number of worker processes. */
  addWorkers(count: number): void {
    for (const room of [this.#whole, this.#potential, this.#room]) room.addWorkers(count);
  }

  /** Grants what can be granted now. To be called after every change. */
  decide(now: number): Decisions {
    if (this.#waiting.size === 0) return nothing;
    const granted = this.#grant(now);
    return { granted, wanted: this.#waiting.size === 0 ? [] : this.#findWanted() };
  }

  #grant(now: number): Granted[] {
    const granted: Granted[] = [];
    /** The room that is left apart from what is kept for requests that have waited long enough. */
    let unclaimed: Room | undefined;
    for (const [id, { request, since }] of this.#waiting) {
      if ((unclaimed ?? this.#room).fits(request)) {
        const share = (unclaimed ?? this.#room).take(request);
        if (unclaimed !== undefined) this.#room.retake(request, share);
        this.#waiting.delete(id);
        granted.push(this.#hold(request, share));
      } else if (now - since >= this.#patience && this.#potential.fits(request)) {
        unclaimed ??= this.#room.copy();
        unclaimed.claim(request);
      }
    }
    return granted;
  }

  #hold(request: QueueRequest, share: Share): Held {
    const held = { request, share, isWanted: false, isSuspended: false };
    this.#held.set(request.id, held);
    if (request.isLasting) this.#potential.retake(request, share);
    return held;
  }

  /** Finds as many leases as the requests that wait need, in addition to those that are wanted already. */
  #findWanted(): number[] {
    const room = this.#room.copy();
    const candidates: Held[] = [];
    for (const held of this.#held.values()) {
      if (held.request.isLasting || held.isSuspended) continue;
      if (held.isWanted) room.give(held.request, held.share);
      else candidates.push(held);
    }
    const wanted: number[] = [];
    if (candidates.length === 0) return wanted;
    for (const { request } of this.#waiting.values()) {
      if (!room.fits(request) && this.#potential.fits(request)) {
        for (const held of candidates) {
          if (held.isWanted || held.request.kind === request.kind) continue;
          const lacking = room.lacks(request);
          if (lacking.length === 0) break;
          if (!helps(held, request, lacking)) continue;
          held.isWanted = true;
          room.give(held.request, held.share);
          wanted.push(held.request.id);
        }
      }
      room.claim(request);
    }
    return wanted;
  }
}

/** Returns whether a request that lacks something gets some of it if a lease ends. */
function helps({ request: held, share }: Held, { place }: QueueRequest, lacking: readonly string[]): boolean {
  if (held.usesWorker && lacking.includes(workerProcesses)) return true;
  return held.place === place && lacking.some((name) => share.amounts.has(name));
}
