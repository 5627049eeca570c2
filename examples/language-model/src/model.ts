/** A small GPT: a transformer that reads characters and predicts the next one. */
import { nn, type Tensor, TensorScope, torch } from "viceroy/tensor";

export interface Size {
  /** Number of distinct characters. */
  readonly characters: number;
  /** Number of characters that a prediction can depend on. */
  readonly context: number;
  readonly width: number;
  readonly heads: number;
  readonly blocks: number;
}

class Block extends nn.Module {
  readonly attentionNorm: nn.LayerNorm;
  readonly attention: nn.MultiHeadAttention;
  readonly feedNorm: nn.LayerNorm;
  readonly feed: nn.Sequential;

  constructor({ width, heads }: Size) {
    super();
    this.attentionNorm = new nn.LayerNorm(width);
    this.attention = new nn.MultiHeadAttention(width, heads, { causal: true });
    this.feedNorm = new nn.LayerNorm(width);
    this.feed = new nn.Sequential(new nn.Linear(width, 4 * width), torch.gelu, new nn.Linear(4 * width, width));
  }

  forward(x: Tensor): Tensor {
    const attended = x.add(this.attention.forward(this.attentionNorm.forward(x)));
    return attended.add(this.feed.forward(this.feedNorm.forward(attended)));
  }
}

export class LanguageModel extends nn.Module {
  readonly context: number;
  readonly characters: nn.Embedding;
  readonly positions: nn.Embedding;
  readonly blocks: nn.Sequential;
  readonly norm: nn.LayerNorm;
  readonly head: nn.Linear;

  constructor(size: Size) {
    super();
    this.context = size.context;
    this.characters = new nn.Embedding(size.characters, size.width);
    this.positions = new nn.Embedding(size.context, size.width);
    this.blocks = new nn.Sequential(...Array.from({ length: size.blocks }, () => new Block(size)));
    this.norm = new nn.LayerNorm(size.width);
    this.head = new nn.Linear(size.width, size.characters, { bias: false });
  }

  /** Maps characters, `[batch, length]`, to a score for each possible next character, `[batch, length, characters]`. */
  forward(text: Tensor): Tensor {
    using scope = new TensorScope();
    const positions = this.positions.weight.narrow(0, 0, text.shape[1]!);
    const x = this.characters.forward(text).add(positions);
    return scope.keep(this.head.forward(this.norm.forward(this.blocks.forward(x))));
  }

  /** The cross-entropy of the next characters, in nats per character. @param text `[batch, length + 1]` */
  loss(text: Tensor): Tensor {
    using scope = new TensorScope();
    const length = text.shape[1]! - 1;
    const scores = this.forward(text.narrow(1, 0, length)).flatten(0, 1);
    return scope.keep(torch.cross_entropy_loss(scores, text.narrow(1, 1, length).flatten()));
  }
}
