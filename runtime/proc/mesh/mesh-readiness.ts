/**
 * Whether the actors of a mesh have been created: the orders to create them, the outcomes that are still unknown, and the
 * promise `ready`. It does not know why an actor was not created, and does not restart any.
 */
import { Deferred } from "../../link/deferred.js";

/** The mesh whose readiness is recorded. */
export interface AwaitedMesh {
  /** Whether an actor has failed and is not back. */
  readonly hasFailedRanks: boolean;
  /** Returns the error of a mesh that has lost an actor before it was ready. */
  lostError(): Error;
  /** Returns the error of a mesh that was stopped before it was ready; undefined as long as it was not stopped. */
  stoppedError(): Error | undefined;
}

export class MeshReadiness {
  readonly #mesh: AwaitedMesh;
  #state: "spawning" | "ready" | "failed";
  /** Number of orders without a known outcome. */
  #outstandingOrders: number;
  /** Ranks whose first order did not create an actor, for any reason. */
  #neverCreated: Set<number> | undefined;
  #pendingOrders: Promise<void> | undefined;
  #ready: Deferred<void> | undefined;
  /** Resolves when the outcomes of the first orders for all ranks are known. */
  #allOutcomes: Deferred<void> | undefined;

  constructor(mesh: AwaitedMesh, size: number) {
    this.#mesh = mesh;
    this.#outstandingOrders = size;
    this.#state = size === 0 ? "ready" : "spawning";
  }

  /** Resolves when all actors have been created; rejects if one is lost before, or if the mesh is stopped. */
  get ready(): Promise<void> {
    if (this.#ready === undefined) {
      this.#ready = new Deferred();
      this.settle();
    }
    return this.#ready.promise;
  }

  /** Whether the outcomes of all orders are known. */
  get isKnown(): boolean {
    return this.#outstandingOrders <= 0;
  }

  /** Resolves when the outcomes of all orders are known. */
  async whenKnown(): Promise<void> {
    if (this.isKnown) return;
    this.#allOutcomes ??= new Deferred();
    await this.#allOutcomes.promise;
  }

  /** Registers orders that cannot be sent at once. @param ordered resolves when they have been sent; never rejects */
  orderLater(ordered: Promise<void>): void {
    const all = Promise.all([this.#pendingOrders, ordered]).then(() => {
      if (this.#pendingOrders === all) this.#pendingOrders = undefined;
    });
    this.#pendingOrders = all;
  }

  /** Resolves when all orders have been sent. */
  async whenOrdered(): Promise<void> {
    await this.#pendingOrders;
  }

  /** Waits for the outcomes of further orders, because ranks join the mesh. */
  expect(orders: number): void {
    this.#outstandingOrders += orders;
    if (orders === 0 || this.#state !== "ready") return;
    this.#state = "spawning";
    this.#ready = undefined;
  }

  /** Records that the outcome of an order is known. */
  outcomeKnown(): void {
    this.#outstandingOrders--;
    if (this.isKnown) this.#allOutcomes?.resolve();
  }

  /** Records that the first order of a rank did not create an actor. */
  markMissing(rank: number): void {
    this.#neverCreated ??= new Set();
    this.#neverCreated.add(rank);
  }

  /** Records that a rank has an actor, or has left the mesh. */
  notMissing(rank: number): void {
    this.#neverCreated?.delete(rank);
  }

  /** Records that ranks were lost for good. */
  ranksLost(): void {
    if (this.#state === "spawning") this.#state = "failed";
    this.settle();
  }

  /** Updates `ready` after an actor has been created or has failed. */
  update(): void {
    if (this.#state !== "ready" && this.isKnown && !this.#mesh.hasFailedRanks && !this.#neverCreated?.size) {
      // A later caller of `ready` gets the present state, not the earlier failure.
      if (this.#state === "failed") this.#ready = undefined;
      this.#state = "ready";
    }
    this.settle();
  }

  /** Resolves or rejects `ready`, if the state of the mesh says so. */
  settle(): void {
    const ready = this.#ready;
    if (ready === undefined) return;
    if (this.#state === "ready") ready.resolve();
    else if (this.#state === "failed") ready.reject(this.#mesh.lostError());
    else {
      const error = this.#mesh.stoppedError();
      if (error !== undefined) ready.reject(error);
    }
  }
}
