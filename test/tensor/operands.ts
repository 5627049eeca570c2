/** Arguments for operations, by names: the same elements every time, some of them more than once. */
import { type Tensor, tensor, torch } from "../../runtime/tensor/index.js";

function made(shape: readonly number[], from = 0): Tensor {
  const count = shape.reduce((product, size) => product * size, 1);
  const elements = Float32Array.from({ length: count }, (_, i) => 0.15 + ((i * 7 + from * 3) % 11) / 13);
  return tensor(elements, { shape });
}

function indices(shape: readonly number[], below: number): Tensor {
  const count = shape.reduce((product, size) => product * size, 1);
  return tensor(
    BigInt64Array.from({ length: count }, (_, i) => BigInt((i * 5) % below)),
    { shape },
  );
}

/** Made anew for each test: nothing of it is of a mesh. */
export function operands(): Readonly<Record<string, Tensor>> {
  const square = made([3, 3]);
  const image = made([2, 3, 6, 6]);
  return {
    x: made([3, 4]),
    y: made([3, 4], 1),
    z: made([3, 4], 2),
    v: made([4]),
    w: made([4], 3),
    v3: made([3]),
    sc: made([]),
    sq: square,
    sq2: made([3, 3], 5),
    /** All its eigenvalues are positive. */
    pd: square.matmul(square.t()).add(torch.eye(3)),
    b: made([2, 3, 4]),
    c: made([2, 4, 3]),
    seq: made([2, 3, 8]),
    im: image,
    im3: made([1, 2, 4, 4, 4]),
    /** Kernels of a convolution of `im`. */
    k2: made([4, 3, 3, 3]),
    mask: made([3, 4]).gt(0.5),
    sgn: made([3, 4]).gt(0.5).to("float32").mul(2).sub(1),
    ix: indices([3, 4], 3),
    iv: indices([3], 3),
    tgt: indices([3], 4),
    /** The offsets of the bags of `embedding_bag`. */
    iv0: tensor(BigInt64Array.of(0n, 1n)),
    /** Arguments of `ctc_loss`. */
    ctct: tensor(BigInt64Array.of(1n, 2n, 2n, 1n), { shape: [2, 2] }),
    logp: torch.log_softmax(image.select(3, 0).permute([2, 0, 1]).contiguous(), -1),
    /** Arguments of `grid_sampler` and `affine_grid_generator`. */
    grid: made([2, 4, 4, 2]),
    theta: made([2, 2, 3]),
  };
}

/** An argument as it is written: a name, a value, or a list of them. */
export function argument(text: string, operand: (name: string) => Tensor): unknown {
  const words: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };
  if (text in words) return words[text];
  if (text.startsWith("'")) return text.slice(1, -1);
  if (/^[-\d.]+$/.test(text)) return Number(text);
  if (!text.startsWith("[")) return operand(text);
  return text
    .slice(1, -1)
    .split(",")
    .map((one) => argument(one, operand));
}
