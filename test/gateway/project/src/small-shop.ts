import { once } from "node:events";
import { context } from "viceroy";
import { type Item, type Receipt, ShopActor } from "../generated/shop.js";

class SoldOutError extends Error {
  override readonly name = "SoldOutError";
}

export class SmallShop extends ShopActor {
  readonly #name: string;
  readonly #waiting: string[] = [];
  readonly #givenUp: string[] = [];
  #orders = 0;

  constructor(name: string) {
    super();
    this.#name = name;
  }

  order(items: Item[], note?: string): Receipt {
    const total = items.reduce((sum, { cents }) => sum + cents, 0n);
    return {
      number: ++this.#orders,
      items,
      total,
      at: new Date(1_700_000_000_123),
      notes: note === undefined ? {} : { note },
    };
  }

  name() {
    return this.#name;
  }

  trace() {
    return context().trace.traceparent;
  }

  clear() {
    this.#orders = 0;
  }

  async *follow(item: Item, count: number) {
    try {
      for (let i = 0; i < count; i++) yield this.order([item]);
    } finally {
      if (context().signal.aborted) this.#givenUp.push(item.name);
    }
  }

  fail(name: string) {
    if (name === "SoldOutError") throw new SoldOutError("there is none left");
    throw new RangeError("out of range");
  }

  async wait(caller: string) {
    const { signal } = context();
    this.#waiting.push(caller);
    if (!signal.aborted) await once(signal, "abort");
    this.#givenUp.push(caller);
  }

  waiting() {
    return this.#waiting;
  }

  givenUp() {
    return this.#givenUp;
  }

  subscribe() {}

  crash() {
    process.kill(process.pid, "SIGKILL");
  }
}
