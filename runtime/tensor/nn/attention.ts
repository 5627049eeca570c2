import { noGrad } from "../value/grad.js";
import type { Tensor } from "../value/tensor.js";
import { TensorScope } from "../value/tensor-scope.js";
import { torch } from "../value/torch.js";
import { checkProbability } from "./dropout.js";
import { checkLayerSizes, filledParameter, type LayerOptions, uniformParameter } from "./initialize.js";
import { Linear } from "./linear.js";
import { Module } from "./module.js";

/** The options of {@link MultiHeadAttention}. */
export interface MultiHeadAttentionOptions extends LayerOptions {
  /** Whether each position attends only to itself and to earlier positions. Default: false. */
  readonly causal?: boolean;
  /** The probability with which a weight of the attention is set to 0 in training, from 0 to 1. Default: 0. */
  readonly dropout?: number;
  /** Whether the projections have biases. Default: true. */
  readonly bias?: boolean;
}

/**
 * Scaled dot-product attention with several heads (Vaswani et al., 2017), over tensors of the shape `[batch, length,
 * width]`. The names, shapes and initial values of the parameters are those of `MultiheadAttention` in PyTorch: the
 * projections of queries, keys and values are uniform within ±√(6 / (4 · width)), and biases are 0.
 */
export class MultiHeadAttention extends Module {
  /** The size of the last dimension. */
  readonly width: number;
  /** The number of heads. */
  readonly heads: number;
  /** Whether each position attends only to itself and to earlier positions. */
  readonly causal: boolean;
  /** The probability with which a weight of the attention is set to 0 in training. */
  readonly dropout: number;
  /** The projections of queries, keys and values, in this order, of the shape `[3 · width, width]`. */
  readonly in_proj_weight: Tensor;
  /** The biases of the projections, of the shape `[3 · width]`; null without biases. */
  readonly in_proj_bias: Tensor | null;
  /** The projection of the result. */
  readonly out_proj: Linear;

  /**
   * Makes the layer.
   *
   * @param width size of the last dimension, a multiple of `heads`
   * @param heads number of heads, from 1
   * @param options causality, dropout, biases, type
   * @throws {RangeError} when a size is out of range, or `width` is not a multiple of `heads`
   */
  constructor(
    width: number,
    heads: number,
    { causal = false, dropout = 0, bias = true, dtype = "float32" }: MultiHeadAttentionOptions = {},
  ) {
    super();
    checkLayerSizes("MultiHeadAttention", { width, heads });
    if (width % heads !== 0) {
      throw new RangeError(`cannot make MultiHeadAttention: width ${width} cannot be shared among ${heads} heads`);
    }
    checkProbability("MultiHeadAttention", dropout);
    this.width = width;
    this.heads = heads;
    this.causal = causal;
    this.dropout = dropout;
    // PyTorch draws in this order.
    this.out_proj = new Linear(width, width, { bias, dtype });
    noGrad(() => this.out_proj.bias?.zero_().dispose());
    this.in_proj_weight = uniformParameter([3 * width, width], Math.sqrt(6 / (4 * width)), dtype);
    this.in_proj_bias = bias ? filledParameter([3 * width], dtype, (empty) => empty.zero_()) : null;
  }

  /**
   * Computes the attention.
   *
   * @param query a tensor of the shape `[batch, length, width]`
   * @param key a tensor of the shape `[batch, other length, width]`; default: the query
   * @param value a tensor of the shape of the key; default: the key
   * @returns a tensor of the shape `[batch, length, width]`
   */
  forward(query: Tensor, key: Tensor = query, value: Tensor = key): Tensor {
    using scope = new TensorScope();
    const [q, k, v] = this.#project(query, key, value).map((one) => this.#splitHeads(one)) as [Tensor, Tensor, Tensor];
    const scores = q.matmul(k.transpose(-2, -1)).mul(1 / Math.sqrt(this.width / this.heads));
    const weights = torch.softmax(this.causal ? maskLaterPositions(scores) : scores, -1);
    const attended = this.#applyDropout(weights).matmul(v).transpose(1, 2).flatten(2);
    return scope.keep(this.out_proj.forward(attended));
  }

  /** One product for all three if they are of the same. */
  #project(query: Tensor, key: Tensor, value: Tensor): Tensor[] {
    const { in_proj_weight: weight, in_proj_bias: bias } = this;
    if (query === key && key === value) return torch.linear(query, weight, bias).chunk(3, -1);
    const weights = weight.chunk(3);
    const biases = bias?.chunk(3);
    return [query, key, value].map((one, i) => torch.linear(one, weights[i]!, biases?.[i]));
  }

  /** `[batch, length, width]` to `[batch, heads, length, width / heads]` */
  #splitHeads(projected: Tensor): Tensor {
    return projected.unflatten(-1, [this.heads, -1]).transpose(1, 2);
  }

  #applyDropout(weights: Tensor): Tensor {
    return this.training && this.dropout > 0 ? torch.dropout(weights, this.dropout, true) : weights;
  }
}

/** Without what comes later: of no weight. A mask of the same place and type as the scores. */
function maskLaterPositions(scores: Tensor): Tensor {
  const later = scores.new_full(scores.shape.slice(-2), Number.NEGATIVE_INFINITY).triu(1);
  return scores.add(later);
}
