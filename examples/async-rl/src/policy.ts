/** The policy network, which maps observations to the log probabilities of actions, and the memory format of its published weights. */
import { nn, noGrad, type Tensor, TensorScope, tensorOver, torch } from "viceroy/tensor";
import { actionCount, features } from "./grid-world.js";

/** A network with one hidden layer. */
export function network(outputs: number): nn.Sequential {
  return new nn.Sequential(new nn.Linear(features, 64), torch.tanh, new nn.Linear(64, outputs));
}

export class Policy extends nn.Module {
  readonly network = network(actionCount);

  /** Maps observations, `[…, features]`, to log probabilities, `[…, actions]`. */
  forward(observations: Tensor): Tensor {
    using scope = new TensorScope();
    return scope.keep(this.network.forward(observations).log_softmax(-1));
  }

  /** Number of weights. */
  get size(): number {
    return this.parameters().reduce((sum, { shape }) => sum + elementCount(shape), 0);
  }

  /** Copies the weights to memory, one parameter after the other. */
  writeTo(memory: Float32Array): void {
    using _ = new TensorScope();
    noGrad(() => {
      for (const [parameter, stored] of this.#viewsOf(memory)) stored.copy_(parameter);
    });
  }

  /** Copies the weights from memory. */
  readFrom(memory: Float32Array): void {
    using _ = new TensorScope();
    noGrad(() => {
      for (const [parameter, stored] of this.#viewsOf(memory)) parameter.copy_(stored);
    });
  }

  /** Each parameter with a tensor over its part of the memory. */
  #viewsOf(memory: Float32Array): [parameter: Tensor, stored: Tensor][] {
    let end = 0;
    return this.parameters().map((parameter) => {
      const { shape } = parameter;
      const begin = end;
      end += elementCount(shape);
      return [parameter, tensorOver(memory.subarray(begin, end), { shape })];
    });
  }
}

/** The sum of the weights, taken as unsigned integers, modulo 2^32. A mixture of two versions has another sum. */
export function checksum(weights: Float32Array): number {
  const bits = new Uint32Array(weights.buffer, weights.byteOffset, weights.length);
  return bits.reduce((sum, word) => (sum + word) >>> 0, 0);
}

function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}
