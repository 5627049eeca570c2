import type { Actor, Mesh, RdmaBuffer, Tensor, Uint32 } from "viceroy/schema";

/** A version of the policy's weights. */
export interface Published {
  version: Uint32;
  /** 32-bit floats, for reading, until it is taken back. */
  weights: RdmaBuffer;
  /** Of the weights: the sum of them as unsigned integers, so that it can be seen that they are whole. */
  checksum: Uint32;
}

/** What has happened in some games, move by move. */
export interface Played {
  /** Of the weights that have chosen the moves. */
  version: Uint32;
  /** What was seen before each move: `[moves, features]`. */
  seen: Tensor;
  /** Which move was made then: `[moves]`, of `int64`. */
  moves: Tensor;
  /** The logarithm of how probable it was: `[moves]`. */
  chances: Tensor;
  /** What was won from there on: `[moves]`. */
  returns: Tensor;
}

export interface Progress {
  version: Uint32;
  /** Of the games that were learned from: by how many versions their weights were older than those that they have changed. */
  staleness: number;
  stalest: Uint32;
  /** How many versions there were among their weights. */
  played: Uint32;
  /** Times that games were too old. */
  refused: Uint32;
}

/** Makes versions of a policy out of games, but not of those whose weights are older by more versions than `bound`. */
export interface Trainer extends Actor<[seed: Uint32, bound: Uint32]> {
  /** Makes the next version, unless the games were played with weights that are too old. Answers with the newest version. */
  learn(games: Played): Uint32;
  /** @concurrent */
  newest(): Published;
  /** @concurrent */
  progress(): Progress;
}

export interface Followed {
  /** Versions that came whole. */
  pulled: Uint32;
  /** Versions that were taken back before they had been read. */
  refused: Uint32;
  transport: string;
}

/** Plays games, with weights that it pulls from a trainer. @param seed of its rank 0; others count on from there */
export interface Generator extends Actor<[seed: Uint32]> {
  join(trainer: Mesh<Trainer>): void;
  /** Plays, and sends what has happened, until the trainer has that version. */
  play(until: Uint32): void;
  /** Pulls the newest weights. Answers with the part of games that they win. */
  test(games: Uint32): number;
  followed(): Followed;
}
