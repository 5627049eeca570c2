/** Operations of every kind, each with arguments that it takes: those whose shapes libtorch does not tell by itself, and some others. */
import { type Tensor, tensor, torch } from "../../runtime/tensor/index.js";

/** Marks a tensor whose gradient is wanted. */
type Leaf = (made: Tensor) => Tensor;
type Made = Tensor | readonly Tensor[];
type Make = (leaf: Leaf) => Made[];

const plain: Leaf = (made) => made;
const r = (...shape: number[]) => torch.rand(shape).add(0.1);
const i = (below: number, ...shape: number[]) => torch.randint(below, shape);

const makes: Record<string, Make> = {
  pointwise: (leaf) => {
    const x = leaf(r(3, 4));
    return [
      x.abs(),
      x.relu(),
      x.sigmoid(),
      x.tanh(),
      x.exp(),
      x.log(),
      x.sqrt(),
      x.rsqrt(),
      x.neg(),
      x.sin(),
      x.erf(),
      x.square(),
    ];
  },
  activations: (leaf) => {
    const x = leaf(r(3, 4));
    const y = [
      torch.gelu(x),
      torch.silu(x),
      torch.hardtanh(x),
      torch.hardswish(x),
      torch.leaky_relu(x),
      torch.elu(x),
      torch.celu(x),
    ];
    return [
      ...y,
      torch.softplus(x),
      torch.mish(x),
      torch.log_sigmoid(x),
      torch.prelu(x, leaf(r(1))),
      x.logit(0.01),
      torch.glu(x),
    ];
  },
  rounding: () => {
    const x = r(3, 4);
    return [
      x.floor(),
      x.round(),
      x.trunc(),
      x.sign(),
      x.isnan(),
      x.isfinite(),
      x.logical_not(),
      x.angle(),
      x.nan_to_num(),
      x.frac(),
    ];
  },
  binary: (leaf) => {
    const x = leaf(r(3, 4));
    const y = leaf(r(4));
    return [
      x.add(y),
      x.mul(2),
      x.div(y),
      x.maximum(y),
      x.pow(y),
      x.atan2(y),
      x.remainder(2),
      torch.where(x.gt(0.5), x, y),
      x.rsub(y),
    ];
  },
  truth: () => {
    const x = r(3, 4).gt(0.5);
    return [
      x.logical_and(x),
      x.logical_or(x),
      x.logical_xor(x),
      x.any(),
      x.all(1),
      r(3).eq(r(3)),
      i(9, 3).bitwise_and(3),
    ];
  },
  whole: () => [
    i(9, 3).floor_divide(2),
    i(9, 3).bitwise_not(),
    i(9, 3).bitwise_left_shift(1),
    i(9, 3).sum(),
    i(9, 3).prod(),
    i(9, 3).abs(),
  ],
  sums: (leaf) => {
    const x = leaf(r(3, 4));
    return [
      x.sum(),
      x.sum([1], true),
      x.mean([0]),
      x.detach().prod(1),
      x.cumsum(0),
      x.logsumexp([1]),
      x.norm(2),
      x.nansum([1]),
      x.trace(),
    ];
  },
  statistics: (leaf) => {
    const x = leaf(r(3, 4));
    return [
      x.std(),
      x.var([1]),
      x.std([0], { unbiased: false }),
      torch.var_mean(x, [1]),
      x.count_nonzero([0]),
      x.histc(5),
    ];
  },
  order: (leaf) => {
    const x = leaf(r(3, 4));
    return [
      x.sort(1),
      x.argsort(1),
      x.topk(2),
      x.max(1),
      x.min(0, true),
      x.median(1),
      x.mode(1),
      x.kthvalue(2, 1),
      x.cummax(0),
      x.amax([1]),
    ];
  },
  extremes: () => {
    const x = r(3, 4);
    return [x.max(), x.min(), x.median(), x.nanmedian(), x.argmax(), x.argmin(1)];
  },
  products: (leaf) => {
    const x = leaf(r(3, 4));
    return [
      x.matmul(x.t()),
      r(3).dot(r(3)),
      torch.bmm(r(2, 3, 4), r(2, 4, 5)),
      torch.einsum("ij,kj->ik", [x, x]),
      torch.outer(r(2), r(3)),
      torch.cdist(x, leaf(r(5, 4))),
    ];
  },
  shapes: (leaf) => {
    const x = leaf(r(4, 6));
    return [
      x.view([2, 12]),
      x.t(),
      x.permute([1, 0]),
      x.flip([0]),
      x.roll([1], [0]),
      x.repeat([2, 1]),
      x.unsqueeze(0),
      x.expand([2, 4, 6]),
      x.chunk(2),
      x.unbind(0),
      x.diag(),
      x.tril(),
      x.unfold(1, 2, 2),
      x.narrow(0, 1, 2),
    ];
  },
  joining: (leaf) => {
    const x = leaf(r(2, 3));
    return [torch.cat([x, x], 1), torch.stack([x, x]), torch.constant_pad_nd(x, [1, 1]), torch.meshgrid([r(2), r(3)])];
  },
  lookup: (leaf) => {
    const x = leaf(r(4, 5));
    return [
      x.index_select(1, i(5, 3)),
      x.gather(1, i(5, 4, 2)),
      x.take(i(20, 3)),
      x.index_add(0, i(4, 2), r(2, 5)),
      x.scatter_add(0, i(4, 4, 5), r(4, 5)),
      x.masked_fill(x.gt(0.5), 0),
    ];
  },
  embedding: (leaf) => [torch.embedding(leaf(r(10, 4)), i(10, 3, 5))],
  searching: () => [torch.bucketize(r(3, 4), r(5)), torch.searchsorted(r(5), r(3), { out_int32: true })],
  norms: (leaf) => {
    const image = leaf(r(2, 6, 4, 4));
    return [
      torch.layer_norm(leaf(r(4, 8)), [8], leaf(r(8)), leaf(r(8))),
      torch.group_norm(image, 3, leaf(r(6)), leaf(r(6))),
      torch.batch_norm(image, leaf(r(6)), leaf(r(6)), r(6), r(6), true, 0.1, 1e-5, false),
      torch.batch_norm(image, null, null, r(6), r(6), false, 0.1, 1e-5, false),
    ];
  },
  convolutions: (leaf) => [
    torch.conv2d(leaf(r(2, 3, 8, 9)), leaf(r(4, 3, 3, 3)), leaf(r(4)), { stride: [2, 1], padding: 1 }),
    torch.conv1d(leaf(r(2, 4, 8)), leaf(r(6, 2, 3)), { groups: 2, dilation: 2 }),
    torch.conv_transpose2d(leaf(r(2, 3, 5, 5)), leaf(r(3, 4, 3, 3)), { stride: 2, padding: 1, output_padding: 1 }),
    torch.conv3d(leaf(r(1, 2, 4, 4, 4)), leaf(r(3, 2, 2, 2, 2))),
  ],
  pooling: (leaf) => {
    const image = leaf(r(2, 3, 8, 8));
    return [
      torch.max_pool2d(image, [2, 2]),
      torch.avg_pool2d(image, 2),
      torch.adaptive_avg_pool2d(image, [3, 2]),
      torch.upsample_nearest2d(image, [4, 4]),
      torch.pixel_shuffle(leaf(r(1, 4, 2, 2)), 2),
    ];
  },
  sampling: (leaf) => [torch.grid_sampler_2d(leaf(r(1, 2, 4, 4)), r(1, 3, 5, 2), 0, 0, false)],
  losses: (leaf) => {
    const x = leaf(r(4, 5));
    return [
      torch.mse_loss(x, r(4, 5)),
      torch.l1_loss(x, r(4, 5)),
      torch.smooth_l1_loss(x, r(4, 5), 0),
      torch.huber_loss(x, r(4, 5)),
      torch.binary_cross_entropy(x.sigmoid(), r(4, 5).sigmoid(), null, 0),
      torch.cross_entropy_loss(x, i(5, 4)),
      torch.nll_loss(x, i(5, 4)),
      torch.kl_div(x, r(4, 5)),
    ];
  },
  attention: (leaf) => [torch.softmax(leaf(r(2, 2, 4, 4)), -1), torch.log_softmax(leaf(r(3, 4)), 1)],
  random: (leaf) => [
    torch.dropout(leaf(r(4, 5)), 0.5, true),
    torch.rand([4]).bernoulli(),
    torch.multinomial(r(2, 4), 2),
    torch.randperm(8),
    torch.rand_like(r(3)),
    r(4).normal_(),
    torch.poisson(r(3)),
  ],
  making: () => [
    torch.arange(10),
    torch.eye(4),
    torch.tril_indices(4, 3),
    torch.tril_indices(4, 6, 2),
    torch.tril_indices(4, 3, -2, { dtype: "int32" }),
    torch.tril_indices(2, 3, -5),
    torch.triu_indices(4, 3),
    torch.triu_indices(4, 6, 2),
    torch.triu_indices(4, 3, -2, { dtype: "int32" }),
    torch.triu_indices(2, 3, -5),
    torch.linspace(0, 1, 5),
    torch.full([2], 3),
    torch.zeros([2, 0]),
    tensor([1, 2]),
  ],
  recurrent: (leaf) => [
    torch.lstm(
      leaf(r(3, 2, 4)),
      [r(1, 2, 5), r(1, 2, 5)],
      [leaf(r(20, 4)), leaf(r(20, 5)), r(20), r(20)],
      true,
      1,
      0,
      true,
      false,
      false,
    ),
  ],
  algebra: (leaf) => {
    const x = leaf(r(3, 3));
    return [
      torch.linalg_inv(x.add(torch.eye(3))),
      torch.linalg_qr(x),
      torch.linalg_eigh(x.matmul(x.t())),
      torch.linalg_svd(r(3, 4)),
      torch.linalg_solve(x.add(torch.eye(3)), r(3, 2)),
      x.matrix_exp(),
    ];
  },
  fourier: () => [torch.fft_fft(r(4, 8)), torch.fft_rfft(r(4, 8)), torch.fft_irfft(torch.fft_rfft(r(4, 8)), 8)],
};

/** Each with what makes its results; without an argument, no gradients are wanted. */
export const families = Object.entries(makes).map(([name, make]): readonly [string, (leaf?: Leaf) => Made[]] => [
  name,
  (leaf = plain) => make(leaf),
]);
