import { context } from "viceroy";
import { RdmaError } from "viceroy/rdma";
import { manualSeed, noGrad, TensorScope, tensor } from "viceroy/tensor";
import { type Followed, GeneratorActor, type Played, type TrainerMesh } from "../generated/rl.js";
import { Games } from "./grid.js";
import { checksum, Policy } from "./policy.js";

/** Games that are played, and learned from, together. */
const together = 64;
/** What those are told who use a version that its trainer has taken back; stale: so long ago that something else has its place. */
const takenBack = ["ERR_RDMA_REVOKED", "ERR_RDMA_STALE"];

export class Player extends GeneratorActor {
  readonly #policy = new Policy();
  readonly #weights = new Float32Array(this.#policy.size);
  readonly #random: () => number;
  readonly #followed = { pulled: 0, refused: 0, transport: "" };
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
    await this.#pull();
  }

  async play(until: number): Promise<void> {
    let learning: Promise<number> | undefined;
    for (;;) {
      // With the weights that are here, while the trainer learns from the games before.
      const games = this.#record(this.#playOut(together));
      const newest = (await learning) ?? this.#version;
      if (newest >= until) return dispose(games);
      if (newest > this.#version) await this.#pull();
      learning = this.#learnFrom(games);
    }
  }

  async test(games: number): Promise<number> {
    await this.#pull();
    return this.#playOut(games).share;
  }

  followed(): Followed {
    return this.#followed;
  }

  async #learnFrom(games: Played): Promise<number> {
    try {
      return await this.#trainer.learn.callOne(games);
    } finally {
      dispose(games);
    }
  }

  #playOut(count: number): Games {
    const games = new Games(count, this.#random);
    while (!games.over) {
      using _ = new TensorScope();
      noGrad(() => {
        const chances = this.#policy.forward(games.see());
        const chosen = chances.exp().multinomial(1);
        const moves = chosen.squeeze(1).toArray() as bigint[];
        games.move(moves.map(Number), chances.gather(1, chosen).squeeze(1).toArray() as number[]);
      });
    }
    return games;
  }

  #record(games: Games): Played {
    const { history } = games;
    return {
      version: this.#version,
      seen: tensor(history.map(({ seen }) => seen)),
      moves: tensor(BigInt64Array.from(history, ({ move }) => BigInt(move))),
      chances: tensor(history.map(({ chance }) => chance)),
      returns: tensor(history.map((one) => games.returnOf(one))),
    };
  }

  /** Takes over the newest weights, of which it never has a part only: a read that was late is refused, and begun anew. */
  async #pull(): Promise<void> {
    for (;;) {
      const { version, weights, checksum: wanted } = await this.#trainer.newest.callOne();
      try {
        await weights.readInto(this.#weights);
        this.#followed.transport = `${weights.transport}`;
      } catch (error) {
        if (!(error instanceof RdmaError && takenBack.includes(error.code))) throw error;
        this.#followed.refused++;
        continue;
      } finally {
        await weights.drop();
      }
      if (checksum(this.#weights) !== wanted)
        throw new Error(`cannot play: the weights of version ${version} are torn`);
      this.#policy.readFrom(this.#weights);
      this.#version = version;
      this.#followed.pulled++;
      return;
    }
  }
}

function dispose(games: Played): void {
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
