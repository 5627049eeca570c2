import type { Actor, Mesh, RdmaBuffer, Uint32 } from "viceroy/schema";

/** A version of the weights of one trainer. */
export interface Published {
  version: Uint32;
  /** 32-bit floats, for reading, until it is taken back. */
  weights: RdmaBuffer;
}

/** How late the event loop of a trainer was, in ms, since the last time that somebody asked. */
export interface Lateness {
  mean: number;
  most: number;
  /** For how long its thread has run at a time, at most. */
  busy: number;
}

/** Trains a part of a model, and publishes the weights after each step. */
export interface Trainer extends Actor<[weights: Uint32]> {
  /**
   * Makes the next version and publishes it. Meanwhile others are answered.
   * @concurrent
   */
  step(): void;
  /**
   * What can be read now, oldest first: two versions at most.
   * @concurrent
   */
  published(): Published[];
  /** @concurrent */
  lateness(): Lateness;
}

/** What an engine has seen of the weights. */
export interface Seen {
  /** What it has now. */
  version: Uint32;
  /** Versions that came whole. */
  whole: Uint32;
  /** Versions in which some weights were of another one. */
  torn: Uint32;
  /** Versions that were taken back before they had been read. */
  refused: Uint32;
  transport: string;
}

/** Serves a model whose parts trainers have. */
export interface Engine extends Actor {
  join(trainers: Mesh<Trainer, "trainers">): void;
  /** Asks for handles, and does not use them yet. Answers with their version. */
  ask(): Uint32;
  /** Pulls the weights of these handles, or if they have been taken back, newer ones. Answers with their version. */
  pull(): Uint32;
  /** Pulls what is newest, again and again, until it has that version. */
  follow(until: Uint32): void;
  seen(): Seen;
}
