import { context } from "viceroy";
import type { RdmaBuffer } from "viceroy/rdma";
import { LearnerActor, type ParameterServerMesh } from "../generated/training.js";

export class TrainingWorker extends LearnerActor {
  #rank = 0;
  #server!: ParameterServerMesh;
  #remoteWeights!: RdmaBuffer;
  #remoteGradients!: RdmaBuffer;
  #weights = new Float32Array(0);

  /** Requests the handles once. Later transfers need no message. */
  async join(server: ParameterServerMesh): Promise<void> {
    this.#rank = context().rank.rank;
    this.#server = server;
    this.#remoteWeights = await server.weights.callOne();
    this.#remoteGradients = await server.gradients.callOne(this.#rank);
    this.#weights = new Float32Array(this.#remoteWeights.size / 4);
  }

  async step(): Promise<string> {
    const weights = this.#weights;
    await this.#remoteWeights.readInto(weights);
    // This replaces a model's gradients: each worker pulls all weights towards its rank.
    for (let i = 0; i < weights.length; i++) weights[i] = (this.#rank - weights[i]!) / 16;
    await this.#remoteGradients.writeFrom(weights);
    await this.#server.apply.callOne(this.#rank);
    return `${this.#remoteWeights.transport}`;
  }
}
