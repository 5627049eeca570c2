import { RdmaBuffer } from "viceroy/rdma";
import { manualSeed, type nn, optim, type Tensor, TensorScope, torch } from "viceroy/tensor";
import { type PolicyVersion, type Progress, type Rollout, TrainerActor } from "../generated/rl.js";
import { checksum, network, Policy } from "./policy.js";

/** Number of versions that can be read at a time. */
const readableVersions = 3;

/**
 * Learns by policy gradient: actions whose return exceeds the expected value become more probable. Each step of the optimizer makes a version.
 * The weights of a version are in registered memory. Nobody writes to that memory before the grant of the version has been revoked.
 */
export class Learner extends TrainerActor {
  readonly #maxLag: number;
  readonly #policy: Policy;
  /** Estimates the value of a state: the expected return under the current policy. */
  readonly #valueNetwork: nn.Sequential;
  readonly #optimizer: optim.Adam;
  readonly #buffers: readonly RdmaBuffer[];
  readonly #published: PolicyVersion[] = [];
  /** The policy lag of each rollout that was used. */
  readonly #lags: number[] = [];
  readonly #versionsUsed = new Set<number>();
  #rejectedRollouts = 0;

  constructor(seed: number, maxLag: number) {
    super();
    this.#maxLag = maxLag;
    manualSeed(seed);
    this.#policy = new Policy();
    this.#valueNetwork = network(1);
    this.#optimizer = new optim.Adam([...this.#policy.parameters(), ...this.#valueNetwork.parameters()], { lr: 0.003 });
    const bytes = 4 * this.#policy.size;
    this.#buffers = Array.from({ length: readableVersions + 1 }, () => RdmaBuffer.allocate(bytes));
    this.#publish(0);
  }

  async learn(rollout: Rollout): Promise<number> {
    const { version } = this.newest();
    const lag = version - rollout.version;
    if (lag > this.#maxLag) this.#rejectedRollouts++;
    else {
      this.#lags.push(lag);
      this.#versionsUsed.add(rollout.version);
      this.#update(rollout);
      this.#publish(version + 1);
      await this.#revokeOldest();
    }
    const { observations, actions, logProbabilities, returns } = rollout;
    for (const tensor of [observations, actions, logProbabilities, returns]) tensor.dispose();
    return this.newest().version;
  }

  newest(): PolicyVersion {
    return this.#published.at(-1)!;
  }

  progress(): Progress {
    const lags = this.#lags;
    return {
      version: this.newest().version,
      meanLag: lags.reduce((sum, lag) => sum + lag, 0) / Math.max(lags.length, 1),
      largestLag: Math.max(0, ...lags),
      versionsUsed: this.#versionsUsed.size,
      rejectedRollouts: this.#rejectedRollouts,
    };
  }

  override async cleanup(): Promise<void> {
    await Promise.all(this.#buffers.map((buffer) => buffer.drop()));
  }

  /** Makes one step of the optimizer on the clipped surrogate objective of PPO. */
  #update({ observations, actions, logProbabilities, returns }: Rollout): void {
    using _ = new TensorScope();
    const current = this.#policy.forward(observations);
    const values = this.#valueNetwork.forward(observations).squeeze(1);
    const advantages = returns.sub(values.detach());
    // The importance ratio: how much more probable the action is now than when it was chosen. Beyond a change of a fifth, clipping
    // removes the gain.
    const ratio = selectActions(current, actions).sub(logProbabilities).exp();
    const surrogate = torch.minimum(ratio.mul(advantages), ratio.clamp(0.8, 1.2).mul(advantages)).mean();
    const entropy = current.exp().mul(current).sum([-1]).mean().neg();
    const valueLoss = torch.mse_loss(values, returns);
    this.#optimizer.zeroGrad();
    valueLoss.sub(surrogate).sub(entropy, { alpha: 0.01 }).backward();
    this.#optimizer.step();
  }

  #bufferOf(version: number): RdmaBuffer {
    return this.#buffers[version % this.#buffers.length]!;
  }

  #publish(version: number): void {
    const buffer = this.#bufferOf(version);
    const { view } = buffer;
    const memory = new Float32Array(view.buffer, view.byteOffset, this.#policy.size);
    this.#policy.writeTo(memory);
    this.#published.push({ version, weights: buffer.grant({ access: "r" }), checksum: checksum(memory) });
  }

  /** Frees the buffer for the next version. After `revoke` has resolved, no reader gets bytes by that grant. */
  async #revokeOldest(): Promise<void> {
    if (this.#published.length <= readableVersions) return;
    const oldest = this.#published.shift()!;
    await this.#bufferOf(oldest.version).revoke(oldest.weights);
  }
}

/** Selects the log probability of the chosen action: `[steps, actions]` and `[steps]` to `[steps]`. */
function selectActions(logProbabilities: Tensor, actions: Tensor): Tensor {
  return logProbabilities.gather(1, actions.unsqueeze(1)).squeeze(1);
}
