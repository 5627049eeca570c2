import { OvenActor } from "../generated/bakery.js";

export class FlakyOven extends OvenActor {
  #loavesLeft: number;

  constructor(loavesToLive: number) {
    super();
    this.#loavesLeft = loavesToLive;
  }

  bake(order: string): string {
    // An error in a handler goes to the caller. This oven continues.
    if (order === "stone") throw new Error("a stone is no dough");
    // The end of the process goes to the owner, since no process is left that could answer.
    if (this.#loavesLeft-- === 0) process.exit(7);
    return `${order} bread`;
  }
}
