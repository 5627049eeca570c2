/** Actors that take tensors and give them. */
import type { Actor, RdmaBuffer, Tensor } from "viceroy/schema";

export interface Labelled {
  name: string;
  values?: Tensor;
}

export interface Model extends Actor<[weights: Tensor]> {
  forward(batch: Tensor): Tensor;
  /** Adds to the weights. */
  update(gradients: Labelled[]): Record<string, Tensor>;
  /** The memory of the weights. */
  expose(): RdmaBuffer;
  /** Weights whose memory others may map. */
  shared(size: number): RdmaBuffer;
  sum(): number;
  scale(factor: number): void;
}
