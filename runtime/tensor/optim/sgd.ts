import type { Tensor } from "../value/tensor.js";
import { call } from "../value/torch.js";
import { checkNumber, type Group, Optimizer } from "./optimizer.js";

/** The options of {@link SGD}. */
export interface SGDOptions {
  /** The learning rate, from 0. */
  readonly lr: number;
  /** The fraction of the last step's direction that is kept. Default: 0. */
  readonly momentum?: number;
  /** Whether Nesterov momentum is used (Sutskever et al., 2013). Default: false. */
  readonly nesterov?: boolean;
  /** The fraction of a parameter that is added to its gradient. Default: 0. */
  readonly weightDecay?: number;
}

/** Stochastic gradient descent, computed as in PyTorch, without dampening. */
export class SGD extends Optimizer {
  /** The fraction of the last step's direction that is kept. */
  readonly momentum: number;
  /** Whether Nesterov momentum is used. */
  readonly nesterov: boolean;
  /** The fraction of a parameter that is added to its gradient. */
  readonly weightDecay: number;

  /**
   * Makes the optimizer.
   *
   * @param parameters tensors that require gradients, each once
   * @param options learning rate and coefficients
   * @throws {TypeError} when a parameter does not require gradients, or is given twice
   * @throws {RangeError} when a number is out of range
   */
  constructor(parameters: Iterable<Tensor>, { lr, momentum = 0, nesterov = false, weightDecay = 0 }: SGDOptions) {
    checkNumber("momentum", momentum);
    checkNumber("weightDecay", weightDecay);
    if (nesterov && momentum === 0) throw new RangeError("cannot optimize: nesterov needs a momentum");
    super(parameters, lr, momentum === 0 ? [] : ["momentum_buffer"]);
    this.momentum = momentum;
    this.nesterov = nesterov;
    this.weightDecay = weightDecay;
  }

  /** Changes the parameters in place. */
  protected override update({ parameters, gradients, kept, callWithNumber }: Group): void {
    const { momentum, nesterov, weightDecay } = this;
    let direction = gradients;
    if (weightDecay !== 0) direction = addScaled(direction, parameters, weightDecay);
    if (momentum !== 0) {
      const velocity = kept("momentum_buffer");
      call("_foreach_mul_.Scalar", [velocity, momentum]);
      call("_foreach_add_.List", [velocity, direction]);
      direction = nesterov ? addScaled(direction, velocity, momentum) : velocity;
    }
    callWithNumber("_foreach_add_.List", [parameters, direction], () => -this.lr, "alpha");
  }
}

/** `some + alpha · others`, in new tensors: gradients are left as they are. */
function addScaled(some: readonly Tensor[], others: readonly Tensor[], alpha: number): readonly Tensor[] {
  return call("_foreach_add.List", [some, others], { alpha }) as readonly Tensor[];
}
