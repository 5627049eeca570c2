/**
 * Messages of endpoints that handle a limited number at once (`@concurrent 8`). A message over the limit leaves the mailbox's
 * queue and waits here, so that it does not hold up messages of other endpoints. It starts when one of its own endpoint has
 * been handled, in the order in which they came.
 */
import type { Turn } from "./turn.js";

interface LimitedEndpoint {
  readonly limit: number;
  running: number;
  /** Waiting messages begin at `head`. */
  waiting: Turn[];
  head: number;
}

export class ConcurrencyLimits {
  /** By the name of the method: an endpoint has a descriptor for each interface and each layout. */
  readonly #endpoints = new Map<string, LimitedEndpoint>();
  /** Endpoints that have both room and a waiting message. */
  readonly #ready = new Set<LimitedEndpoint>();
  #length = 0;

  /** How many messages wait. */
  get length(): number {
    return this.#length;
  }

  /** Messages that wait, those of one endpoint in their order. */
  get waiting(): Turn[] {
    return [...this.#endpoints.values()].flatMap(({ waiting, head }) => waiting.slice(head));
  }

  /** Whether a message that waits may start now. */
  get hasReady(): boolean {
    return this.#ready.size > 0;
  }

  /** @returns whether the message may start; otherwise it waits until `takeReady` returns it */
  admit(turn: Turn, limit: number): boolean {
    const endpoint = this.#endpointOf(turn, limit);
    if (endpoint.running < endpoint.limit) {
      endpoint.running++;
      if (endpoint.running === endpoint.limit) this.#ready.delete(endpoint);
      return true;
    }
    endpoint.waiting.push(turn);
    this.#length++;
    return false;
  }

  /** A message that was admitted has been handled. */
  turnEnded(turn: Turn, limit: number): void {
    const endpoint = this.#endpointOf(turn, limit);
    endpoint.running--;
    if (endpoint.head < endpoint.waiting.length) this.#ready.add(endpoint);
  }

  /** Takes a message that may start now. It has to be admitted, unless it is not started at all. */
  takeReady(): Turn | undefined {
    for (const endpoint of this.#ready) return this.#take(endpoint);
    return undefined;
  }

  #take(endpoint: LimitedEndpoint): Turn {
    const turn = endpoint.waiting[endpoint.head++] as Turn;
    this.#length--;
    if (endpoint.head === endpoint.waiting.length) this.#ready.delete(endpoint);
    // Copying what is left once it is the smaller half costs each message a constant time.
    if (endpoint.head * 2 >= endpoint.waiting.length) {
      endpoint.waiting = endpoint.waiting.slice(endpoint.head);
      endpoint.head = 0;
    }
    return turn;
  }

  #endpointOf({ handler }: Turn, limit: number): LimitedEndpoint {
    const { retains, name } = handler.endpoint;
    const method = retains?.name ?? name;
    let endpoint = this.#endpoints.get(method);
    if (endpoint === undefined) {
      endpoint = { limit, running: 0, waiting: [], head: 0 };
      this.#endpoints.set(method, endpoint);
    }
    return endpoint;
  }
}
