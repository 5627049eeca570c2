import { type MoreAmounts, StoreActor } from "../generated/store.js";

export class MemoryStore extends StoreActor {
  readonly #values = new Map<string, string[]>();
  readonly #amounts: number;
  #last = 0;
  constructor(first = 0, second = 0, { third, fourth }: MoreAmounts = { third: 0, fourth: 0 }) {
    super();
    this.#amounts = first + second + third + fourth;
  }
  put(key: string, value: string[]): void {
    this.#values.set(key, value);
  }
  get(key: string): string[] | null {
    return this.#values.get(key) ?? null;
  }
  count(): number {
    return this.#values.size;
  }
  amounts(): number {
    return this.#amounts;
  }
  next(): number {
    return ++this.#last;
  }
  fail(message: string): void {
    throw new RangeError(message);
  }
  variable(name: string): string | null {
    return process.env[name] ?? null;
  }
}
