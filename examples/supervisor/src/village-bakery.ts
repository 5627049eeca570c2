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
    // Who spawns owns: failures of these ovens are told to this actor, and with it they end.
    this.#ovens = Array.from({ length: ovens }, (_, i) => lightOven(2 * i + 2));
  }

  /** Round by round, a loaf in each oven. */
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
      this.#ovens[i] = lightOven(9);
      return this.#bakeIn(i, order);
    }
  }

  /** Told once of every oven that is lost. True: this is settled. False: it is beyond me, and I fail as well. */
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

/** A process with nothing but an oven in it: what happens to one is nothing to the others. */
function lightOven(loavesToLive: number): OvenMesh {
  return thisHost().spawnProcs({}, { name: "kitchen" }).spawn("oven", FlakyOven, loavesToLive);
}
