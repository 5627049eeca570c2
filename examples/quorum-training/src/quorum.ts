/** The replicas that train together: those that answer. The others are asked again at each step, and catch up before they take part. */
import type { ReplicaMesh } from "../generated/replica.js";
import { weightCount } from "./data.js";

/** One step, as the quorum has made it. */
export interface Step {
  readonly loss: number;
  /** The ranks whose gradients are in the step. */
  readonly members: readonly number[];
}

export class Quorum {
  readonly #replicas: readonly ReplicaMesh[];
  readonly #least: number;
  #members: Set<number>;

  /** @param least the smallest number of replicas with which a step is made */
  constructor(replicas: readonly ReplicaMesh[], least: number) {
    this.#replicas = replicas;
    this.#least = least;
    this.#members = new Set(replicas.keys());
  }

  /** Makes a step. @throws Error if fewer replicas than a quorum are left */
  async step(step: number): Promise<Step> {
    const members = [...this.#members];
    const answers = await Promise.allSettled(members.map((rank) => this.#replicas[rank]!.gradient.callOne(step)));
    const mean = new Float32Array(weightCount);
    const given = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    for (const [i, { status }] of answers.entries()) if (status === "rejected") this.#members.delete(members[i]!);
    if (given.length < this.#least) throw new Error(`step ${step} has ${given.length} of ${this.#least} replicas`);
    for (const { gradient } of given) for (const [i, slope] of gradient.entries()) mean[i]! += slope / given.length;
    const made = [...this.#members];
    await this.#all(made, (rank) => this.#replicas[rank]!.apply.callOne(step, mean));
    await this.#readmit();
    return { loss: given.reduce((sum, { loss }) => sum + loss, 0) / given.length, members: made };
  }

  /** Lets replicas that are back read the state of a member. A replica that is still away rejects at once. */
  async #readmit(): Promise<void> {
    const [first] = this.#members;
    const away = [...this.#replicas.keys()].filter((rank) => !this.#members.has(rank));
    for (const rank of away) {
      try {
        const offer = await this.#replicas[first!]!.offer.callOne();
        await this.#replicas[rank]!.catchUp.callOne(offer);
        this.#members.add(rank);
      } catch {
        // It takes part in a later step.
      }
    }
  }

  async #all(ranks: readonly number[], call: (rank: number) => Promise<void>): Promise<void> {
    const ends = await Promise.allSettled(ranks.map(call));
    for (const [i, { status }] of ends.entries()) if (status === "rejected") this.#members.delete(ranks[i]!);
  }
}
