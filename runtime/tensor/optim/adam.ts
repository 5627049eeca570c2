import type { Tensor } from "../value/tensor.js";
import { call } from "../value/torch.js";
import { checkNumber, type Group, Optimizer } from "./optimizer.js";

/** The options of {@link Adam} and {@link AdamW}. */
export interface AdamOptions {
  /** The learning rate, more than 0. Default: 0.001. */
  readonly lr?: number;
  /**
   * The fractions of the means of gradients and of their squares that are kept, from 0 to 1. Default: 0.9 and 0.999.
   */
  readonly betas?: readonly [number, number];
  /** A number that is added to the root of the mean of squares. Default: 1e-8. */
  readonly eps?: number;
  /** The weight decay. Default: 0 for Adam, 0.01 for AdamW. */
  readonly weightDecay?: number;
}

/** The Adam optimizer (Kingma and Ba, 2014), computed as in PyTorch. Weight decay is added to the gradients. */
export class Adam extends Optimizer {
  /** The fractions of the means that are kept. */
  readonly betas: readonly [number, number];
  /** The number that is added to the root of the mean of squares. */
  readonly eps: number;
  /** The weight decay. */
  readonly weightDecay: number;

  /**
   * Makes the optimizer.
   *
   * @param parameters tensors that require gradients, each once
   * @param options learning rate and coefficients
   * @throws {TypeError} when a parameter does not require gradients, or is given twice
   * @throws {RangeError} when a number is out of range
   */
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

  /** Changes the parameters in place. */
  protected override update(group: Group): void {
    const { parameters, kept } = group;
    const [beta1, beta2] = this.betas;
    const decayed = this.decay(group);
    const means = kept("exp_avg");
    call("_foreach_mul_.Scalar", [means, beta1]);
    call("_foreach_add_.List", [means, decayed], { alpha: 1 - beta1 });
    const squares = kept("exp_avg_sq");
    call("_foreach_mul_.Scalar", [squares, beta2]);
    call("_foreach_addcmul_.Scalar", [squares, decayed, decayed, 1 - beta2]);
    // Corrects the bias of the moving averages, which start at 0. The correction depends on the steps of each parameter.
    const roots = call("_foreach_sqrt", [squares]) as readonly Tensor[];
    group.callWithNumbers("_foreach_div_.ScalarList", [roots], (step) => Math.sqrt(1 - beta2 ** step));
    call("_foreach_add_.Scalar", [roots, this.eps]);
    group.callWithNumbers(
      "_foreach_addcdiv_.ScalarList",
      [parameters, means, roots],
      (step) => -this.lr / (1 - beta1 ** step),
    );
  }

  /** Returns the gradients, to which weight decay has been added. */
  protected decay({ parameters, gradients }: Group): readonly Tensor[] {
    if (this.weightDecay === 0) return gradients;
    return call("_foreach_add.List", [gradients, parameters], { alpha: this.weightDecay }) as readonly Tensor[];
  }
}

/**
 * The AdamW optimizer (Loshchilov and Hutter, 2019), computed as in PyTorch. Weight decay makes the parameters
 * themselves smaller.
 */
export class AdamW extends Adam {
  /**
   * Makes the optimizer.
   *
   * @param parameters tensors that require gradients, each once
   * @param options learning rate and coefficients
   * @throws {TypeError} when a parameter does not require gradients, or is given twice
   * @throws {RangeError} when a number is out of range
   */
  constructor(parameters: Iterable<Tensor>, { weightDecay = 0.01, ...options }: AdamOptions = {}) {
    super(parameters, { ...options, weightDecay });
  }

  /** Makes the parameters smaller, and returns the gradients. */
  protected override decay({ parameters, gradients, callWithNumber }: Group): readonly Tensor[] {
    if (this.weightDecay !== 0)
      callWithNumber("_foreach_mul_.Scalar", [parameters], () => 1 - this.lr * this.weightDecay);
    return gradients;
  }
}
