import type { Actor, Mesh, RdmaBuffer, Uint32 } from "viceroy/schema";

/** One version of the weights of one trainer. */
export interface Published {
  version: Uint32;
  /** The weights as 32-bit floats, readable until the trainer revokes the grant. */
  weights: RdmaBuffer;
}

/** Lateness of a trainer's event loop since the last call, in ms. */
export interface Lateness {
  mean: number;
  max: number;
  /** Longest time for which its thread has run without a pause. */
  longestRun: number;
}

/** Trains a part of a model and publishes the weights after each step. */
export interface Trainer extends Actor<[weights: Uint32]> {
  /**
   * Makes the next version and publishes it. Meanwhile other messages are handled.
   * @concurrent
   */
  step(): void;
  /**
   * Returns the versions that can be read, oldest first: two at most.
   * @concurrent
   */
  published(): Published[];
  /** @concurrent */
  lateness(): Lateness;
}

/** The versions that an engine has pulled. */
export interface PullStatistics {
  /** The version that the engine has now. */
  version: Uint32;
  /** Number of versions that were read completely. */
  whole: Uint32;
  /** Number of versions that contained weights of another version. */
  torn: Uint32;
  /** Number of versions whose read was refused because the trainer had revoked them. */
  refused: Uint32;
  transport: string;
}

/** Serves a model whose parts are trained by trainers. */
export interface Engine extends Actor {
  join(trainers: Mesh<Trainer, "trainers">): void;
  /** Requests handles without using them. Returns their version. */
  requestHandles(): Uint32;
  /** Pulls the weights of these handles, or newer weights if they have been revoked. Returns the version. */
  pull(): Uint32;
  /** Pulls the newest version repeatedly until the engine has version `until`. */
  follow(until: Uint32): void;
  pulls(): PullStatistics;
}
