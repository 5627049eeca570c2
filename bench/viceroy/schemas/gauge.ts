import type { Actor } from "viceroy/schema";
import type { Rec } from "./echo.js";

/** Bytes, after a garbage collection. */
export interface Usage {
  heap: number;
  resident: number;
  /** Most that was ever resident. */
  peak: number;
}

/** Measures the process it is in. */
export interface Gauge extends Actor {
  usage(): Usage;
}

/** Takes a turn of the event loop for every message: slower than anyone who sends. */
export interface Sink extends Actor {
  take(record: Rec): void;
  taken(): number;
}

/** As little as an actor can be. */
export interface Cell extends Actor<[value: number]> {
  value(): number;
}
