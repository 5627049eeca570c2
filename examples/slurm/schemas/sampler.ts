import type { Actor, Int32 } from "viceroy/schema";

/** The result of one sampler. */
export interface Sample {
  /** The host on which it runs. */
  host: string;
  /** The number of points that are in the set. */
  inside: Int32;
}

/** Counts the points of a random sample that belong to the Mandelbrot set. */
export interface Sampler extends Actor {
  /** Takes the points of one round. Each sampler takes points of its own, which are the same in each run of the program. */
  sample(round: Int32, points: Int32): Sample;
}
