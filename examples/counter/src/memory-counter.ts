import { CounterActor } from "../generated/counter.js";

export class MemoryCounter extends CounterActor {
  #value: number;
  constructor(initial: number) {
    super();
    this.#value = initial;
  }
  increment(by = 1) {
    this.#value += by;
  }
  value() {
    return this.#value;
  }
  async *watch(count: number) {
    for (let i = 0; i < count; i++) yield this.#value;
  }
}
