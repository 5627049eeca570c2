/**
 * Hands out the worker processes and resources of a host, to leases, actors and bundles. The order is that of the
 * {@link LeaseQueue}.
 */
import { ResourceUnavailableError } from "../errors.js";
import type { Share } from "./capacity.js";
import { LeaseQueue } from "./lease-queue.js";
import { type Amounts, formatAmounts, unitsOfOne } from "./resources.js";
import { type Need, workerProcesses } from "./room.js";

/** A request for a worker process and resources, or for resources alone. */
export interface AllocationRequest extends Need {
  /** The start of the messages of errors: `cannot run square on host 0`. */
  readonly failed: string;
  /** A text that is equal for requests that can use the same leases. */
  readonly kind: string;
  /** Called once when others wait for what has been granted. Absent: it need not be given back. */
  readonly wanted?: () => void;
}

export interface Allocation {
  readonly share: Share;
  suspend(): void;
  resume(): void;
  /** Frees everything. Later calls have no effect. */
  release(): void;
}

interface Pending {
  readonly request: AllocationRequest;
  readonly resolve: (share: Share) => void;
  readonly reject: (error: unknown) => void;
}

/** The time in ms for which a request that cannot be granted may be overtaken. */
const patience = 100;

export interface AllocationsOptions {
  readonly total: Amounts;
  /** The number of worker processes that can have tasks at the same time. */
  readonly workers: number;
  readonly now: () => number;
}

export class Allocations {
  readonly #queue: LeaseQueue;
  readonly #now: () => number;
  readonly #pending = new Map<number, Pending>();
  readonly #wanted = new Map<number, () => void>();
  /** The resources that are held in each bundle, by number. */
  readonly #used = new Map<string, Set<number>>();
  /** The bundles that are closed as soon as nothing in them is held. */
  readonly #closing = new Map<string, () => void>();
  #lastId = 0;
  #isDeciding = false;
  #mustDecide = false;

  constructor({ total, workers, now }: AllocationsOptions) {
    this.#queue = new LeaseQueue({ total, workers, patience });
    this.#now = now;
  }

  get total(): Amounts {
    return this.#queue.total;
  }

  get free(): Amounts {
    return this.#queue.free;
  }

  get waitingCount(): number {
    return this.#queue.waitingCount;
  }

  /**
   * Waits until a request can be granted.
   *
   * @param signal withdraws the request; it has no effect after the grant
   * @throws ResourceUnavailableError if the request can never be granted; the reason of the signal if it was withdrawn
   */
  async request(request: AllocationRequest, signal?: AbortSignal): Promise<Allocation> {
    signal?.throwIfAborted();
    const { failed, wanted, ...need } = request;
    this.#check(need, failed);
    const id = ++this.#lastId;
    const share = await new Promise<Share>((resolve, reject) => {
      this.#pending.set(id, { request, resolve, reject });
      signal?.addEventListener("abort", () => this.#change(() => this.#withdraw(id, signal.reason)));
      this.#change(() => this.#queue.add({ ...need, id, isLasting: wanted === undefined }, this.#now()));
    });
    return {
      share,
      suspend: () => this.#change(() => this.#queue.suspend(id)),
      resume: () => this.#change(() => this.#queue.resume(id)),
      release: () =>
        this.#change(() => {
          this.#wanted.delete(id);
          this.#queue.release(id);
          if (this.#used.get(need.place)?.delete(id)) this.#close(need.place);
        }),
    };
  }

  /**
   * Takes what somebody has already who does not ask, also if it is not free. What the host does not have is left out.
   *
   * @returns a function that frees it
   */
  keep(kind: string, { amounts, gpus }: Share): () => void {
    const id = ++this.#lastId;
    const { total } = this;
    const known = new Map([...amounts].filter(([name]) => total.has(name)));
    const share = {
      amounts: known,
      gpus: gpus.filter((index) => (index + 1) * unitsOfOne <= (total.get("gpus") ?? 0)),
    };
    const need = { amounts: known, place: "", usesWorker: false };
    this.#change(() => this.#queue.keep({ ...need, id, kind, isLasting: true }, share));
    return () => this.#change(() => this.#queue.release(id));
  }

  /** Opens a place with resources that were granted. */
  open(place: string, share: Share): void {
    this.#used.set(place, new Set());
    this.#queue.open(place, share);
  }

  /**
   * Closes a place when nothing in it is held any more. Requests that wait for it reject.
   *
   * @param reason the error of requests, without its start
   */
  close(place: string, reason: string): Promise<void> {
    for (const [id, { request }] of this.#pending) {
      if (request.place === place) this.#withdraw(id, new ResourceUnavailableError(`${request.failed}: ${reason}`));
    }
    return new Promise((resolve) => {
      this.#closing.set(place, resolve);
      this.#close(place);
    });
  }

  /** One worker process less can have tasks. */
  removeWorker(): void {
    this.#queue.addWorkers(-1);
  }

  #withdraw(id: number, reason: unknown): void {
    const pending = this.#pending.get(id);
    if (pending === undefined || !this.#queue.withdraw(id)) return;
    this.#pending.delete(id);
    pending.reject(reason);
  }

  #close(place: string): void {
    const closed = this.#closing.get(place);
    if (closed === undefined || (this.#used.get(place)?.size ?? 0) > 0) return;
    this.#closing.delete(place);
    this.#used.delete(place);
    this.#queue.close(place);
    closed();
  }

  #check(need: Need, failed: string): void {
    if (!this.#queue.hasPlace(need.place) || this.#closing.has(need.place)) {
      throw new ResourceUnavailableError(
        `${failed}: its placement group has no such bundle on this host, or has been removed`,
      );
    }
    const lacking = this.#queue.neverHas(need);
    if (lacking.length === 0) return;
    if (lacking.includes(workerProcesses))
      throw new ResourceUnavailableError(`${failed}: the host has no worker processes left`);
    const owner = need.place === "" ? "the host" : "the bundle of its placement group";
    const all = formatAmounts(this.#queue.totalOf(need.place));
    throw new ResourceUnavailableError(
      `${failed}: it needs ${formatAmounts(need.amounts)}, and ${owner} has ${all} in all`,
    );
  }

  /** Changes the queue, and grants what can be granted then. Grants that follow from grants are made afterwards. */
  #change(change: () => void): void {
    change();
    this.#mustDecide = true;
    if (this.#isDeciding) return;
    this.#isDeciding = true;
    try {
      while (this.#mustDecide) {
        this.#mustDecide = false;
        this.#decide();
      }
    } finally {
      this.#isDeciding = false;
    }
  }

  #decide(): void {
    const { granted, wanted } = this.#queue.decide(this.#now());
    for (const { request, share } of granted) {
      const pending = this.#pending.get(request.id)!;
      this.#pending.delete(request.id);
      this.#used.get(request.place)?.add(request.id);
      if (pending.request.wanted !== undefined) this.#wanted.set(request.id, pending.request.wanted);
      pending.resolve(share);
    }
    for (const id of wanted) this.#wanted.get(id)?.();
  }
}
