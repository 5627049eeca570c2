import type { Actor, Mesh, RdmaBuffer, Tensor, Uint32 } from "viceroy/schema";

/** One version of the policy's weights, as the trainer publishes it. */
export interface PolicyVersion {
  version: Uint32;
  /** The weights as 32-bit floats, readable until the trainer revokes the grant. */
  weights: RdmaBuffer;
  /** The sum of the weights, taken as unsigned integers, modulo 2^32. Readers compare it to detect a mixture of versions. */
  checksum: Uint32;
}

/** The steps of several episodes, played with one version of the policy. The first dimension of each tensor is `steps`. */
export interface Rollout {
  /** The version of the policy that has chosen the actions. */
  version: Uint32;
  /** The observation before each action: `[steps, features]`. */
  observations: Tensor;
  /** The action that was chosen: `[steps]`, of type `int64`. */
  actions: Tensor;
  /** The log probability of each action under the policy that has chosen it: `[steps]`. */
  logProbabilities: Tensor;
  /** The discounted return from each step on: `[steps]`. */
  returns: Tensor;
}

export interface Progress {
  /** The newest version. */
  version: Uint32;
  /** Mean policy lag of the rollouts that were used: the version they updated minus the version that played them. */
  meanLag: number;
  /** Largest policy lag of the rollouts that were used. */
  largestLag: Uint32;
  /** Number of distinct versions that have played these rollouts. */
  versionsUsed: Uint32;
  /** Number of rollouts that were rejected because their lag exceeded the bound. */
  rejectedRollouts: Uint32;
}

/** Updates a policy with rollouts whose policy lag is at most `maxLag` versions. */
export interface Trainer extends Actor<[seed: Uint32, maxLag: Uint32]> {
  /** Makes the next version with a rollout, or rejects the rollout if its lag is too large. Returns the newest version. */
  learn(rollout: Rollout): Uint32;
  /**
   * The newest version.
   * @concurrent
   */
  newest(): PolicyVersion;
  /** @concurrent */
  progress(): Progress;
}

/** The statistics of a generator's weight transfers. */
export interface PullStatistics {
  /** Number of versions that were read completely. */
  pulled: Uint32;
  /** Number of reads that were refused because the trainer had revoked the version. */
  refused: Uint32;
  /** The transport that has moved the bytes. */
  transport: string;
}

/** Plays episodes with weights that it pulls from a trainer. Rank r uses the random seed `seed + r`. */
export interface Generator extends Actor<[seed: Uint32]> {
  join(trainer: Mesh<Trainer>): void;
  /** Plays episodes and sends rollouts until the trainer has version `until`. */
  collect(until: Uint32): void;
  /** Pulls the newest weights, plays `episodes` episodes, and returns the fraction that it wins. */
  evaluate(episodes: Uint32): number;
  pulls(): PullStatistics;
}
