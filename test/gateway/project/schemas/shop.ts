import type { Actor, Port, Stream, Uint32, Uint64 } from "viceroy/schema";

export type Size = "small" | "large";

export interface Item {
  name: string;
  cents: Uint64;
  size?: Size;
}

export interface Receipt {
  number: Uint32;
  items: Item[];
  total: Uint64;
  at: Date;
  notes: Record<string, string>;
}

/** A shop. */
export interface Shop extends Actor<[name: string]> {
  /** Sells items. */
  order(items: Item[], note?: string): Receipt;
  name(): string;
  clear(): void;
  /** The trace that the call belongs to. */
  trace(): string;
  /** The receipt of `item`, `count` times. */
  follow(item: Item, count: Uint32): Stream<Receipt>;
  /** Throws an error of this class. */
  fail(name: string): void;
  /**
   * Waits until the caller gives up, and remembers who it was.
   * @concurrent
   */
  wait(caller: string): void;
  /**
   * Callers that wait, or have waited.
   * @concurrent
   */
  waiting(): string[];
  /**
   * Callers that have given up waiting, and items whose followers have left.
   * @concurrent
   */
  givenUp(): string[];
  /** Sends receipts: clients from outside have no port to give. */
  subscribe(to: Port<Receipt>): void;
  /** Ends its process. */
  crash(): void;
}
