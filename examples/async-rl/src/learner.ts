import { RdmaBuffer } from "viceroy/rdma";
import { manualSeed, type nn, optim, type Tensor, TensorScope, torch } from "viceroy/tensor";
import { type Played, type Progress, type Published, TrainerActor } from "../generated/rl.js";
import { checksum, network, Policy } from "./policy.js";

/** Versions that can be read at a time. */
const readableVersions = 3;

/**
 * Learns by policy gradient: moves after which more was won than was expected become more probable. Each step is a version; its weights are
 * in memory that others may read and nobody writes to before the version has been taken back.
 */
export class PolicyTrainer extends TrainerActor {
  readonly #maxStaleness: number;
  readonly #policy: Policy;
  /** What is won from a state on, by the present policy: what returns are compared with. */
  readonly #valueFunction: nn.Sequential;
  readonly #optimizer: optim.Adam;
  readonly #buffers: readonly RdmaBuffer[];
  readonly #published: Published[] = [];
  readonly #stalenessHistory: number[] = [];
  readonly #trainedVersions = new Set<number>();
  #refused = 0;

  constructor(seed: number, bound: number) {
    super();
    this.#maxStaleness = bound;
    manualSeed(seed);
    this.#policy = new Policy();
    this.#valueFunction = network(1);
    this.#optimizer = new optim.Adam([...this.#policy.parameters(), ...this.#valueFunction.parameters()], {
      lr: 0.003,
    });
    const bytes = 4 * this.#policy.size;
    this.#buffers = Array.from({ length: readableVersions + 1 }, () => RdmaBuffer.allocate(bytes));
    this.#publish(0);
  }

  async learn(games: Played): Promise<number> {
    const { version } = this.newest();
    const staleness = version - games.version;
    if (staleness > this.#maxStaleness) this.#refused++;
    else {
      this.#stalenessHistory.push(staleness);
      this.#trainedVersions.add(games.version);
      this.#updatePolicy(games);
      this.#publish(version + 1);
      await this.#revokeOldest();
    }
    for (const tensor of [games.seen, games.moves, games.chances, games.returns]) tensor.dispose();
    return this.newest().version;
  }

  newest(): Published {
    return this.#published.at(-1)!;
  }

  progress(): Progress {
    const all = this.#stalenessHistory;
    return {
      version: this.newest().version,
      staleness: all.reduce((sum, one) => sum + one, 0) / Math.max(all.length, 1),
      stalest: Math.max(0, ...all),
      played: this.#trainedVersions.size,
      refused: this.#refused,
    };
  }

  override async cleanup(): Promise<void> {
    await Promise.all(this.#buffers.map((buffer) => buffer.drop()));
  }

  /** One step of the optimizer. */
  #updatePolicy({ seen, moves, chances, returns }: Played): void {
    using _ = new TensorScope();
    const all = this.#policy.forward(seen);
    const expected = this.#valueFunction.forward(seen).squeeze(1);
    const advantage = returns.sub(expected.detach());
    // How much more probable than when they were played moves have become. Beyond a fifth there is nothing to be gained by them.
    const ratio = logProbabilitiesOf(all, moves).sub(chances).exp();
    const gain = torch.minimum(ratio.mul(advantage), ratio.clamp(0.8, 1.2).mul(advantage)).mean();
    const surprise = all.exp().mul(all).sum([-1]).mean();
    this.#optimizer.zeroGrad();
    torch.mse_loss(expected, returns).sub(gain).add(surprise, { alpha: 0.01 }).backward();
    this.#optimizer.step();
  }

  #bufferOf(version: number): RdmaBuffer {
    return this.#buffers[version % this.#buffers.length]!;
  }

  #publish(version: number): void {
    const buffer = this.#bufferOf(version);
    const { view } = buffer;
    const memory = new Float32Array(view.buffer, view.byteOffset, this.#policy.size);
    this.#policy.copyWeightsTo(memory);
    this.#published.push({ version, weights: buffer.grant({ access: "r" }), checksum: checksum(memory) });
  }

  /** Makes room for the next version. When `revoke` has resolved, nobody is shown what is read by that grant. */
  async #revokeOldest(): Promise<void> {
    if (this.#published.length <= readableVersions) return;
    const oldest = this.#published.shift()!;
    await this.#bufferOf(oldest.version).revoke(oldest.weights);
  }
}

/** Of what was chosen. */
function logProbabilitiesOf(all: Tensor, chosen: Tensor): Tensor {
  return all.gather(1, chosen.unsqueeze(1)).squeeze(1);
}
