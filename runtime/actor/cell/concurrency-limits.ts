/**
 * Limits the number of messages of an endpoint that are handled at the same time (`@concurrent 8`). A message over the
 * limit leaves the queue of the mailbox and waits here, so that it does not delay messages of other endpoints. The waiting
 * messages of an endpoint start in the order of their arrival.
 */
import type { Turn } from "./turn.js";

interface LimitedEndpoint {
  readonly limit: number;
  running: number;
  /** The waiting messages, from index `head` on. Earlier entries have been taken. */
  waiting: Turn[];
  head: number;
}

export class ConcurrencyLimits {
  /** The endpoints by the names of their methods, since an endpoint has one descriptor for each interface and layout. */
  readonly #endpoints = new Map<string, LimitedEndpoint>();
  /** The endpoints that are below their limits and have waiting messages. */
  readonly #ready = new Set<LimitedEndpoint>();
  #length = 0;

  /** The number of waiting messages. */
  get length(): number {
    return this.#length;
  }

  /** The waiting messages. Those of one endpoint are in the order of their arrival. */
  get waiting(): Turn[] {
    return [...this.#endpoints.values()].flatMap(({ waiting, head }) => waiting.slice(head));
  }

  /** Returns whether a waiting message can start now. */
  get hasReady(): boolean {
    return this.#ready.size > 0;
  }

  /** Returns whether the message can start now. Otherwise it waits here until `takeReady` returns it. */
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

  /** Called when a message that was admitted has been handled. */
  turnEnded(turn: Turn, limit: number): void {
    const endpoint = this.#endpointOf(turn, limit);
    endpoint.running--;
    if (endpoint.head < endpoint.waiting.length) this.#ready.add(endpoint);
  }

  /** Takes a message that can start now. The caller must admit it again before it starts. */
  takeReady(): Turn | undefined {
    for (const endpoint of this.#ready) return this.#take(endpoint);
    return undefined;
  }

  #take(endpoint: LimitedEndpoint): Turn {
    const turn = endpoint.waiting[endpoint.head++] as Turn;
    this.#length--;
    if (endpoint.head === endpoint.waiting.length) this.#ready.delete(endpoint);
    // The rest is copied once it is the smaller half, which costs each message a constant time.
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
