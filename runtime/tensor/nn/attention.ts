import { noGrad } from "../grad.js";
import { TensorScope } from "../scope.js";
import type { Tensor } from "../tensor.js";
import { torch } from "../torch.js";
import { checkProbability } from "./dropout.js";
import { checkLayerSizes, filledParameter, type LayerOptions, uniformParameter } from "./init.js";
import { Linear } from "./linear.js";
import { Module } from "./module.js";

export interface MultiHeadAttentionOptions extends LayerOptions {
  /** Each position attends to itself and to those before it alone. Default: false. */
  readonly causal?: boolean;
  /** Of the attention's weights, in training. Default: 0. */
  readonly dropout?: number;
  /** Default: true. */
  readonly bias?: boolean;
}

/**
 * Scaled dot-product attention by several heads (Vaswani et al., 2017), over `[batch, length, width]`. Names, shapes and beginnings of
 * its parameters are those of PyTorch's `MultiheadAttention`: projections of queries, keys and values uniform within ±√(6 / (4 · width)),
 * biases zero.
 * @throws RangeError for sizes, and for a width that cannot be shared among the heads
 */
export class MultiHeadAttention extends Module {
  readonly width: number;
  readonly heads: number;
  readonly causal: boolean;
  readonly dropout: number;
  /** `[3 · width, width]`: of queries, keys and values, in this order. */
  readonly in_proj_weight: Tensor;
  readonly in_proj_bias: Tensor | null;
  readonly out_proj: Linear;

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
   * @param query `[batch, length, width]`
   * @param key `[batch, other length, width]`. Default: the query
   * @param value like the key. Default: the key
   * @returns `[batch, length, width]`
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
