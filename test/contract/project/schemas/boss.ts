import type { Actor, Int32 } from "viceroy/schema";

/** Owns workers in processes of its own and supervises them. */
export interface Boss extends Actor<[answer: string]> {
  hire(count: Int32): Int32[];
  order(text: string): string[];
  crash(rank: Int32): void;
  failWorker(rank: Int32): void;
  failures(): string[];
  /** Waits until it has been told of so many failures, and answers with what it was told. */
  untilTold(count: Int32): string[];
}
