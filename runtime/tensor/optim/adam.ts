import type { Tensor } from "../tensor.js";
import { call } from "../torch.js";
import { checkNumber, type Group, Optimizer } from "./optimizer.js";

export interface AdamOptions {
  /** Learning rate. Default: 0.001. */
  readonly lr?: number;
  /** How much of the means of gradients, and of their squares, is kept. Default: 0.9 and 0.999. */
  readonly betas?: readonly [number, number];
  /** Added to the root of the mean of squares. Default: 1e-8. */
  readonly eps?: number;
  /** Default: 0 for Adam, 0.01 for AdamW. */
  readonly weightDecay?: number;
}

/** Adam (Kingma and Ba, 2014), computed as PyTorch does; weight decay is added to gradients. */
export class Adam extends Optimizer {
  readonly betas: readonly [number, number];
  readonly eps: number;
  readonly weightDecay: number;

  /** @throws TypeError, RangeError */
  constructor(
    parameters: Iterable<Tensor>,
    { lr = 1e-3, betas = [0.9, 0.999], eps = 1e-8, weightDecay = 0 }: AdamOptions = {},
  ) {
    for (const [i, beta] of betas.entries()) checkNumber(`betas[${i}]`, beta, 1);
    checkNumber("eps", eps);
    checkNumber("weightDecay", weightDecay);
    super(parameters, lr, ["exp_avg", "exp_avg_sq"]);
    this.betas = betas;
    this.eps = eps;
    this.weightDecay = weightDecay;
  }

  protected override update(group: Group): void {
    const { parameters, steps, kept } = group;
    const [beta1, beta2] = this.betas;
    const decayed = this.decay(group);
    const means = kept("exp_avg");
    call("_foreach_mul_.Scalar", [means, beta1]);
    call("_foreach_add_.List", [means, decayed], { alpha: 1 - beta1 });
    const squares = kept("exp_avg_sq");
    call("_foreach_mul_.Scalar", [squares, beta2]);
    call("_foreach_addcmul_.Scalar", [squares, decayed, decayed, 1 - beta2]);
    // Both means begin with zeros, and are too small by what is divided out here; it depends on each parameter's own steps.
    const roots = call("_foreach_sqrt", [squares]) as readonly Tensor[];
    call("_foreach_div_.ScalarList", [roots, steps.map((step) => Math.sqrt(1 - beta2 ** step))]);
    call("_foreach_add_.Scalar", [roots, this.eps]);
    const rates = steps.map((step) => -this.lr / (1 - beta1 ** step));
    call("_foreach_addcdiv_.ScalarList", [parameters, means, roots, rates]);
  }

  /** @returns the gradients, with what weight decay adds to them */
  protected decay({ parameters, gradients }: Group): readonly Tensor[] {
    if (this.weightDecay === 0) return gradients;
    return call("_foreach_add.List", [gradients, parameters], { alpha: this.weightDecay }) as readonly Tensor[];
  }
}

/** Adam whose weight decay makes parameters smaller themselves (Loshchilov and Hutter, 2019), computed as PyTorch does. */
export class AdamW extends Adam {
  /** @throws TypeError, RangeError */
  constructor(parameters: Iterable<Tensor>, { weightDecay = 0.01, ...options }: AdamOptions = {}) {
    super(parameters, { ...options, weightDecay });
  }

  protected override decay({ parameters, gradients }: Group): readonly Tensor[] {
    if (this.weightDecay !== 0) call("_foreach_mul_.Scalar", [parameters, 1 - this.lr * this.weightDecay]);
    return gradients;
  }
}
