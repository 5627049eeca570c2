/**
 * Brings failures to their owners: one at a time for each owner, whenever the event loop is free, in a turn of its own
 * that does not wait for the owner's handlers. An owner that does not handle a failure fails with it, and that failure
 * goes to the owner's own owner, up to the root. How failures are noticed is no concern of this file.
 */
import type { Clock } from "../link/clock.js";
import { appendCause, type FailureCause, failureCauseOf } from "./failure-cause.js";
import type { MeshFailure } from "./mesh-failure.js";

/** What the supervisor needs of owners. */
export interface OwnerActions<Owner extends object> {
  /** Whether this is the root of a process: nobody is above it. */
  isRoot(owner: Owner): boolean;
  /** Whether it has failed or is being stopped: what it owns goes with it, and it is told of nothing any more. */
  hasEnded(owner: Owner): boolean;
  /** Runs the owner's `supervise` as that actor. Rejects or throws when it does. */
  supervise(owner: Owner, failure: MeshFailure): unknown;
  /** Fails the owner, of a failure that it did not handle. */
  fail(owner: Owner, cause: FailureCause): void;
  /** Takes a failure that reached a root. Never rejects. */
  unhandled(failure: MeshFailure): Promise<void>;
}

export class Supervisor<Owner extends object> {
  readonly #owners: OwnerActions<Owner>;
  readonly #clock: Clock;
  readonly #lastDelivery = new WeakMap<Owner, Promise<void>>();

  constructor(owners: OwnerActions<Owner>, clock: Clock) {
    this.#owners = owners;
    this.#clock = clock;
  }

  /** Tells an owner, after what it was told before. Resolves when the failure was handled or has gone further up. */
  notifyOwner(owner: Owner, failure: MeshFailure): Promise<void> {
    const previous = this.#lastDelivery.get(owner) ?? Promise.resolve();
    const turn = previous.then(() => this.#nextTurn()).then(() => this.#deliver(owner, failure));
    this.#lastDelivery.set(owner, turn);
    return turn;
  }

  async #deliver(owner: Owner, failure: MeshFailure): Promise<void> {
    if (this.#owners.hasEnded(owner)) return;
    if (this.#owners.isRoot(owner)) return this.#owners.unhandled(failure);
    const cause = await this.#unhandledCause(owner, failure);
    if (cause !== undefined && !this.#owners.hasEnded(owner)) this.#owners.fail(owner, cause);
  }

  /** Undefined: the owner has handled it. */
  async #unhandledCause(owner: Owner, failure: MeshFailure): Promise<FailureCause | undefined> {
    const below: FailureCause = {
      name: "MeshFailure",
      message: `${failure.place} (${failure.kind})`,
      cause: failure.record.cause,
    };
    try {
      if (await this.#owners.supervise(owner, failure)) return undefined;
    } catch (error) {
      const thrown = failureCauseOf(error);
      return {
        name: "SupervisionError",
        message: `supervise threw: ${thrown.message}`,
        cause: appendCause(thrown, below),
      };
    }
    return {
      name: "SupervisionError",
      message: `supervise did not handle the failure of mesh "${failure.mesh}"`,
      cause: below,
    };
  }

  #nextTurn(): Promise<void> {
    return new Promise((resolve) => this.#clock.nextTurn(resolve));
  }
}
