import type { Tensor } from "../tensor.js";
import { call } from "../torch.js";
import { checkNumber, type Group, Optimizer } from "./optimizer.js";

export interface SGDOptions {
  /** Learning rate. */
  readonly lr: number;
  /** How much of the last step's direction is kept. Default: 0. */
  readonly momentum?: number;
  /** Looks ahead by the momentum (Sutskever et al., 2013). Default: false. */
  readonly nesterov?: boolean;
  /** How much of a parameter is added to its gradient. Default: 0. */
  readonly weightDecay?: number;
}

/** Stochastic gradient descent, computed as PyTorch does, without dampening. */
export class SGD extends Optimizer {
  readonly momentum: number;
  readonly nesterov: boolean;
  readonly weightDecay: number;

  /** @throws TypeError, RangeError */
  constructor(parameters: Iterable<Tensor>, { lr, momentum = 0, nesterov = false, weightDecay = 0 }: SGDOptions) {
    checkNumber("momentum", momentum);
    checkNumber("weightDecay", weightDecay);
    if (nesterov && momentum === 0) throw new RangeError("cannot optimize: nesterov needs a momentum");
    super(parameters, lr, momentum === 0 ? [] : ["momentum_buffer"]);
    this.momentum = momentum;
    this.nesterov = nesterov;
    this.weightDecay = weightDecay;
  }

  protected override update({ parameters, gradients, kept }: Group): void {
    const { lr, momentum, nesterov, weightDecay } = this;
    let direction = gradients;
    if (weightDecay !== 0) direction = addScaled(direction, parameters, weightDecay);
    if (momentum !== 0) {
      const velocity = kept("momentum_buffer");
      call("_foreach_mul_.Scalar", [velocity, momentum]);
      call("_foreach_add_.List", [velocity, direction]);
      direction = nesterov ? addScaled(direction, velocity, momentum) : velocity;
    }
    call("_foreach_add_.List", [parameters, direction], { alpha: -lr });
  }
}

/** `some + alpha · others`, in new tensors: gradients are left as they are. */
function addScaled(some: readonly Tensor[], others: readonly Tensor[], alpha: number): readonly Tensor[] {
  return call("_foreach_add.List", [some, others], { alpha }) as readonly Tensor[];
}
