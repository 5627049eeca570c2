import { ActorError, type MeshFailure, SupervisionError, thisHost } from "viceroy";
import { type Baked, BakeryActor, type OvenMesh } from "../generated/bakery.js";
import { FlakyOven } from "./flaky-oven.js";

export class VillageBakery extends BakeryActor {
  readonly #ovens: OvenMesh[];
  #sparesLeft: number;
  #news: string[] = [];

  constructor(ovens: number, spares: number) {
    super();
    this.#sparesLeft = spares;
    // The actor that spawns a mesh owns it: it is told of failures of these ovens, and they end when it ends.
    this.#ovens = Array.from({ length: ovens }, (_, i) => spawnOven(2 * i + 2));
  }

  /** Bakes in rounds, with one loaf in each oven. */
  async bake(orders: string[]): Promise<Baked[]> {
    const baked: Baked[] = [];
    for (let first = 0; first < orders.length; first += this.#ovens.length) {
      const round = orders.slice(first, first + this.#ovens.length);
      baked.push(...(await Promise.all(round.map((order, i) => this.#bakeIn(i, order)))));
    }
    return baked;
  }

  async #bakeIn(i: number, order: string): Promise<Baked> {
    try {
      return { order, result: await this.#ovens[i]!.bake.callOne(order) };
    } catch (error) {
      if (error instanceof ActorError) return { order, result: `refused: ${error.message}` };
      if (!(error instanceof SupervisionError)) throw error;
      this.#ovens[i] = spawnOven(9);
      return this.#bakeIn(i, order);
    }
  }

  /** Called once for every oven that is lost. True: the failure is handled. False: this actor fails as well. */
  override supervise(failure: MeshFailure): boolean {
    if (this.#sparesLeft === 0) return false;
    this.#sparesLeft--;
    this.#news.push(`lost an oven: ${failure.cause.message} (${this.#sparesLeft} to spare)`);
    return true;
  }

  news(): string[] {
    const news = this.#news;
    this.#news = [];
    return news;
  }
}

/** Spawns an oven in a process of its own, so that the end of one oven does not affect the others. */
function spawnOven(loavesToLive: number): OvenMesh {
  return thisHost().spawnProcs({}, { name: "kitchen" }).spawn("oven", FlakyOven, loavesToLive);
}
