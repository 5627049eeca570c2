import { OvenActor } from "../generated/bakery.js";

export class FlakyOven extends OvenActor {
  #loavesLeft: number;

  constructor(loavesToLive: number) {
    super();
    this.#loavesLeft = loavesToLive;
  }

  bake(order: string): string {
    // An error that answers a call is the caller's affair: this oven goes on.
    if (order === "stone") throw new Error("a stone is no dough");
    // The end of the process is the owner's affair: nobody is left to answer.
    if (this.#loavesLeft-- === 0) process.exit(7);
    return `${order} bread`;
  }
}
