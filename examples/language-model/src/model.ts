/** A transformer that reads characters and says which one is next: what GPT is, small. */
import { nn, type Tensor, TensorScope, torch } from "viceroy/tensor";

export interface Size {
  /** Characters that there are. */
  readonly characters: number;
  /** How many it looks back. */
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
  readonly places: nn.Embedding;
  readonly blocks: nn.Sequential;
  readonly norm: nn.LayerNorm;
  readonly head: nn.Linear;

  constructor(size: Size) {
    super();
    this.context = size.context;
    this.characters = new nn.Embedding(size.characters, size.width);
    this.places = new nn.Embedding(size.context, size.width);
    this.blocks = new nn.Sequential(...Array.from({ length: size.blocks }, () => new Block(size)));
    this.norm = new nn.LayerNorm(size.width);
    this.head = new nn.Linear(size.width, size.characters, { bias: false });
  }

  /** Characters, `[batch, length]`, to a score for each that could be next, `[batch, length, characters]`. */
  forward(text: Tensor): Tensor {
    using scope = new TensorScope();
    const places = this.places.weight.narrow(0, 0, text.shape[1]!);
    const x = this.characters.forward(text).add(places);
    return scope.keep(this.head.forward(this.norm.forward(this.blocks.forward(x))));
  }

  /** How surprised it is by the next characters, in nats for each. @param text `[batch, length + 1]` */
  loss(text: Tensor): Tensor {
    using scope = new TensorScope();
    const length = text.shape[1]! - 1;
    const scores = this.forward(text.narrow(1, 0, length)).flatten(0, 1);
    return scope.keep(torch.cross_entropy_loss(scores, text.narrow(1, 1, length).flatten()));
  }
}
