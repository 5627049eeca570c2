import type { Actor } from "viceroy/schema";
import type { BenchRecord } from "./echo.js";

/** Memory after a garbage collection, in bytes. */
export interface Usage {
  heap: number;
  resident: number;
  /** The largest resident size so far. */
  peak: number;
}

/** Measures the memory of its process. */
export interface Gauge extends Actor {
  usage(): Usage;
}

/** Takes a turn of the event loop for each message, and is therefore slower than its sender. */
export interface Sink extends Actor {
  take(record: BenchRecord): void;
  taken(): number;
}

/** A minimal actor. */
export interface Cell extends Actor<[value: number]> {
  value(): number;
}
