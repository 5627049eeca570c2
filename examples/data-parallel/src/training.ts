/** A model and its training. One process with all data and several processes with a part each use the same code. */
import { nn, optim, type Tensor, TensorScope, torch } from "viceroy/tensor";

export function makeModel(): nn.Sequential {
  return new nn.Sequential(new nn.Linear(2, 32), torch.relu, new nn.Linear(32, 32), torch.relu, new nn.Linear(32, 1));
}

export class Training {
  readonly #model: nn.Sequential;
  readonly #dimension: string | undefined;
  readonly #gradients: optim.FlatGradients;
  readonly #optimizer: optim.SGD;

  /** @param dimension the mesh dimension along which processes train together; undefined for one process */
  constructor(model: nn.Sequential, dimension?: string) {
    this.#model = model;
    this.#dimension = dimension;
    this.#gradients = new optim.FlatGradients(model.parameters());
    this.#optimizer = new optim.SGD(model.parameters(), { lr: 0.03, momentum: 0.9 });
  }

  /** @returns the loss of all data before the step */
  step(x: Tensor, y: Tensor): Tensor {
    using scope = new TensorScope();
    const loss = torch.mse_loss(this.#model.forward(x), y);
    this.#gradients.zero();
    // This loss contains no operation between processes. It is the mean over the process's own data, and so are its gradients.
    loss.backward();
    // All processes have the same number of rows, so the average of their gradients is the gradient of the mean over all data.
    if (this.#dimension !== undefined) this.#gradients.average(this.#dimension);
    this.#optimizer.step();
    const ownLoss = loss.detach();
    return scope.keep(this.#dimension === undefined ? ownLoss : ownLoss.reduce(this.#dimension, "avg"));
  }
}
