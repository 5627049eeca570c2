import type { Actor, Uint32 } from "viceroy/schema";

/** Bakes one loaf at a time. Each oven is a process of its own, and each breaks down one day. */
export interface Oven extends Actor<[loavesToLive: Uint32]> {
  bake(order: string): string;
}

/** What became of one order. */
export interface Baked {
  order: string;
  /** The loaf, or why there is none. */
  result: string;
}

/** Owns ovens, gives them work and replaces those that break down, as long as there are spare ones. */
export interface Bakery extends Actor<[ovens: Uint32, spares: Uint32]> {
  bake(orders: string[]): Baked[];
  /** What has happened to the ovens since this was last asked. */
  news(): string[];
}
