/** The policy: from what is seen to how probable each move is; and its weights as they are published. */
import { nn, noGrad, type Tensor, TensorScope, tensorOver, torch } from "viceroy/tensor";
import { actionCount, observationSize } from "./grid.js";

/** A network with one layer in between. */
export function network(outputs: number): nn.Sequential {
  return new nn.Sequential(new nn.Linear(observationSize, 64), torch.tanh, new nn.Linear(64, outputs));
}

export class Policy extends nn.Module {
  readonly network = network(actionCount);

  /** `[…, features]` to logarithms of probabilities, `[…, moves]` */
  forward(seen: Tensor): Tensor {
    using scope = new TensorScope();
    return scope.keep(this.network.forward(seen).log_softmax(-1));
  }

  /** How many weights it has. */
  get size(): number {
    return this.parameters().reduce((sum, { shape }) => sum + elementCount(shape), 0);
  }

  /** Copies weights to memory, one parameter after the other. */
  copyWeightsTo(memory: Float32Array): void {
    using _ = new TensorScope();
    noGrad(() => {
      for (const [parameter, place] of this.#parameterViews(memory)) place.copy_(parameter);
    });
  }

  /** Takes weights over from memory. */
  copyWeightsFrom(memory: Float32Array): void {
    using _ = new TensorScope();
    noGrad(() => {
      for (const [parameter, place] of this.#parameterViews(memory)) parameter.copy_(place);
    });
  }

  /** Each parameter, and a tensor over its part of the memory. */
  #parameterViews(memory: Float32Array): [parameter: Tensor, place: Tensor][] {
    let end = 0;
    return this.parameters().map((parameter) => {
      const { shape } = parameter;
      const begin = end;
      end += elementCount(shape);
      return [parameter, tensorOver(memory.subarray(begin, end), { shape })];
    });
  }
}

/** The sum of weights as unsigned integers, modulo 2^32: of weights that are not of one version it would be another one. */
export function checksum(weights: Float32Array): number {
  const bits = new Uint32Array(weights.buffer, weights.byteOffset, weights.length);
  return bits.reduce((sum, one) => (sum + one) >>> 0, 0);
}

function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
