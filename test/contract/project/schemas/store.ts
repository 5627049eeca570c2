import type { Actor, Int32 } from "viceroy/schema";

/** Amounts that a store begins with, in addition to two others. */
export interface MoreAmounts {
  third: Int32;
  fourth: Int32;
}

/** Keeps values by their keys. */
export interface Store extends Actor<[first?: Int32, second?: Int32, more?: MoreAmounts]> {
  put(key: string, value: string[]): void;
  get(key: string): string[] | null;
  count(): Int32;
  /** Returns the sum of the amounts that the store was created with. */
  amounts(): Int32;
  /** Adds 1 to a number that begins with 0, and returns it. */
  next(): Int32;
  fail(message: string): void;
  /** Returns a variable of the environment of the process. */
  variable(name: string): string | null;
}
