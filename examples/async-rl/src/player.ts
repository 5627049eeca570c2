import { context } from "viceroy";
import { RdmaError } from "viceroy/rdma";
import { manualSeed, noGrad, TensorScope, tensor } from "viceroy/tensor";
import { GeneratorActor, type PullStatistics, type Rollout, type TrainerMesh } from "../generated/rl.js";
import { EpisodeBatch } from "./grid-world.js";
import { checksum, Policy } from "./policy.js";

/** Number of episodes in one rollout. */
const episodesPerRollout = 64;
/** Error codes of a read whose version has been revoked. Stale: revoked so long ago that another grant has its slot. */
const revokedCodes = ["ERR_RDMA_REVOKED", "ERR_RDMA_STALE"];

export class Player extends GeneratorActor {
  readonly #policy = new Policy();
  /** The buffer into which weights are pulled. */
  readonly #pulledWeights = new Float32Array(this.#policy.size);
  readonly #random: () => number;
  readonly #statistics = { pulled: 0, refused: 0, transport: "" };
  #trainer!: TrainerMesh;
  /** The version of the policy's weights. */
  #version = 0;

  constructor(seed: number) {
    super();
    const rankSeed = seed + context().actor.rank.rank;
    manualSeed(rankSeed);
    this.#random = randomFrom(rankSeed);
  }

  async join(trainer: TrainerMesh): Promise<void> {
    this.#trainer = trainer;
    await this.#pull();
  }

  async collect(until: number): Promise<void> {
    let learning: Promise<number> | undefined;
    for (;;) {
      // Plays with the weights at hand, while the trainer learns from the previous rollout.
      const rollout = this.#rolloutOf(this.#play(episodesPerRollout));
      const newest = (await learning) ?? this.#version;
      if (newest >= until) return dispose(rollout);
      if (newest > this.#version) await this.#pull();
      learning = this.#send(rollout);
    }
  }

  async evaluate(episodes: number): Promise<number> {
    await this.#pull();
    return this.#play(episodes).winRate;
  }

  pulls(): PullStatistics {
    return this.#statistics;
  }

  /** Sends a rollout to the trainer. Resolves with the trainer's newest version. */
  async #send(rollout: Rollout): Promise<number> {
    try {
      return await this.#trainer.learn.callOne(rollout);
    } finally {
      dispose(rollout);
    }
  }

  #play(count: number): EpisodeBatch {
    const episodes = new EpisodeBatch(count, this.#random);
    while (!episodes.finished) {
      using _ = new TensorScope();
      noGrad(() => {
        const logProbabilities = this.#policy.forward(episodes.observe());
        const chosen = logProbabilities.exp().multinomial(1);
        const actions = chosen.squeeze(1).toArray() as bigint[];
        episodes.step(actions.map(Number), logProbabilities.gather(1, chosen).squeeze(1).toArray() as number[]);
      });
    }
    return episodes;
  }

  #rolloutOf(episodes: EpisodeBatch): Rollout {
    const { steps } = episodes;
    return {
      version: this.#version,
      observations: tensor(steps.map(({ observation }) => observation)),
      actions: tensor(BigInt64Array.from(steps, ({ action }) => BigInt(action))),
      logProbabilities: tensor(steps.map(({ logProbability }) => logProbability)),
      returns: tensor(steps.map((step) => episodes.returnOf(step))),
    };
  }

  /** Copies the newest weights into the policy. A read that comes too late is refused as a whole, and is repeated with the newest version. */
  async #pull(): Promise<void> {
    for (;;) {
      const { version, weights, checksum: expected } = await this.#trainer.newest.callOne();
      try {
        await weights.readInto(this.#pulledWeights);
        this.#statistics.transport = `${weights.transport}`;
      } catch (error) {
        if (!(error instanceof RdmaError && revokedCodes.includes(error.code))) throw error;
        this.#statistics.refused++;
        continue;
      } finally {
        await weights.drop();
      }
      if (checksum(this.#pulledWeights) !== expected)
        throw new Error(`cannot play: the weights of version ${version} are torn`);
      this.#policy.readFrom(this.#pulledWeights);
      this.#version = version;
      this.#statistics.pulled++;
      return;
    }
  }
}

function dispose({ observations, actions, logProbabilities, returns }: Rollout): void {
  for (const tensor of [observations, actions, logProbabilities, returns]) tensor.dispose();
}

/** Returns a generator of numbers from 0 to below 1, the same for equal seeds (Marsaglia's xorshift, 2003). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
