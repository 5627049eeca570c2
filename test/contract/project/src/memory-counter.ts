import { CounterActor } from "../generated/counter.js";

export class MemoryCounter extends CounterActor {
  #value: number;
  constructor(initial: number) {
    super();
    this.#value = initial;
  }
  increment(by = 1): void {
    this.#value += by;
  }
  value(): number {
    return this.#value;
  }
  async *watch(count: number): AsyncGenerator<number> {
    for (let i = 0; i < count; i++) yield this.#value;
  }
}
