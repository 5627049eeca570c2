/**
 * Delivers failures to owners. An owner receives one failure at a time, in a turn of its own that starts when the event
 * loop is free and does not wait for the owner's handlers. An owner that does not handle a failure fails too, and the
 * failure goes to its own owner, up to the root. Failures are detected elsewhere.
 */
import type { Clock } from "../link/clock.js";
import { appendCause, type FailureCause, failureCauseOf } from "./failure-cause.js";
import type { MeshFailure } from "./mesh-failure.js";

/** The operations on owners that the supervisor needs. */
export interface OwnerActions<Owner extends object> {
  /** Returns whether the owner is the root of a process, which has no owner. */
  isRoot(owner: Owner): boolean;
  /** Returns whether the owner has failed or is being stopped. Its meshes end with it, so it receives no more failures. */
  hasEnded(owner: Owner): boolean;
  /** Runs the owner's `supervise` in the context of that actor. Rejects or throws if `supervise` does. */
  supervise(owner: Owner, failure: MeshFailure): unknown;
  /** Fails the owner because it did not handle a failure. */
  fail(owner: Owner, cause: FailureCause): void;
  /** Receives a failure that has reached a root. Never rejects. */
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

  /**
   * Delivers a failure to an owner, after the failures before it. Resolves when the owner has handled the failure, or has
   * failed because of it.
   */
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

  /** Returns the cause with which the owner fails, or undefined if it has handled the failure. */
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
