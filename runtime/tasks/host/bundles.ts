/** The bundles of placement groups on one host: resources that are kept for the tasks and actors of a group. */
import type { Allocation, Allocations } from "./allocations.js";
import { amountsOf, checkResources } from "./resources.js";

/** Names the place of a bundle among the places of a host; empty: the host itself. */
export function placeOf({ group, bundle = 0 }: { readonly group?: bigint; readonly bundle?: number }): string {
  return group === undefined ? "" : `${group}/${bundle}`;
}

const removed = "its placement group has been removed";

export interface BundlesOptions {
  /** The number of the host, for messages. */
  readonly host: number;
  readonly after: (milliseconds: number, call: () => void) => () => void;
  /** Ends everything in a bundle that is removed. What it holds must be released then. */
  readonly evict: (place: string, reason: string) => void;
}

export class Bundles {
  readonly #allocations: Allocations;
  readonly #options: BundlesOptions;
  /** The bundles of each group, by their places. Undefined: the bundle waits for its resources. */
  readonly #groups = new Map<bigint, Map<string, Allocation | undefined>>();
  /** Ends the requests of a group that wait. */
  readonly #aborts = new Map<bigint, AbortController>();

  constructor(allocations: Allocations, options: BundlesOptions) {
    this.#allocations = allocations;
    this.#options = options;
  }

  /**
   * Reserves the resources of a bundle.
   *
   * @param timeout the time in ms for which the resources may be in use by others
   * @returns whether they are reserved
   * @throws {ResourceUnavailableError} if the host does not have them
   */
  async reserve(group: bigint, bundle: number, resources: Record<string, number>, timeout: number): Promise<boolean> {
    const failed = `cannot reserve a bundle of a placement group on host ${this.#options.host}`;
    const amounts = amountsOf(checkResources(resources, failed));
    const place = placeOf({ group, bundle });
    const bundles = this.#groups.get(group) ?? new Map<string, Allocation | undefined>();
    if (bundles.has(place)) throw new Error(`${failed}: bundle ${bundle} of the group has been reserved before`);
    this.#groups.set(group, bundles.set(place, undefined));
    const abort = this.#aborts.get(group) ?? new AbortController();
    this.#aborts.set(group, abort);
    const late = new AbortController();
    const cancel = this.#options.after(timeout, () => late.abort());
    try {
      const need = { failed, kind: `bundle ${place}`, amounts, place: "", usesWorker: false };
      const allocation = await this.#allocations.request(need, AbortSignal.any([late.signal, abort.signal]));
      if (abort.signal.aborted) {
        allocation.release();
        return false;
      }
      bundles.set(place, allocation);
      this.#allocations.open(place, allocation.share);
      return true;
    } catch (error) {
      bundles.delete(place);
      if (late.signal.aborted || abort.signal.aborted) return false;
      throw error;
    } finally {
      cancel();
    }
  }

  /** Ends the bundles of a group. Resolves when their resources are free. An unknown group has no effect. */
  async unreserve(group: bigint): Promise<void> {
    const bundles = this.#groups.get(group);
    if (bundles === undefined) return;
    this.#groups.delete(group);
    this.#aborts.get(group)?.abort();
    this.#aborts.delete(group);
    await Promise.all(
      [...bundles].map(async ([place, allocation]) => {
        if (allocation === undefined) return;
        const closed = this.#allocations.close(place, removed);
        this.#options.evict(place, removed);
        await closed;
        allocation.release();
      }),
    );
  }
}
