/** The values of this process that other machines read: which of them have copies, and where the next reader finds the value. */
import type { ObjectSource } from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";
import { ObjectLostError } from "../errors.js";
import type { DropDetector } from "../kernel.js";
import type { Result } from "../refs/result.js";
import { tell } from "../tell.js";
import { Copies, type Store } from "./copies.js";
import { callInTurn } from "./piece-sources.js";

const onlyOnce = "a task that may run again is defined with { idempotent: true }";
const noRetries = "its task has been run again as often as it may be; the option `retries` sets how often";

/** The process that owns the values. */
export interface ValueOwner {
  readonly proc: bigint;
  /** The reason for which the context is closed in this process. Undefined: it is open. */
  readonly closed: string | undefined;
  /** Runs code that sends messages. */
  inTurn(body: () => void): void;
}

export class ValueSources {
  readonly #owner: ValueOwner;
  readonly #drops: DropDetector;
  /** The stores that have had values of this process. */
  readonly #stores = new Map<bigint, "lives" | "ended">();
  readonly #inTurn = (body: () => void): void => this.#owner.inTurn(body);

  /** @param drops finds results to which no process has a reference any more, whose copies are freed */
  constructor(owner: ValueOwner, drops: DropDetector) {
    this.#owner = owner;
    this.#drops = drops;
  }

  /**
   * Returns a place from which the pieces of a result can be read, when its task has ended.
   *
   * @param reader the store that reads; undefined: a process reads for itself
   * @param failed the store from which the reader could not read
   * @throws the error of the task, or ObjectLostError if no process has the value
   */
  async find(result: Result, reader: Store | undefined, failed: Store | undefined): Promise<ObjectSource> {
    if (failed !== undefined) result.copies?.failed(failed);
    for (;;) {
      if (!result.isDone) await new Promise<void>((resolve) => result.whenDone(resolve));
      if (result.error !== undefined) throw result.error;
      const { closed } = this.#owner;
      if (closed !== undefined) {
        throw new ObjectLostError(`the result of ${result.label} is lost: the context is closed: ${closed}`);
      }
      const place = this.copiesOf(result).choose(reader, result.value !== undefined);
      const size = result.size!;
      const head = result.head ?? size;
      if (place === "owner") return { size, head };
      if (place === undefined) {
        const reason = `the result of ${result.label} is lost: all hosts that had it have ended`;
        if (result.recipe === undefined) result.reject(new ObjectLostError(`${reason}; ${onlyOnce}`));
        else if (!result.recipe.remake(result, reason)) result.reject(new ObjectLostError(`${reason}; ${noRetries}`));
      } else if (place.failures > 0 && !(await this.#isThere(place.store, result.id))) {
        result.copies?.lost(place);
      } else {
        return { size, head, store: place.store };
      }
    }
  }

  /** Returns the copies of a result. */
  copiesOf(result: Result): Copies {
    if (result.copies !== undefined) return result.copies;
    const { id } = result;
    const copies = new Copies({
      keyOf: (store) => procsOf(store)[0]!,
      free: (store) => this.free(store, id),
      hasEnded: (store) => this.hasEnded(store),
    });
    result.copies = copies;
    this.#drops.watch(result, { dropped: () => copies.drop() });
    return copies;
  }

  /** Returns whether a store has ended, as far as its end was noticed. The first call begins to wait for its end. */
  hasEnded(store: Store): boolean {
    const key = procsOf(store)[0]!;
    const known = this.#stores.get(key);
    if (known === undefined) {
      this.#stores.set(key, "lives");
      const ended = () => void this.#stores.set(key, "ended");
      callInTurn(this.#inTurn, () => store.untilLeft.callOne()).then(ended, ended);
    }
    return known === "ended";
  }

  /** Tells a store that nobody needs its copy of a result any more. */
  free(store: Store, id: number): void {
    this.#owner.inTurn(() => tell(store, () => store.drop.broadcast(this.#owner.proc, id)));
  }

  #isThere(store: Store, id: number): Promise<boolean> {
    return callInTurn(this.#inTurn, () => store.has.callOne(this.#owner.proc, id)).catch(() => false);
  }
}
