import { context } from "viceroy";
import { RdmaError } from "viceroy/rdma";
import { manualSeed, noGrad, TensorScope, tensor } from "viceroy/tensor";
import { type Followed, GeneratorActor, type Played, type TrainerMesh } from "../generated/rl.js";
import { Episodes } from "./grid.js";
import { checksum, Policy } from "./policy.js";

/** Games that are played, and learned from, together. */
const batchSize = 64;
/** What those are told who use a version that its trainer has taken back; stale: so long ago that something else has its place. */
const revokedCodes = ["ERR_RDMA_REVOKED", "ERR_RDMA_STALE"];

export class RolloutGenerator extends GeneratorActor {
  readonly #policy = new Policy();
  readonly #weights = new Float32Array(this.#policy.size);
  readonly #random: () => number;
  readonly #pullStatistics = { pulled: 0, refused: 0, transport: "" };
  #trainer!: TrainerMesh;
  /** Of the policy's weights. */
  #version = 0;

  constructor(seed: number) {
    super();
    const own = seed + context().actor.rank.rank;
    manualSeed(own);
    this.#random = randomFrom(own);
  }

  async join(trainer: TrainerMesh): Promise<void> {
    this.#trainer = trainer;
    await this.#pullWeights();
  }

  async play(until: number): Promise<void> {
    let learning: Promise<number> | undefined;
    for (;;) {
      // With the weights that are here, while the trainer learns from the games before.
      const games = this.#toTrajectories(this.#rollOut(batchSize));
      const newest = (await learning) ?? this.#version;
      if (newest >= until) return disposeTrajectories(games);
      if (newest > this.#version) await this.#pullWeights();
      learning = this.#sendTrajectories(games);
    }
  }

  async test(games: number): Promise<number> {
    await this.#pullWeights();
    return this.#rollOut(games).successRate;
  }

  followed(): Followed {
    return this.#pullStatistics;
  }

  async #sendTrajectories(games: Played): Promise<number> {
    try {
      return await this.#trainer.learn.callOne(games);
    } finally {
      disposeTrajectories(games);
    }
  }

  #rollOut(count: number): Episodes {
    const games = new Episodes(count, this.#random);
    while (!games.isDone) {
      using _ = new TensorScope();
      noGrad(() => {
        const chances = this.#policy.forward(games.observe());
        const chosen = chances.exp().multinomial(1);
        const moves = chosen.squeeze(1).toArray() as bigint[];
        games.step(moves.map(Number), chances.gather(1, chosen).squeeze(1).toArray() as number[]);
      });
    }
    return games;
  }

  #toTrajectories(games: Episodes): Played {
    const { history } = games;
    return {
      version: this.#version,
      seen: tensor(history.map(({ observation: seen }) => seen)),
      moves: tensor(BigInt64Array.from(history, ({ action: move }) => BigInt(move))),
      chances: tensor(history.map(({ logProbability: chance }) => chance)),
      returns: tensor(history.map((one) => games.returnAfter(one))),
    };
  }

  /** Takes over the newest weights, of which it never has a part only: a read that was late is refused, and begun anew. */
  async #pullWeights(): Promise<void> {
    for (;;) {
      const { version, weights, checksum: wanted } = await this.#trainer.newest.callOne();
      try {
        await weights.readInto(this.#weights);
        this.#pullStatistics.transport = `${weights.transport}`;
      } catch (error) {
        if (!(error instanceof RdmaError && revokedCodes.includes(error.code))) throw error;
        this.#pullStatistics.refused++;
        continue;
      } finally {
        await weights.drop();
      }
      if (checksum(this.#weights) !== wanted)
        throw new Error(`cannot play: the weights of version ${version} are torn`);
      this.#policy.copyWeightsFrom(this.#weights);
      this.#version = version;
      this.#pullStatistics.pulled++;
      return;
    }
  }
}

function disposeTrajectories(games: Played): void {
  for (const tensor of [games.seen, games.moves, games.chances, games.returns]) tensor.dispose();
}

/** Numbers from 0 to below 1, the same for the same seed (Marsaglia's xorshift, 2003). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
