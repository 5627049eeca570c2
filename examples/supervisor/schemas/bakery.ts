import type { Actor, Uint32 } from "viceroy/schema";

/** Bakes one loaf at a time. Each oven has a process of its own, which ends after some loaves. */
export interface Oven extends Actor<[loavesToLive: Uint32]> {
  bake(order: string): string;
}

/** The outcome of one order. */
export interface Baked {
  order: string;
  /** The loaf, or the reason why the oven has refused the order. */
  result: string;
}

/** Owns ovens, gives them orders, and replaces ovens that end as long as it has spare ones. */
export interface Bakery extends Actor<[ovens: Uint32, spares: Uint32]> {
  bake(orders: string[]): Baked[];
  /** Returns what has happened to the ovens since the last call. */
  news(): string[];
}
