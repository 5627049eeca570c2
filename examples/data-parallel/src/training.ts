/** A model and its training: the same code for one process that has all data and for several that have a part each. */
import { nn, optim, type Tensor, TensorScope, torch } from "viceroy/tensor";

export function makeModel(): nn.Sequential {
  return new nn.Sequential(new nn.Linear(2, 32), torch.relu, new nn.Linear(32, 32), torch.relu, new nn.Linear(32, 1));
}

export class Training {
  readonly #model: nn.Sequential;
  readonly #along: string | undefined;
  readonly #gradients: optim.FlatGradients;
  readonly #optimizer: optim.SGD;

  /** @param along the dimension of the mesh whose processes train together; none for one process */
  constructor(model: nn.Sequential, along?: string) {
    this.#model = model;
    this.#along = along;
    this.#gradients = new optim.FlatGradients(model.parameters());
    this.#optimizer = new optim.SGD(model.parameters(), { lr: 0.03, momentum: 0.9 });
  }

  /** @returns the loss before the step, of all data */
  step(x: Tensor, y: Tensor): Tensor {
    using scope = new TensorScope();
    const loss = torch.mse_loss(this.#model.forward(x), y);
    this.#gradients.zero();
    // No operation between processes has been part of this loss: it is the mean of the process's own data, and so are its gradients.
    loss.backward();
    // All have the same number of rows, so the average of these gradients is the gradient of the mean of all data.
    if (this.#along !== undefined) this.#gradients.average(this.#along);
    this.#optimizer.step();
    const own = loss.detach();
    return scope.keep(this.#along === undefined ? own : own.reduce(this.#along, "avg"));
  }
}
