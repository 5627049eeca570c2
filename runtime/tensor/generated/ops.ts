/** Operations of libtorch, by its schemas. Written by .ci/tensor-ops.mjs from libtorch 2.15; edits are overwritten. */
import type { Device, Dtype, Integer, Integers, Layout, MemoryFormat, Real, Scalar } from "../argument-types.js";

/** Operations as functions. The parameter is the class of tensors, which this file does not know. */
export interface OperationFunctions<Tensor> {
  abs(self: Tensor): Tensor;
  abs_(self: Tensor): Tensor;
  absolute(self: Tensor): Tensor;
  absolute_(self: Tensor): Tensor;
  acos(self: Tensor): Tensor;
  acos_(self: Tensor): Tensor;
  acosh(self: Tensor): Tensor;
  acosh_(self: Tensor): Tensor;
  adaptive_avg_pool1d(self: Tensor, output_size: Integers): Tensor;
  adaptive_avg_pool2d(self: Tensor, output_size: Integers): Tensor;
  adaptive_avg_pool3d(self: Tensor, output_size: Integers): Tensor;
  adaptive_max_pool1d(self: Tensor, output_size: Integers): [Tensor, Tensor];
  adaptive_max_pool2d(self: Tensor, output_size: Integers): [Tensor, Tensor];
  adaptive_max_pool2d_backward(grad_output: Tensor, self: Tensor, indices: Tensor): Tensor;
  adaptive_max_pool3d(self: Tensor, output_size: Integers): [Tensor, Tensor];
  adaptive_max_pool3d_backward(grad_output: Tensor, self: Tensor, indices: Tensor): Tensor;
  add(self: Tensor, other: Scalar, alpha?: Scalar): Tensor;
  add(self: Tensor, other: Scalar, options?: { alpha?: Scalar }): Tensor;
  add(self: Tensor, other: Tensor, options?: { alpha?: Scalar }): Tensor;
  add_(self: Tensor, other: Scalar, alpha?: Scalar): Tensor;
  add_(self: Tensor, other: Scalar, options?: { alpha?: Scalar }): Tensor;
  add_(self: Tensor, other: Tensor, options?: { alpha?: Scalar }): Tensor;
  addbmm(self: Tensor, batch1: Tensor, batch2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  addbmm_(self: Tensor, batch1: Tensor, batch2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, options?: { value?: Scalar }): Tensor;
  addcdiv_(self: Tensor, tensor1: Tensor, tensor2: Tensor, options?: { value?: Scalar }): Tensor;
  addcmul(self: Tensor, tensor1: Tensor, tensor2: Tensor, options?: { value?: Scalar }): Tensor;
  addcmul_(self: Tensor, tensor1: Tensor, tensor2: Tensor, options?: { value?: Scalar }): Tensor;
  addmm(self: Tensor, mat1: Tensor, mat2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  /** Since libtorch 2.8. */
  addmm(
    self: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    out_dtype: Dtype,
    options?: { beta?: Scalar; alpha?: Scalar },
  ): Tensor;
  addmm_(self: Tensor, mat1: Tensor, mat2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  addmv(self: Tensor, mat: Tensor, vec: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  addmv_(self: Tensor, mat: Tensor, vec: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  addr(self: Tensor, vec1: Tensor, vec2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  addr_(self: Tensor, vec1: Tensor, vec2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  adjoint(self: Tensor): Tensor;
  affine_grid_generator(theta: Tensor, size: readonly Integer[], align_corners: boolean): Tensor;
  affine_grid_generator_backward(grad: Tensor, size: readonly Integer[], align_corners: boolean): Tensor;
  alias(self: Tensor): Tensor;
  alias_copy(self: Tensor): Tensor;
  all(self: Tensor): Tensor;
  all(self: Tensor, dim: Integer, keepdim?: boolean): Tensor;
  all(self: Tensor, dim: Integer, options?: { keepdim?: boolean }): Tensor;
  /** Since libtorch 2.2. */
  all(self: Tensor, dim?: readonly Integer[] | null, keepdim?: boolean): Tensor;
  /** Since libtorch 2.2. */
  all(self: Tensor, options?: { dim?: readonly Integer[] | null; keepdim?: boolean }): Tensor;
  allclose(self: Tensor, other: Tensor, rtol?: Real, atol?: Real, equal_nan?: boolean): boolean;
  allclose(self: Tensor, other: Tensor, options?: { rtol?: Real; atol?: Real; equal_nan?: boolean }): boolean;
  allclose(self: Tensor, other: Tensor, rtol?: Real, options?: { atol?: Real; equal_nan?: boolean }): boolean;
  alpha_dropout(input: Tensor, p: Real, train: boolean): Tensor;
  alpha_dropout_(self: Tensor, p: Real, train: boolean): Tensor;
  amax(self: Tensor, dim?: Integers, keepdim?: boolean): Tensor;
  amax(self: Tensor, options?: { dim?: Integers; keepdim?: boolean }): Tensor;
  amin(self: Tensor, dim?: Integers, keepdim?: boolean): Tensor;
  amin(self: Tensor, options?: { dim?: Integers; keepdim?: boolean }): Tensor;
  aminmax(self: Tensor, options?: { dim?: Integer | null; keepdim?: boolean }): [min: Tensor, max: Tensor];
  angle(self: Tensor): Tensor;
  any(self: Tensor): Tensor;
  any(self: Tensor, dim: Integer, keepdim?: boolean): Tensor;
  any(self: Tensor, dim: Integer, options?: { keepdim?: boolean }): Tensor;
  /** Since libtorch 2.2. */
  any(self: Tensor, dim?: readonly Integer[] | null, keepdim?: boolean): Tensor;
  /** Since libtorch 2.2. */
  any(self: Tensor, options?: { dim?: readonly Integer[] | null; keepdim?: boolean }): Tensor;
  arange(
    end: Scalar,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  arange(
    start: Scalar,
    end: Scalar,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  arange(
    start: Scalar,
    end: Scalar,
    step?: Scalar,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  arange(
    start: Scalar,
    end: Scalar,
    options?: {
      step?: Scalar;
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
    },
  ): Tensor;
  arccos(self: Tensor): Tensor;
  arccos_(self: Tensor): Tensor;
  arccosh(self: Tensor): Tensor;
  arccosh_(self: Tensor): Tensor;
  arcsin(self: Tensor): Tensor;
  arcsin_(self: Tensor): Tensor;
  arcsinh(self: Tensor): Tensor;
  arcsinh_(self: Tensor): Tensor;
  arctan(self: Tensor): Tensor;
  arctan2(self: Tensor, other: Tensor): Tensor;
  arctan2_(self: Tensor, other: Tensor): Tensor;
  arctan_(self: Tensor): Tensor;
  arctanh(self: Tensor): Tensor;
  arctanh_(self: Tensor): Tensor;
  argmax(self: Tensor, dim?: Integer | null, keepdim?: boolean): Tensor;
  argmax(self: Tensor, options?: { dim?: Integer | null; keepdim?: boolean }): Tensor;
  argmin(self: Tensor, dim?: Integer | null, keepdim?: boolean): Tensor;
  argmin(self: Tensor, options?: { dim?: Integer | null; keepdim?: boolean }): Tensor;
  argsort(self: Tensor, dim?: Integer, descending?: boolean): Tensor;
  argsort(self: Tensor, options?: { dim?: Integer; descending?: boolean }): Tensor;
  argsort(self: Tensor, options: { stable: boolean; dim?: Integer; descending?: boolean }): Tensor;
  argwhere(self: Tensor): Tensor;
  as_strided(
    self: Tensor,
    size: readonly Integer[],
    stride: readonly Integer[],
    storage_offset?: Integer | null,
  ): Tensor;
  as_strided(
    self: Tensor,
    size: readonly Integer[],
    stride: readonly Integer[],
    options?: { storage_offset?: Integer | null },
  ): Tensor;
  as_strided_(
    self: Tensor,
    size: readonly Integer[],
    stride: readonly Integer[],
    storage_offset?: Integer | null,
  ): Tensor;
  as_strided_(
    self: Tensor,
    size: readonly Integer[],
    stride: readonly Integer[],
    options?: { storage_offset?: Integer | null },
  ): Tensor;
  as_strided_copy(
    self: Tensor,
    size: readonly Integer[],
    stride: readonly Integer[],
    storage_offset?: Integer | null,
  ): Tensor;
  as_strided_copy(
    self: Tensor,
    size: readonly Integer[],
    stride: readonly Integer[],
    options?: { storage_offset?: Integer | null },
  ): Tensor;
  as_strided_scatter(
    self: Tensor,
    src: Tensor,
    size: readonly Integer[],
    stride: readonly Integer[],
    storage_offset?: Integer | null,
  ): Tensor;
  as_strided_scatter(
    self: Tensor,
    src: Tensor,
    size: readonly Integer[],
    stride: readonly Integer[],
    options?: { storage_offset?: Integer | null },
  ): Tensor;
  asin(self: Tensor): Tensor;
  asin_(self: Tensor): Tensor;
  asinh(self: Tensor): Tensor;
  asinh_(self: Tensor): Tensor;
  atan(self: Tensor): Tensor;
  atan2(self: Tensor, other: Tensor): Tensor;
  atan2_(self: Tensor, other: Tensor): Tensor;
  atan_(self: Tensor): Tensor;
  atanh(self: Tensor): Tensor;
  atanh_(self: Tensor): Tensor;
  atleast_1d(self: Tensor): Tensor;
  atleast_1d(tensors: readonly Tensor[]): Tensor[];
  atleast_2d(self: Tensor): Tensor;
  atleast_2d(tensors: readonly Tensor[]): Tensor[];
  atleast_3d(self: Tensor): Tensor;
  atleast_3d(tensors: readonly Tensor[]): Tensor[];
  avg_pool1d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    ceil_mode?: boolean,
    count_include_pad?: boolean,
  ): Tensor;
  avg_pool1d(
    self: Tensor,
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; ceil_mode?: boolean; count_include_pad?: boolean },
  ): Tensor;
  avg_pool1d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; ceil_mode?: boolean; count_include_pad?: boolean },
  ): Tensor;
  avg_pool2d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    ceil_mode?: boolean,
    count_include_pad?: boolean,
    divisor_override?: Integer | null,
  ): Tensor;
  avg_pool2d(
    self: Tensor,
    kernel_size: Integers,
    options?: {
      stride?: Integers;
      padding?: Integers;
      ceil_mode?: boolean;
      count_include_pad?: boolean;
      divisor_override?: Integer | null;
    },
  ): Tensor;
  avg_pool2d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    options?: {
      padding?: Integers;
      ceil_mode?: boolean;
      count_include_pad?: boolean;
      divisor_override?: Integer | null;
    },
  ): Tensor;
  avg_pool2d_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Integers,
    stride: Integers,
    padding: Integers,
    ceil_mode: boolean,
    count_include_pad: boolean,
    divisor_override: Integer | null,
  ): Tensor;
  avg_pool3d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    ceil_mode?: boolean,
    count_include_pad?: boolean,
    divisor_override?: Integer | null,
  ): Tensor;
  avg_pool3d(
    self: Tensor,
    kernel_size: Integers,
    options?: {
      stride?: Integers;
      padding?: Integers;
      ceil_mode?: boolean;
      count_include_pad?: boolean;
      divisor_override?: Integer | null;
    },
  ): Tensor;
  avg_pool3d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    options?: {
      padding?: Integers;
      ceil_mode?: boolean;
      count_include_pad?: boolean;
      divisor_override?: Integer | null;
    },
  ): Tensor;
  avg_pool3d_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Integers,
    stride: Integers,
    padding: Integers,
    ceil_mode: boolean,
    count_include_pad: boolean,
    divisor_override: Integer | null,
  ): Tensor;
  baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  /** Since libtorch 2.8. */
  baddbmm(
    self: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    out_dtype: Dtype,
    options?: { beta?: Scalar; alpha?: Scalar },
  ): Tensor;
  baddbmm_(self: Tensor, batch1: Tensor, batch2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  bartlett_window(
    window_length: Integer,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  bartlett_window(
    window_length: Integer,
    periodic: boolean,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  batch_norm(
    input: Tensor,
    weight: Tensor | null,
    bias: Tensor | null,
    running_mean: Tensor | null,
    running_var: Tensor | null,
    training: boolean,
    momentum: Real,
    eps: Real,
    cudnn_enabled: boolean,
  ): Tensor;
  /** Since libtorch 2.4. */
  batch_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    weight: Tensor,
    running_mean: Tensor | null,
    running_var: Tensor | null,
    save_mean: Tensor | null,
    save_var: Tensor | null,
    update: boolean,
    eps: Real,
    output_mask: boolean | readonly boolean[],
    reserve: Tensor,
  ): [Tensor, Tensor, Tensor];
  batch_norm_backward_elemt(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    weight: Tensor | null,
    sum_dy: Tensor,
    sum_dy_xmu: Tensor,
    count: Tensor,
  ): Tensor;
  batch_norm_backward_reduce(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    weight: Tensor | null,
    input_g: boolean,
    weight_g: boolean,
    bias_g: boolean,
  ): [Tensor, Tensor, Tensor, Tensor];
  batch_norm_elemt(
    input: Tensor,
    weight: Tensor | null,
    bias: Tensor | null,
    mean: Tensor,
    invstd: Tensor,
    eps: Real,
  ): Tensor;
  batch_norm_gather_stats(
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    running_mean: Tensor | null,
    running_var: Tensor | null,
    momentum: Real,
    eps: Real,
    count: Integer,
  ): [Tensor, Tensor];
  batch_norm_gather_stats_with_counts(
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    running_mean: Tensor | null,
    running_var: Tensor | null,
    momentum: Real,
    eps: Real,
    counts: Tensor,
  ): [Tensor, Tensor];
  batch_norm_stats(input: Tensor, eps: Real): [Tensor, Tensor];
  batch_norm_update_stats(
    input: Tensor,
    running_mean: Tensor | null,
    running_var: Tensor | null,
    momentum: Real,
  ): [Tensor, Tensor];
  bernoulli(self: Tensor): Tensor;
  bernoulli(self: Tensor, p: Tensor): Tensor;
  bernoulli(self: Tensor, p: Real): Tensor;
  bernoulli_(self: Tensor, p: Tensor): Tensor;
  bernoulli_(self: Tensor, p?: Real): Tensor;
  bernoulli_(self: Tensor, options?: { p?: Real }): Tensor;
  bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias?: Tensor | null): Tensor;
  bilinear(input1: Tensor, input2: Tensor, weight: Tensor, options?: { bias?: Tensor | null }): Tensor;
  binary_cross_entropy(self: Tensor, target: Tensor, weight?: Tensor | null, reduction?: Integer): Tensor;
  binary_cross_entropy(self: Tensor, target: Tensor, options?: { weight?: Tensor | null; reduction?: Integer }): Tensor;
  binary_cross_entropy_backward(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight?: Tensor | null,
    reduction?: Integer,
  ): Tensor;
  binary_cross_entropy_backward(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    options?: { weight?: Tensor | null; reduction?: Integer },
  ): Tensor;
  binary_cross_entropy_with_logits(
    self: Tensor,
    target: Tensor,
    weight?: Tensor | null,
    pos_weight?: Tensor | null,
    reduction?: Integer,
  ): Tensor;
  binary_cross_entropy_with_logits(
    self: Tensor,
    target: Tensor,
    options?: { weight?: Tensor | null; pos_weight?: Tensor | null; reduction?: Integer },
  ): Tensor;
  binary_cross_entropy_with_logits(
    self: Tensor,
    target: Tensor,
    weight?: Tensor | null,
    options?: { pos_weight?: Tensor | null; reduction?: Integer },
  ): Tensor;
  bincount(self: Tensor, weights?: Tensor | null, minlength?: Integer): Tensor;
  bincount(self: Tensor, options?: { weights?: Tensor | null; minlength?: Integer }): Tensor;
  binomial(count: Tensor, prob: Tensor): Tensor;
  bitwise_and(self: Tensor, other: Scalar): Tensor;
  bitwise_and(self: Scalar, other: Tensor): Tensor;
  bitwise_and(self: Tensor, other: Tensor): Tensor;
  bitwise_and_(self: Tensor, other: Scalar): Tensor;
  bitwise_and_(self: Tensor, other: Tensor): Tensor;
  bitwise_left_shift(self: Scalar, other: Tensor): Tensor;
  bitwise_left_shift(self: Tensor, other: Tensor): Tensor;
  bitwise_left_shift(self: Tensor, other: Scalar): Tensor;
  bitwise_left_shift_(self: Tensor, other: Tensor): Tensor;
  bitwise_left_shift_(self: Tensor, other: Scalar): Tensor;
  bitwise_not(self: Tensor): Tensor;
  bitwise_not_(self: Tensor): Tensor;
  bitwise_or(self: Tensor, other: Scalar): Tensor;
  bitwise_or(self: Scalar, other: Tensor): Tensor;
  bitwise_or(self: Tensor, other: Tensor): Tensor;
  bitwise_or_(self: Tensor, other: Scalar): Tensor;
  bitwise_or_(self: Tensor, other: Tensor): Tensor;
  bitwise_right_shift(self: Scalar, other: Tensor): Tensor;
  bitwise_right_shift(self: Tensor, other: Tensor): Tensor;
  bitwise_right_shift(self: Tensor, other: Scalar): Tensor;
  bitwise_right_shift_(self: Tensor, other: Tensor): Tensor;
  bitwise_right_shift_(self: Tensor, other: Scalar): Tensor;
  bitwise_xor(self: Tensor, other: Scalar): Tensor;
  bitwise_xor(self: Scalar, other: Tensor): Tensor;
  bitwise_xor(self: Tensor, other: Tensor): Tensor;
  bitwise_xor_(self: Tensor, other: Scalar): Tensor;
  bitwise_xor_(self: Tensor, other: Tensor): Tensor;
  blackman_window(
    window_length: Integer,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  blackman_window(
    window_length: Integer,
    periodic: boolean,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  block_diag(tensors: readonly Tensor[]): Tensor;
  bmm(self: Tensor, mat2: Tensor): Tensor;
  /** Since libtorch 2.8. */
  bmm(self: Tensor, mat2: Tensor, out_dtype: Dtype): Tensor;
  broadcast_tensors(tensors: readonly Tensor[]): Tensor[];
  broadcast_to(self: Tensor, size: readonly Integer[]): Tensor;
  bucketize(self: Scalar, boundaries: Tensor, options?: { out_int32?: boolean; right?: boolean }): Tensor;
  bucketize(self: Tensor, boundaries: Tensor, options?: { out_int32?: boolean; right?: boolean }): Tensor;
  can_cast(from_: Dtype, to: Dtype): boolean;
  cartesian_prod(tensors: readonly Tensor[]): Tensor;
  cat(tensors: readonly Tensor[], dim?: Integer): Tensor;
  cat(tensors: readonly Tensor[], options?: { dim?: Integer }): Tensor;
  cauchy(self: Tensor, median?: Real, sigma?: Real): Tensor;
  cauchy(self: Tensor, options?: { median?: Real; sigma?: Real }): Tensor;
  cauchy_(self: Tensor, median?: Real, sigma?: Real): Tensor;
  cauchy_(self: Tensor, options?: { median?: Real; sigma?: Real }): Tensor;
  ccol_indices(self: Tensor): Tensor;
  ccol_indices_copy(self: Tensor): Tensor;
  cdist(x1: Tensor, x2: Tensor, p?: Real, compute_mode?: Integer | null): Tensor;
  cdist(x1: Tensor, x2: Tensor, options?: { p?: Real; compute_mode?: Integer | null }): Tensor;
  ceil(self: Tensor): Tensor;
  ceil_(self: Tensor): Tensor;
  celu(self: Tensor, alpha?: Scalar): Tensor;
  celu(self: Tensor, options?: { alpha?: Scalar }): Tensor;
  celu_(self: Tensor, alpha?: Scalar): Tensor;
  celu_(self: Tensor, options?: { alpha?: Scalar }): Tensor;
  chain_matmul(matrices: readonly Tensor[]): Tensor;
  chalf(self: Tensor, options?: { memory_format?: MemoryFormat | null }): Tensor;
  channel_shuffle(self: Tensor, groups: Integer): Tensor;
  cholesky_inverse(self: Tensor, upper?: boolean): Tensor;
  cholesky_inverse(self: Tensor, options?: { upper?: boolean }): Tensor;
  cholesky_solve(self: Tensor, input2: Tensor, upper?: boolean): Tensor;
  cholesky_solve(self: Tensor, input2: Tensor, options?: { upper?: boolean }): Tensor;
  choose_qparams_optimized(
    input: Tensor,
    numel: Integer,
    n_bins: Integer,
    ratio: Real,
    bit_width: Integer,
  ): [Tensor, Tensor];
  chunk(self: Tensor, chunks: Integer, dim?: Integer): Tensor[];
  chunk(self: Tensor, chunks: Integer, options?: { dim?: Integer }): Tensor[];
  clamp(self: Tensor, min?: Scalar | null, max?: Scalar | null): Tensor;
  clamp(self: Tensor, options?: { min?: Scalar | null; max?: Scalar | null }): Tensor;
  clamp(self: Tensor, min?: Tensor | null, max?: Tensor | null): Tensor;
  clamp(self: Tensor, options?: { min?: Tensor | null; max?: Tensor | null }): Tensor;
  clamp_(self: Tensor, min?: Scalar | null, max?: Scalar | null): Tensor;
  clamp_(self: Tensor, options?: { min?: Scalar | null; max?: Scalar | null }): Tensor;
  clamp_(self: Tensor, min?: Tensor | null, max?: Tensor | null): Tensor;
  clamp_(self: Tensor, options?: { min?: Tensor | null; max?: Tensor | null }): Tensor;
  clamp_max(self: Tensor, max: Scalar): Tensor;
  clamp_max(self: Tensor, max: Tensor): Tensor;
  clamp_max_(self: Tensor, max: Scalar): Tensor;
  clamp_max_(self: Tensor, max: Tensor): Tensor;
  clamp_min(self: Tensor, min: Scalar): Tensor;
  clamp_min(self: Tensor, min: Tensor): Tensor;
  clamp_min_(self: Tensor, min: Scalar): Tensor;
  clamp_min_(self: Tensor, min: Tensor): Tensor;
  clip(self: Tensor, min?: Scalar | null, max?: Scalar | null): Tensor;
  clip(self: Tensor, options?: { min?: Scalar | null; max?: Scalar | null }): Tensor;
  clip(self: Tensor, min?: Tensor | null, max?: Tensor | null): Tensor;
  clip(self: Tensor, options?: { min?: Tensor | null; max?: Tensor | null }): Tensor;
  clip_(self: Tensor, min?: Scalar | null, max?: Scalar | null): Tensor;
  clip_(self: Tensor, options?: { min?: Scalar | null; max?: Scalar | null }): Tensor;
  clip_(self: Tensor, min?: Tensor | null, max?: Tensor | null): Tensor;
  clip_(self: Tensor, options?: { min?: Tensor | null; max?: Tensor | null }): Tensor;
  clone(self: Tensor, options?: { memory_format?: MemoryFormat | null }): Tensor;
  coalesce(self: Tensor): Tensor;
  col2im(
    self: Tensor,
    output_size: Integers,
    kernel_size: Integers,
    dilation: Integers,
    padding: Integers,
    stride: Integers,
  ): Tensor;
  col_indices(self: Tensor): Tensor;
  col_indices_copy(self: Tensor): Tensor;
  column_stack(tensors: readonly Tensor[]): Tensor;
  combinations(self: Tensor, r?: Integer, with_replacement?: boolean): Tensor;
  combinations(self: Tensor, options?: { r?: Integer; with_replacement?: boolean }): Tensor;
  complex(real: Tensor, imag: Tensor): Tensor;
  concat(tensors: readonly Tensor[], dim?: Integer): Tensor;
  concat(tensors: readonly Tensor[], options?: { dim?: Integer }): Tensor;
  concatenate(tensors: readonly Tensor[], dim?: Integer): Tensor;
  concatenate(tensors: readonly Tensor[], options?: { dim?: Integer }): Tensor;
  conj(self: Tensor): Tensor;
  conj_physical(self: Tensor): Tensor;
  conj_physical_(self: Tensor): Tensor;
  constant_pad_nd(self: Tensor, pad: readonly Integer[], value?: Scalar): Tensor;
  constant_pad_nd(self: Tensor, pad: readonly Integer[], options?: { value?: Scalar }): Tensor;
  contiguous(self: Tensor, options?: { memory_format?: MemoryFormat }): Tensor;
  conv1d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    groups?: Integer,
  ): Tensor;
  conv1d(
    input: Tensor,
    weight: Tensor,
    options?: { bias?: Tensor | null; stride?: Integers; padding?: Integers; dilation?: Integers; groups?: Integer },
  ): Tensor;
  conv1d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; groups?: Integer },
  ): Tensor;
  conv1d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: string,
    dilation?: Integers,
    groups?: Integer,
  ): Tensor;
  conv1d(
    input: Tensor,
    weight: Tensor,
    options?: { bias?: Tensor | null; stride?: Integers; padding?: string; dilation?: Integers; groups?: Integer },
  ): Tensor;
  conv1d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: string; dilation?: Integers; groups?: Integer },
  ): Tensor;
  conv2d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    groups?: Integer,
  ): Tensor;
  conv2d(
    input: Tensor,
    weight: Tensor,
    options?: { bias?: Tensor | null; stride?: Integers; padding?: Integers; dilation?: Integers; groups?: Integer },
  ): Tensor;
  conv2d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; groups?: Integer },
  ): Tensor;
  conv2d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: string,
    dilation?: Integers,
    groups?: Integer,
  ): Tensor;
  conv2d(
    input: Tensor,
    weight: Tensor,
    options?: { bias?: Tensor | null; stride?: Integers; padding?: string; dilation?: Integers; groups?: Integer },
  ): Tensor;
  conv2d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: string; dilation?: Integers; groups?: Integer },
  ): Tensor;
  conv3d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    groups?: Integer,
  ): Tensor;
  conv3d(
    input: Tensor,
    weight: Tensor,
    options?: { bias?: Tensor | null; stride?: Integers; padding?: Integers; dilation?: Integers; groups?: Integer },
  ): Tensor;
  conv3d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; groups?: Integer },
  ): Tensor;
  conv3d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: string,
    dilation?: Integers,
    groups?: Integer,
  ): Tensor;
  conv3d(
    input: Tensor,
    weight: Tensor,
    options?: { bias?: Tensor | null; stride?: Integers; padding?: string; dilation?: Integers; groups?: Integer },
  ): Tensor;
  conv3d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: string; dilation?: Integers; groups?: Integer },
  ): Tensor;
  conv_depthwise3d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    bias: Tensor | null,
    stride: Integers,
    padding: Integers,
    dilation: Integers,
  ): Tensor;
  conv_tbc(self: Tensor, weight: Tensor, bias: Tensor, pad?: Integer): Tensor;
  conv_tbc(self: Tensor, weight: Tensor, bias: Tensor, options?: { pad?: Integer }): Tensor;
  conv_tbc_backward(self: Tensor, input: Tensor, weight: Tensor, bias: Tensor, pad: Integer): [Tensor, Tensor, Tensor];
  conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
    output_padding?: Integers,
    groups?: Integer,
    dilation?: Integers,
  ): Tensor;
  conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    options?: {
      bias?: Tensor | null;
      stride?: Integers;
      padding?: Integers;
      output_padding?: Integers;
      groups?: Integer;
      dilation?: Integers;
    },
  ): Tensor;
  conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    options?: {
      stride?: Integers;
      padding?: Integers;
      output_padding?: Integers;
      groups?: Integer;
      dilation?: Integers;
    },
  ): Tensor;
  conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
    output_padding?: Integers,
    groups?: Integer,
    dilation?: Integers,
  ): Tensor;
  conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    options?: {
      bias?: Tensor | null;
      stride?: Integers;
      padding?: Integers;
      output_padding?: Integers;
      groups?: Integer;
      dilation?: Integers;
    },
  ): Tensor;
  conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    options?: {
      stride?: Integers;
      padding?: Integers;
      output_padding?: Integers;
      groups?: Integer;
      dilation?: Integers;
    },
  ): Tensor;
  conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
    output_padding?: Integers,
    groups?: Integer,
    dilation?: Integers,
  ): Tensor;
  conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    options?: {
      bias?: Tensor | null;
      stride?: Integers;
      padding?: Integers;
      output_padding?: Integers;
      groups?: Integer;
      dilation?: Integers;
    },
  ): Tensor;
  conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias?: Tensor | null,
    options?: {
      stride?: Integers;
      padding?: Integers;
      output_padding?: Integers;
      groups?: Integer;
      dilation?: Integers;
    },
  ): Tensor;
  convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | null,
    stride: readonly Integer[],
    padding: readonly Integer[],
    dilation: readonly Integer[],
    transposed: boolean,
    output_padding: readonly Integer[],
    groups: Integer,
  ): Tensor;
  convolution_backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_sizes: readonly Integer[] | null,
    stride: readonly Integer[],
    padding: readonly Integer[],
    dilation: readonly Integer[],
    transposed: boolean,
    output_padding: readonly Integer[],
    groups: Integer,
    output_mask: boolean | readonly boolean[],
  ): [Tensor, Tensor, Tensor];
  convolution_backward_overrideable(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    stride: readonly Integer[],
    padding: readonly Integer[],
    dilation: readonly Integer[],
    transposed: boolean,
    output_padding: readonly Integer[],
    groups: Integer,
    output_mask: boolean | readonly boolean[],
  ): [grad_input: Tensor, grad_weight: Tensor, grad_bias: Tensor];
  convolution_overrideable(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | null,
    stride: readonly Integer[],
    padding: readonly Integer[],
    dilation: readonly Integer[],
    transposed: boolean,
    output_padding: readonly Integer[],
    groups: Integer,
  ): Tensor;
  copy(self: Tensor, src: Tensor, non_blocking?: boolean): Tensor;
  copy(self: Tensor, src: Tensor, options?: { non_blocking?: boolean }): Tensor;
  copy_(self: Tensor, src: Tensor, non_blocking?: boolean): Tensor;
  copy_(self: Tensor, src: Tensor, options?: { non_blocking?: boolean }): Tensor;
  copy_sparse_to_sparse(self: Tensor, src: Tensor, non_blocking?: boolean): Tensor;
  copy_sparse_to_sparse(self: Tensor, src: Tensor, options?: { non_blocking?: boolean }): Tensor;
  copy_sparse_to_sparse_(self: Tensor, src: Tensor, non_blocking?: boolean): Tensor;
  copy_sparse_to_sparse_(self: Tensor, src: Tensor, options?: { non_blocking?: boolean }): Tensor;
  copysign(self: Tensor, other: Scalar): Tensor;
  copysign(self: Tensor, other: Tensor): Tensor;
  copysign_(self: Tensor, other: Scalar): Tensor;
  copysign_(self: Tensor, other: Tensor): Tensor;
  corrcoef(self: Tensor): Tensor;
  cos(self: Tensor): Tensor;
  cos_(self: Tensor): Tensor;
  cosh(self: Tensor): Tensor;
  cosh_(self: Tensor): Tensor;
  cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin?: Real, reduction?: Integer): Tensor;
  cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    options?: { margin?: Real; reduction?: Integer },
  ): Tensor;
  cosine_similarity(x1: Tensor, x2: Tensor, dim?: Integer, eps?: Real): Tensor;
  cosine_similarity(x1: Tensor, x2: Tensor, options?: { dim?: Integer; eps?: Real }): Tensor;
  count_nonzero(self: Tensor, dim?: Integer | null): Tensor;
  count_nonzero(self: Tensor, options?: { dim?: Integer | null }): Tensor;
  count_nonzero(self: Tensor, dim: readonly Integer[]): Tensor;
  cov(self: Tensor, options?: { correction?: Integer; fweights?: Tensor | null; aweights?: Tensor | null }): Tensor;
  cross(self: Tensor, other: Tensor, dim?: Integer | null): Tensor;
  cross(self: Tensor, other: Tensor, options?: { dim?: Integer | null }): Tensor;
  cross_entropy_loss(
    self: Tensor,
    target: Tensor,
    weight?: Tensor | null,
    reduction?: Integer,
    ignore_index?: Integer,
    label_smoothing?: Real,
  ): Tensor;
  cross_entropy_loss(
    self: Tensor,
    target: Tensor,
    options?: { weight?: Tensor | null; reduction?: Integer; ignore_index?: Integer; label_smoothing?: Real },
  ): Tensor;
  cross_entropy_loss(
    self: Tensor,
    target: Tensor,
    weight?: Tensor | null,
    options?: { reduction?: Integer; ignore_index?: Integer; label_smoothing?: Real },
  ): Tensor;
  crow_indices(self: Tensor): Tensor;
  crow_indices_copy(self: Tensor): Tensor;
  ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: readonly Integer[],
    target_lengths: readonly Integer[],
    blank?: Integer,
    reduction?: Integer,
    zero_infinity?: boolean,
  ): Tensor;
  ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: readonly Integer[],
    target_lengths: readonly Integer[],
    options?: { blank?: Integer; reduction?: Integer; zero_infinity?: boolean },
  ): Tensor;
  ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: readonly Integer[],
    target_lengths: readonly Integer[],
    blank?: Integer,
    options?: { reduction?: Integer; zero_infinity?: boolean },
  ): Tensor;
  ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank?: Integer,
    reduction?: Integer,
    zero_infinity?: boolean,
  ): Tensor;
  ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    options?: { blank?: Integer; reduction?: Integer; zero_infinity?: boolean },
  ): Tensor;
  ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank?: Integer,
    options?: { reduction?: Integer; zero_infinity?: boolean },
  ): Tensor;
  cummax(self: Tensor, dim: Integer): [values: Tensor, indices: Tensor];
  cummaxmin_backward(grad: Tensor, input: Tensor, indices: Tensor, dim: Integer): Tensor;
  cummin(self: Tensor, dim: Integer): [values: Tensor, indices: Tensor];
  cumprod(self: Tensor, dim: Integer, options?: { dtype?: Dtype | null }): Tensor;
  cumprod_(self: Tensor, dim: Integer, options?: { dtype?: Dtype | null }): Tensor;
  cumprod_backward(grad: Tensor, input: Tensor, dim: Integer, output: Tensor): Tensor;
  cumsum(self: Tensor, dim: Integer, options?: { dtype?: Dtype | null }): Tensor;
  cumsum_(self: Tensor, dim: Integer, options?: { dtype?: Dtype | null }): Tensor;
  cumulative_trapezoid(y: Tensor, options?: { dx?: Scalar; dim?: Integer }): Tensor;
  cumulative_trapezoid(y: Tensor, x: Tensor, options?: { dim?: Integer }): Tensor;
  deg2rad(self: Tensor): Tensor;
  deg2rad_(self: Tensor): Tensor;
  dense_dim(self: Tensor): number;
  dequantize(self: Tensor): Tensor;
  dequantize(tensors: readonly Tensor[]): Tensor[];
  det(self: Tensor): Tensor;
  detach(self: Tensor): Tensor;
  detach_(self: Tensor): Tensor;
  detach_copy(self: Tensor): Tensor;
  diag(self: Tensor, diagonal?: Integer): Tensor;
  diag(self: Tensor, options?: { diagonal?: Integer }): Tensor;
  diag_embed(self: Tensor, offset?: Integer, dim1?: Integer, dim2?: Integer): Tensor;
  diag_embed(self: Tensor, options?: { offset?: Integer; dim1?: Integer; dim2?: Integer }): Tensor;
  diag_embed(self: Tensor, offset?: Integer, options?: { dim1?: Integer; dim2?: Integer }): Tensor;
  diagflat(self: Tensor, offset?: Integer): Tensor;
  diagflat(self: Tensor, options?: { offset?: Integer }): Tensor;
  diagonal(self: Tensor, offset?: Integer, dim1?: Integer, dim2?: Integer): Tensor;
  diagonal(self: Tensor, options?: { offset?: Integer; dim1?: Integer; dim2?: Integer }): Tensor;
  diagonal(self: Tensor, offset?: Integer, options?: { dim1?: Integer; dim2?: Integer }): Tensor;
  diagonal_backward(
    grad_output: Tensor,
    input_sizes: readonly Integer[],
    offset: Integer,
    dim1: Integer,
    dim2: Integer,
  ): Tensor;
  diagonal_copy(self: Tensor, offset?: Integer, dim1?: Integer, dim2?: Integer): Tensor;
  diagonal_copy(self: Tensor, options?: { offset?: Integer; dim1?: Integer; dim2?: Integer }): Tensor;
  diagonal_copy(self: Tensor, offset?: Integer, options?: { dim1?: Integer; dim2?: Integer }): Tensor;
  diagonal_scatter(self: Tensor, src: Tensor, offset?: Integer, dim1?: Integer, dim2?: Integer): Tensor;
  diagonal_scatter(self: Tensor, src: Tensor, options?: { offset?: Integer; dim1?: Integer; dim2?: Integer }): Tensor;
  diagonal_scatter(self: Tensor, src: Tensor, offset?: Integer, options?: { dim1?: Integer; dim2?: Integer }): Tensor;
  diff(self: Tensor, n?: Integer, dim?: Integer, prepend?: Tensor | null, append?: Tensor | null): Tensor;
  diff(self: Tensor, options?: { n?: Integer; dim?: Integer; prepend?: Tensor | null; append?: Tensor | null }): Tensor;
  diff(self: Tensor, n?: Integer, options?: { dim?: Integer; prepend?: Tensor | null; append?: Tensor | null }): Tensor;
  digamma(self: Tensor): Tensor;
  digamma_(self: Tensor): Tensor;
  /** Since libtorch 2.12. */
  dim(self: Tensor): number;
  dist(self: Tensor, other: Tensor, p?: Scalar): Tensor;
  dist(self: Tensor, other: Tensor, options?: { p?: Scalar }): Tensor;
  div(self: Tensor, other: Scalar): Tensor;
  div(self: Tensor, other: Scalar, options: { rounding_mode: string | null }): Tensor;
  div(self: Tensor, other: Tensor): Tensor;
  div(self: Tensor, other: Tensor, options: { rounding_mode: string | null }): Tensor;
  div_(self: Tensor, other: Scalar): Tensor;
  div_(self: Tensor, other: Scalar, options: { rounding_mode: string | null }): Tensor;
  div_(self: Tensor, other: Tensor): Tensor;
  div_(self: Tensor, other: Tensor, options: { rounding_mode: string | null }): Tensor;
  divide(self: Tensor, other: Scalar): Tensor;
  divide(self: Tensor, other: Scalar, options: { rounding_mode: string | null }): Tensor;
  divide(self: Tensor, other: Tensor): Tensor;
  divide(self: Tensor, other: Tensor, options: { rounding_mode: string | null }): Tensor;
  divide_(self: Tensor, other: Scalar): Tensor;
  divide_(self: Tensor, other: Scalar, options: { rounding_mode: string | null }): Tensor;
  divide_(self: Tensor, other: Tensor): Tensor;
  divide_(self: Tensor, other: Tensor, options: { rounding_mode: string | null }): Tensor;
  dot(self: Tensor, tensor: Tensor): Tensor;
  dropout(input: Tensor, p: Real, train: boolean): Tensor;
  dropout_(self: Tensor, p: Real, train: boolean): Tensor;
  dsplit(self: Tensor, indices: readonly Integer[]): Tensor[];
  dsplit(self: Tensor, sections: Integer): Tensor[];
  dstack(tensors: readonly Tensor[]): Tensor;
  einsum(equation: string, tensors: readonly Tensor[], options?: { path?: readonly Integer[] | null }): Tensor;
  elu(self: Tensor, alpha?: Scalar, scale?: Scalar, input_scale?: Scalar): Tensor;
  elu(self: Tensor, options?: { alpha?: Scalar; scale?: Scalar; input_scale?: Scalar }): Tensor;
  elu(self: Tensor, alpha?: Scalar, options?: { scale?: Scalar; input_scale?: Scalar }): Tensor;
  elu_(self: Tensor, alpha?: Scalar, scale?: Scalar, input_scale?: Scalar): Tensor;
  elu_(self: Tensor, options?: { alpha?: Scalar; scale?: Scalar; input_scale?: Scalar }): Tensor;
  elu_(self: Tensor, alpha?: Scalar, options?: { scale?: Scalar; input_scale?: Scalar }): Tensor;
  elu_backward(
    grad_output: Tensor,
    alpha: Scalar,
    scale: Scalar,
    input_scale: Scalar,
    is_result: boolean,
    self_or_result: Tensor,
  ): Tensor;
  embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx?: Integer,
    scale_grad_by_freq?: boolean,
    sparse?: boolean,
  ): Tensor;
  embedding(
    weight: Tensor,
    indices: Tensor,
    options?: { padding_idx?: Integer; scale_grad_by_freq?: boolean; sparse?: boolean },
  ): Tensor;
  embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx?: Integer,
    options?: { scale_grad_by_freq?: boolean; sparse?: boolean },
  ): Tensor;
  embedding_backward(
    grad: Tensor,
    indices: Tensor,
    num_weights: Integer,
    padding_idx: Integer,
    scale_grad_by_freq: boolean,
    sparse: boolean,
  ): Tensor;
  embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq?: boolean,
    mode?: Integer,
    sparse?: boolean,
    per_sample_weights?: Tensor | null,
    include_last_offset?: boolean,
  ): [Tensor, Tensor, Tensor, Tensor];
  embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    options?: {
      scale_grad_by_freq?: boolean;
      mode?: Integer;
      sparse?: boolean;
      per_sample_weights?: Tensor | null;
      include_last_offset?: boolean;
    },
  ): [Tensor, Tensor, Tensor, Tensor];
  embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq?: boolean,
    options?: { mode?: Integer; sparse?: boolean; per_sample_weights?: Tensor | null; include_last_offset?: boolean },
  ): [Tensor, Tensor, Tensor, Tensor];
  embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: boolean,
    mode: Integer,
    sparse: boolean,
    per_sample_weights: Tensor | null,
    include_last_offset: boolean,
    padding_idx: Integer | null,
  ): [Tensor, Tensor, Tensor, Tensor];
  embedding_dense_backward(
    grad_output: Tensor,
    indices: Tensor,
    num_weights: Integer,
    padding_idx: Integer,
    scale_grad_by_freq: boolean,
  ): Tensor;
  embedding_renorm(self: Tensor, indices: Tensor, max_norm: Real, norm_type: Real): Tensor;
  embedding_renorm_(self: Tensor, indices: Tensor, max_norm: Real, norm_type: Real): Tensor;
  embedding_sparse_backward(
    grad: Tensor,
    indices: Tensor,
    num_weights: Integer,
    padding_idx: Integer,
    scale_grad_by_freq: boolean,
  ): Tensor;
  empty(
    size: readonly Integer[],
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      memory_format?: MemoryFormat | null;
    },
  ): Tensor;
  empty_like(
    self: Tensor,
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      memory_format?: MemoryFormat | null;
    },
  ): Tensor;
  /** Since libtorch 2.1. */
  empty_permuted(
    size: readonly Integer[],
    physical_layout: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  empty_quantized(
    size: readonly Integer[],
    qtensor: Tensor,
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      memory_format?: MemoryFormat | null;
    },
  ): Tensor;
  empty_strided(
    size: readonly Integer[],
    stride: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  eq(self: Tensor, other: Scalar): Tensor;
  eq(self: Tensor, other: Tensor): Tensor;
  eq_(self: Tensor, other: Scalar): Tensor;
  eq_(self: Tensor, other: Tensor): Tensor;
  equal(self: Tensor, other: Tensor): boolean;
  erf(self: Tensor): Tensor;
  erf_(self: Tensor): Tensor;
  erfc(self: Tensor): Tensor;
  erfc_(self: Tensor): Tensor;
  erfinv(self: Tensor): Tensor;
  erfinv_(self: Tensor): Tensor;
  exp(self: Tensor): Tensor;
  exp2(self: Tensor): Tensor;
  exp2_(self: Tensor): Tensor;
  exp_(self: Tensor): Tensor;
  expand(self: Tensor, size: readonly Integer[], options?: { implicit?: boolean }): Tensor;
  expand_as(self: Tensor, other: Tensor): Tensor;
  expand_copy(self: Tensor, size: readonly Integer[], options?: { implicit?: boolean }): Tensor;
  expm1(self: Tensor): Tensor;
  expm1_(self: Tensor): Tensor;
  exponential(self: Tensor, lambd?: Real): Tensor;
  exponential(self: Tensor, options?: { lambd?: Real }): Tensor;
  exponential_(self: Tensor, lambd?: Real): Tensor;
  exponential_(self: Tensor, options?: { lambd?: Real }): Tensor;
  eye(
    n: Integer,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  eye(
    n: Integer,
    m: Integer,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  fake_quantize_per_channel_affine(
    self: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: Integer,
    quant_min: Integer,
    quant_max: Integer,
  ): Tensor;
  fake_quantize_per_channel_affine_cachemask(
    self: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: Integer,
    quant_min: Integer,
    quant_max: Integer,
  ): [output: Tensor, mask: Tensor];
  fake_quantize_per_channel_affine_cachemask_backward(grad: Tensor, mask: Tensor): Tensor;
  fake_quantize_per_tensor_affine(
    self: Tensor,
    scale: Real,
    zero_point: Integer,
    quant_min: Integer,
    quant_max: Integer,
  ): Tensor;
  fake_quantize_per_tensor_affine(
    self: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    quant_min: Integer,
    quant_max: Integer,
  ): Tensor;
  fake_quantize_per_tensor_affine_cachemask(
    self: Tensor,
    scale: Real,
    zero_point: Integer,
    quant_min: Integer,
    quant_max: Integer,
  ): [output: Tensor, mask: Tensor];
  fake_quantize_per_tensor_affine_cachemask_backward(grad: Tensor, mask: Tensor): Tensor;
  feature_alpha_dropout(input: Tensor, p: Real, train: boolean): Tensor;
  feature_alpha_dropout_(self: Tensor, p: Real, train: boolean): Tensor;
  feature_dropout(input: Tensor, p: Real, train: boolean): Tensor;
  feature_dropout_(self: Tensor, p: Real, train: boolean): Tensor;
  fft_fft(self: Tensor, n?: Integer | null, dim?: Integer, norm?: string | null): Tensor;
  fft_fft(self: Tensor, options?: { n?: Integer | null; dim?: Integer; norm?: string | null }): Tensor;
  fft_fft(self: Tensor, n?: Integer | null, options?: { dim?: Integer; norm?: string | null }): Tensor;
  fft_fft2(self: Tensor, s?: Integers | null, dim?: Integers, norm?: string | null): Tensor;
  fft_fft2(self: Tensor, options?: { s?: Integers | null; dim?: Integers; norm?: string | null }): Tensor;
  fft_fft2(self: Tensor, s?: Integers | null, options?: { dim?: Integers; norm?: string | null }): Tensor;
  fft_fftfreq(
    n: Integer,
    d?: Real,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  fft_fftfreq(
    n: Integer,
    options?: {
      d?: Real;
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
    },
  ): Tensor;
  fft_fftn(self: Tensor, s?: Integers | null, dim?: Integers | null, norm?: string | null): Tensor;
  fft_fftn(self: Tensor, options?: { s?: Integers | null; dim?: Integers | null; norm?: string | null }): Tensor;
  fft_fftn(self: Tensor, s?: Integers | null, options?: { dim?: Integers | null; norm?: string | null }): Tensor;
  fft_fftshift(self: Tensor, dim?: Integers | null): Tensor;
  fft_fftshift(self: Tensor, options?: { dim?: Integers | null }): Tensor;
  fft_hfft(self: Tensor, n?: Integer | null, dim?: Integer, norm?: string | null): Tensor;
  fft_hfft(self: Tensor, options?: { n?: Integer | null; dim?: Integer; norm?: string | null }): Tensor;
  fft_hfft(self: Tensor, n?: Integer | null, options?: { dim?: Integer; norm?: string | null }): Tensor;
  fft_hfft2(self: Tensor, s?: Integers | null, dim?: Integers, norm?: string | null): Tensor;
  fft_hfft2(self: Tensor, options?: { s?: Integers | null; dim?: Integers; norm?: string | null }): Tensor;
  fft_hfft2(self: Tensor, s?: Integers | null, options?: { dim?: Integers; norm?: string | null }): Tensor;
  fft_hfftn(self: Tensor, s?: Integers | null, dim?: Integers | null, norm?: string | null): Tensor;
  fft_hfftn(self: Tensor, options?: { s?: Integers | null; dim?: Integers | null; norm?: string | null }): Tensor;
  fft_hfftn(self: Tensor, s?: Integers | null, options?: { dim?: Integers | null; norm?: string | null }): Tensor;
  fft_ifft(self: Tensor, n?: Integer | null, dim?: Integer, norm?: string | null): Tensor;
  fft_ifft(self: Tensor, options?: { n?: Integer | null; dim?: Integer; norm?: string | null }): Tensor;
  fft_ifft(self: Tensor, n?: Integer | null, options?: { dim?: Integer; norm?: string | null }): Tensor;
  fft_ifft2(self: Tensor, s?: Integers | null, dim?: Integers, norm?: string | null): Tensor;
  fft_ifft2(self: Tensor, options?: { s?: Integers | null; dim?: Integers; norm?: string | null }): Tensor;
  fft_ifft2(self: Tensor, s?: Integers | null, options?: { dim?: Integers; norm?: string | null }): Tensor;
  fft_ifftn(self: Tensor, s?: Integers | null, dim?: Integers | null, norm?: string | null): Tensor;
  fft_ifftn(self: Tensor, options?: { s?: Integers | null; dim?: Integers | null; norm?: string | null }): Tensor;
  fft_ifftn(self: Tensor, s?: Integers | null, options?: { dim?: Integers | null; norm?: string | null }): Tensor;
  fft_ifftshift(self: Tensor, dim?: Integers | null): Tensor;
  fft_ifftshift(self: Tensor, options?: { dim?: Integers | null }): Tensor;
  fft_ihfft(self: Tensor, n?: Integer | null, dim?: Integer, norm?: string | null): Tensor;
  fft_ihfft(self: Tensor, options?: { n?: Integer | null; dim?: Integer; norm?: string | null }): Tensor;
  fft_ihfft(self: Tensor, n?: Integer | null, options?: { dim?: Integer; norm?: string | null }): Tensor;
  fft_ihfft2(self: Tensor, s?: Integers | null, dim?: Integers, norm?: string | null): Tensor;
  fft_ihfft2(self: Tensor, options?: { s?: Integers | null; dim?: Integers; norm?: string | null }): Tensor;
  fft_ihfft2(self: Tensor, s?: Integers | null, options?: { dim?: Integers; norm?: string | null }): Tensor;
  fft_ihfftn(self: Tensor, s?: Integers | null, dim?: Integers | null, norm?: string | null): Tensor;
  fft_ihfftn(self: Tensor, options?: { s?: Integers | null; dim?: Integers | null; norm?: string | null }): Tensor;
  fft_ihfftn(self: Tensor, s?: Integers | null, options?: { dim?: Integers | null; norm?: string | null }): Tensor;
  fft_irfft(self: Tensor, n?: Integer | null, dim?: Integer, norm?: string | null): Tensor;
  fft_irfft(self: Tensor, options?: { n?: Integer | null; dim?: Integer; norm?: string | null }): Tensor;
  fft_irfft(self: Tensor, n?: Integer | null, options?: { dim?: Integer; norm?: string | null }): Tensor;
  fft_irfft2(self: Tensor, s?: Integers | null, dim?: Integers, norm?: string | null): Tensor;
  fft_irfft2(self: Tensor, options?: { s?: Integers | null; dim?: Integers; norm?: string | null }): Tensor;
  fft_irfft2(self: Tensor, s?: Integers | null, options?: { dim?: Integers; norm?: string | null }): Tensor;
  fft_irfftn(self: Tensor, s?: Integers | null, dim?: Integers | null, norm?: string | null): Tensor;
  fft_irfftn(self: Tensor, options?: { s?: Integers | null; dim?: Integers | null; norm?: string | null }): Tensor;
  fft_irfftn(self: Tensor, s?: Integers | null, options?: { dim?: Integers | null; norm?: string | null }): Tensor;
  fft_rfft(self: Tensor, n?: Integer | null, dim?: Integer, norm?: string | null): Tensor;
  fft_rfft(self: Tensor, options?: { n?: Integer | null; dim?: Integer; norm?: string | null }): Tensor;
  fft_rfft(self: Tensor, n?: Integer | null, options?: { dim?: Integer; norm?: string | null }): Tensor;
  fft_rfft2(self: Tensor, s?: Integers | null, dim?: Integers, norm?: string | null): Tensor;
  fft_rfft2(self: Tensor, options?: { s?: Integers | null; dim?: Integers; norm?: string | null }): Tensor;
  fft_rfft2(self: Tensor, s?: Integers | null, options?: { dim?: Integers; norm?: string | null }): Tensor;
  fft_rfftfreq(
    n: Integer,
    d?: Real,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  fft_rfftfreq(
    n: Integer,
    options?: {
      d?: Real;
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
    },
  ): Tensor;
  fft_rfftn(self: Tensor, s?: Integers | null, dim?: Integers | null, norm?: string | null): Tensor;
  fft_rfftn(self: Tensor, options?: { s?: Integers | null; dim?: Integers | null; norm?: string | null }): Tensor;
  fft_rfftn(self: Tensor, s?: Integers | null, options?: { dim?: Integers | null; norm?: string | null }): Tensor;
  fill(self: Tensor, value: Scalar): Tensor;
  fill(self: Tensor, value: Tensor): Tensor;
  fill_(self: Tensor, value: Scalar): Tensor;
  fill_(self: Tensor, value: Tensor): Tensor;
  fill_diagonal_(self: Tensor, fill_value: Scalar, wrap?: boolean): Tensor;
  fill_diagonal_(self: Tensor, fill_value: Scalar, options?: { wrap?: boolean }): Tensor;
  fix(self: Tensor): Tensor;
  fix_(self: Tensor): Tensor;
  flatten(self: Tensor, start_dim?: Integer, end_dim?: Integer): Tensor;
  flatten(self: Tensor, options?: { start_dim?: Integer; end_dim?: Integer }): Tensor;
  flatten_dense_tensors(tensors: readonly Tensor[]): Tensor;
  flip(self: Tensor, dims: readonly Integer[]): Tensor;
  fliplr(self: Tensor): Tensor;
  flipud(self: Tensor): Tensor;
  float_power(self: Scalar, exponent: Tensor): Tensor;
  float_power(self: Tensor, exponent: Scalar): Tensor;
  float_power(self: Tensor, exponent: Tensor): Tensor;
  float_power_(self: Tensor, exponent: Scalar): Tensor;
  float_power_(self: Tensor, exponent: Tensor): Tensor;
  floor(self: Tensor): Tensor;
  floor_(self: Tensor): Tensor;
  floor_divide(self: Tensor, other: Tensor): Tensor;
  floor_divide(self: Tensor, other: Scalar): Tensor;
  floor_divide_(self: Tensor, other: Scalar): Tensor;
  floor_divide_(self: Tensor, other: Tensor): Tensor;
  fmax(self: Tensor, other: Tensor): Tensor;
  fmin(self: Tensor, other: Tensor): Tensor;
  fmod(self: Tensor, other: Scalar): Tensor;
  fmod(self: Tensor, other: Tensor): Tensor;
  fmod_(self: Tensor, other: Scalar): Tensor;
  fmod_(self: Tensor, other: Tensor): Tensor;
  frac(self: Tensor): Tensor;
  frac_(self: Tensor): Tensor;
  fractional_max_pool2d(
    self: Tensor,
    kernel_size: Integers,
    output_size: Integers,
    random_samples: Tensor,
  ): [Tensor, Tensor];
  fractional_max_pool2d_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Integers,
    output_size: Integers,
    indices: Tensor,
  ): Tensor;
  fractional_max_pool3d(
    self: Tensor,
    kernel_size: Integers,
    output_size: Integers,
    random_samples: Tensor,
  ): [Tensor, Tensor];
  fractional_max_pool3d_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Integers,
    output_size: Integers,
    indices: Tensor,
  ): Tensor;
  frexp(self: Tensor): [mantissa: Tensor, exponent: Tensor];
  frobenius_norm(self: Tensor, dim: Integers, keepdim?: boolean): Tensor;
  frobenius_norm(self: Tensor, dim: Integers, options?: { keepdim?: boolean }): Tensor;
  full(
    size: readonly Integer[],
    fill_value: Scalar,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  full_like(
    self: Tensor,
    fill_value: Scalar,
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      memory_format?: MemoryFormat | null;
    },
  ): Tensor;
  fused_moving_avg_obs_fake_quant(
    self: Tensor,
    observer_on: Tensor,
    fake_quant_on: Tensor,
    running_min: Tensor,
    running_max: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    averaging_const: Real,
    quant_min: Integer,
    quant_max: Integer,
    ch_axis: Integer,
    per_row_fake_quant?: boolean,
    symmetric_quant?: boolean,
  ): Tensor;
  fused_moving_avg_obs_fake_quant(
    self: Tensor,
    observer_on: Tensor,
    fake_quant_on: Tensor,
    running_min: Tensor,
    running_max: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    averaging_const: Real,
    quant_min: Integer,
    quant_max: Integer,
    ch_axis: Integer,
    options?: { per_row_fake_quant?: boolean; symmetric_quant?: boolean },
  ): Tensor;
  gather(self: Tensor, dim: Integer, index: Tensor, options?: { sparse_grad?: boolean }): Tensor;
  gather_backward(grad: Tensor, self: Tensor, dim: Integer, index: Tensor, sparse_grad: boolean): Tensor;
  gcd(self: Tensor, other: Tensor): Tensor;
  gcd_(self: Tensor, other: Tensor): Tensor;
  ge(self: Tensor, other: Scalar): Tensor;
  ge(self: Tensor, other: Tensor): Tensor;
  ge_(self: Tensor, other: Scalar): Tensor;
  ge_(self: Tensor, other: Tensor): Tensor;
  gelu(self: Tensor, options?: { approximate?: string }): Tensor;
  gelu_(self: Tensor, options?: { approximate?: string }): Tensor;
  gelu_backward(grad_output: Tensor, self: Tensor, options?: { approximate?: string }): Tensor;
  geometric(self: Tensor, p: Real): Tensor;
  geometric_(self: Tensor, p: Real): Tensor;
  geqrf(self: Tensor): [a: Tensor, tau: Tensor];
  ger(self: Tensor, vec2: Tensor): Tensor;
  /** Since libtorch 2.12. */
  get_device(self: Tensor): number;
  glu(self: Tensor, dim?: Integer): Tensor;
  glu(self: Tensor, options?: { dim?: Integer }): Tensor;
  glu_backward(grad_output: Tensor, self: Tensor, dim: Integer): Tensor;
  glu_backward_jvp(grad_x: Tensor, grad_glu: Tensor, x: Tensor, dgrad_glu: Tensor, dx: Tensor, dim: Integer): Tensor;
  glu_jvp(glu: Tensor, x: Tensor, dx: Tensor, dim: Integer): Tensor;
  gradient(self: Tensor, options: { dim: readonly Integer[]; edge_order?: Integer }): Tensor[];
  gradient(self: Tensor, options: { spacing: Scalar; dim: readonly Integer[]; edge_order?: Integer }): Tensor[];
  gradient(self: Tensor, options?: { spacing?: Scalar | null; dim?: Integer | null; edge_order?: Integer }): Tensor[];
  gradient(
    self: Tensor,
    options: { spacing: readonly Scalar[]; dim: readonly Integer[]; edge_order?: Integer },
  ): Tensor[];
  gradient(self: Tensor, options: { spacing: readonly Scalar[]; dim?: Integer | null; edge_order?: Integer }): Tensor[];
  gradient(
    self: Tensor,
    options: { spacing: readonly Tensor[]; dim: readonly Integer[]; edge_order?: Integer },
  ): Tensor[];
  gradient(self: Tensor, options: { spacing: readonly Tensor[]; dim?: Integer | null; edge_order?: Integer }): Tensor[];
  greater(self: Tensor, other: Scalar): Tensor;
  greater(self: Tensor, other: Tensor): Tensor;
  greater_(self: Tensor, other: Scalar): Tensor;
  greater_(self: Tensor, other: Tensor): Tensor;
  greater_equal(self: Tensor, other: Scalar): Tensor;
  greater_equal(self: Tensor, other: Tensor): Tensor;
  greater_equal_(self: Tensor, other: Scalar): Tensor;
  greater_equal_(self: Tensor, other: Tensor): Tensor;
  grid_sampler(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: Integer,
    padding_mode: Integer,
    align_corners: boolean,
  ): Tensor;
  grid_sampler_2d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: Integer,
    padding_mode: Integer,
    align_corners: boolean,
  ): Tensor;
  grid_sampler_2d_backward(
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: Integer,
    padding_mode: Integer,
    align_corners: boolean,
    output_mask: boolean | readonly boolean[],
  ): [Tensor, Tensor];
  grid_sampler_3d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: Integer,
    padding_mode: Integer,
    align_corners: boolean,
  ): Tensor;
  grid_sampler_3d_backward(
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: Integer,
    padding_mode: Integer,
    align_corners: boolean,
    output_mask: boolean | readonly boolean[],
  ): [Tensor, Tensor];
  group_norm(
    input: Tensor,
    num_groups: Integer,
    weight?: Tensor | null,
    bias?: Tensor | null,
    eps?: Real,
    cudnn_enabled?: boolean,
  ): Tensor;
  group_norm(
    input: Tensor,
    num_groups: Integer,
    options?: { weight?: Tensor | null; bias?: Tensor | null; eps?: Real; cudnn_enabled?: boolean },
  ): Tensor;
  group_norm(
    input: Tensor,
    num_groups: Integer,
    weight?: Tensor | null,
    options?: { bias?: Tensor | null; eps?: Real; cudnn_enabled?: boolean },
  ): Tensor;
  gru(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: readonly Tensor[],
    has_biases: boolean,
    num_layers: Integer,
    dropout: Real,
    train: boolean,
    bidirectional: boolean,
  ): [Tensor, Tensor];
  gru(
    input: Tensor,
    hx: Tensor,
    params: readonly Tensor[],
    has_biases: boolean,
    num_layers: Integer,
    dropout: Real,
    train: boolean,
    bidirectional: boolean,
    batch_first: boolean,
  ): [Tensor, Tensor];
  gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih?: Tensor | null, b_hh?: Tensor | null): Tensor;
  gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    options?: { b_ih?: Tensor | null; b_hh?: Tensor | null },
  ): Tensor;
  gt(self: Tensor, other: Scalar): Tensor;
  gt(self: Tensor, other: Tensor): Tensor;
  gt_(self: Tensor, other: Scalar): Tensor;
  gt_(self: Tensor, other: Tensor): Tensor;
  hamming_window(
    window_length: Integer,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  hamming_window(
    window_length: Integer,
    periodic: boolean,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  hamming_window(
    window_length: Integer,
    periodic: boolean,
    alpha: Real,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  hamming_window(
    window_length: Integer,
    periodic: boolean,
    alpha: Real,
    beta: Real,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  hann_window(
    window_length: Integer,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  hann_window(
    window_length: Integer,
    periodic: boolean,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  hardshrink(self: Tensor, lambd?: Scalar): Tensor;
  hardshrink(self: Tensor, options?: { lambd?: Scalar }): Tensor;
  hardshrink_backward(grad_out: Tensor, self: Tensor, lambd: Scalar): Tensor;
  hardsigmoid(self: Tensor): Tensor;
  hardsigmoid_(self: Tensor): Tensor;
  hardsigmoid_backward(grad_output: Tensor, self: Tensor): Tensor;
  hardswish(self: Tensor): Tensor;
  hardswish_(self: Tensor): Tensor;
  hardswish_backward(grad_output: Tensor, self: Tensor): Tensor;
  hardtanh(self: Tensor, min_val?: Scalar, max_val?: Scalar): Tensor;
  hardtanh(self: Tensor, options?: { min_val?: Scalar; max_val?: Scalar }): Tensor;
  hardtanh_(self: Tensor, min_val?: Scalar, max_val?: Scalar): Tensor;
  hardtanh_(self: Tensor, options?: { min_val?: Scalar; max_val?: Scalar }): Tensor;
  hardtanh_backward(grad_output: Tensor, self: Tensor, min_val: Scalar, max_val: Scalar): Tensor;
  /** Since libtorch 2.9. */
  hash_tensor(self: Tensor, dim?: Integers, options?: { keepdim?: boolean; mode?: Integer }): Tensor;
  /** Since libtorch 2.9. */
  hash_tensor(self: Tensor, options?: { dim?: Integers; keepdim?: boolean; mode?: Integer }): Tensor;
  heaviside(self: Tensor, values: Tensor): Tensor;
  heaviside_(self: Tensor, values: Tensor): Tensor;
  hinge_embedding_loss(self: Tensor, target: Tensor, margin?: Real, reduction?: Integer): Tensor;
  hinge_embedding_loss(self: Tensor, target: Tensor, options?: { margin?: Real; reduction?: Integer }): Tensor;
  histc(self: Tensor, bins?: Integer, min?: Scalar, max?: Scalar): Tensor;
  histc(self: Tensor, options?: { bins?: Integer; min?: Scalar; max?: Scalar }): Tensor;
  histc(self: Tensor, bins?: Integer, options?: { min?: Scalar; max?: Scalar }): Tensor;
  histogram(
    self: Tensor,
    bins?: Integer,
    options?: { range?: readonly Real[] | null; weight?: Tensor | null; density?: boolean },
  ): [hist: Tensor, bin_edges: Tensor];
  histogram(
    self: Tensor,
    options?: { bins?: Integer; range?: readonly Real[] | null; weight?: Tensor | null; density?: boolean },
  ): [hist: Tensor, bin_edges: Tensor];
  histogram(
    self: Tensor,
    bins: Tensor,
    options?: { weight?: Tensor | null; density?: boolean },
  ): [hist: Tensor, bin_edges: Tensor];
  histogramdd(
    self: Tensor,
    bins: readonly Integer[],
    range?: readonly Real[] | null,
    weight?: Tensor | null,
    density?: boolean,
  ): [hist: Tensor, bin_edges: Tensor[]];
  histogramdd(
    self: Tensor,
    bins: readonly Integer[],
    options?: { range?: readonly Real[] | null; weight?: Tensor | null; density?: boolean },
  ): [hist: Tensor, bin_edges: Tensor[]];
  histogramdd(
    self: Tensor,
    bins: readonly Integer[],
    range?: readonly Real[] | null,
    options?: { weight?: Tensor | null; density?: boolean },
  ): [hist: Tensor, bin_edges: Tensor[]];
  histogramdd(
    self: Tensor,
    bins: readonly Tensor[],
    range?: readonly Real[] | null,
    weight?: Tensor | null,
    density?: boolean,
  ): [hist: Tensor, bin_edges: Tensor[]];
  histogramdd(
    self: Tensor,
    bins: readonly Tensor[],
    options?: { range?: readonly Real[] | null; weight?: Tensor | null; density?: boolean },
  ): [hist: Tensor, bin_edges: Tensor[]];
  histogramdd(
    self: Tensor,
    bins: readonly Tensor[],
    range?: readonly Real[] | null,
    options?: { weight?: Tensor | null; density?: boolean },
  ): [hist: Tensor, bin_edges: Tensor[]];
  histogramdd(
    self: Tensor,
    bins: Integer,
    range?: readonly Real[] | null,
    weight?: Tensor | null,
    density?: boolean,
  ): [hist: Tensor, bin_edges: Tensor[]];
  histogramdd(
    self: Tensor,
    bins: Integer,
    options?: { range?: readonly Real[] | null; weight?: Tensor | null; density?: boolean },
  ): [hist: Tensor, bin_edges: Tensor[]];
  histogramdd(
    self: Tensor,
    bins: Integer,
    range?: readonly Real[] | null,
    options?: { weight?: Tensor | null; density?: boolean },
  ): [hist: Tensor, bin_edges: Tensor[]];
  hsplit(self: Tensor, indices: readonly Integer[]): Tensor[];
  hsplit(self: Tensor, sections: Integer): Tensor[];
  hspmm(mat1: Tensor, mat2: Tensor): Tensor;
  hstack(tensors: readonly Tensor[]): Tensor;
  huber_loss(self: Tensor, target: Tensor, reduction?: Integer, delta?: Real): Tensor;
  huber_loss(self: Tensor, target: Tensor, options?: { reduction?: Integer; delta?: Real }): Tensor;
  huber_loss_backward(grad_output: Tensor, self: Tensor, target: Tensor, reduction: Integer, delta: Real): Tensor;
  hypot(self: Tensor, other: Tensor): Tensor;
  hypot_(self: Tensor, other: Tensor): Tensor;
  i0(self: Tensor): Tensor;
  i0_(self: Tensor): Tensor;
  igamma(self: Tensor, other: Tensor): Tensor;
  igamma_(self: Tensor, other: Tensor): Tensor;
  igammac(self: Tensor, other: Tensor): Tensor;
  igammac_(self: Tensor, other: Tensor): Tensor;
  im2col(self: Tensor, kernel_size: Integers, dilation: Integers, padding: Integers, stride: Integers): Tensor;
  imag(self: Tensor): Tensor;
  index(self: Tensor, indices: readonly (Tensor | null)[]): Tensor;
  index_add(self: Tensor, dim: Integer, index: Tensor, source: Tensor, options?: { alpha?: Scalar }): Tensor;
  index_add_(self: Tensor, dim: Integer, index: Tensor, source: Tensor, options?: { alpha?: Scalar }): Tensor;
  index_copy(self: Tensor, dim: Integer, index: Tensor, source: Tensor): Tensor;
  index_copy_(self: Tensor, dim: Integer, index: Tensor, source: Tensor): Tensor;
  index_fill(self: Tensor, dim: Integer, index: Tensor, value: Scalar): Tensor;
  index_fill(self: Tensor, dim: Integer, index: Tensor, value: Tensor): Tensor;
  index_fill_(self: Tensor, dim: Integer, index: Tensor, value: Scalar): Tensor;
  index_fill_(self: Tensor, dim: Integer, index: Tensor, value: Tensor): Tensor;
  index_put(self: Tensor, indices: readonly (Tensor | null)[], values: Tensor, accumulate?: boolean): Tensor;
  index_put(
    self: Tensor,
    indices: readonly (Tensor | null)[],
    values: Tensor,
    options?: { accumulate?: boolean },
  ): Tensor;
  index_put_(self: Tensor, indices: readonly (Tensor | null)[], values: Tensor, accumulate?: boolean): Tensor;
  index_put_(
    self: Tensor,
    indices: readonly (Tensor | null)[],
    values: Tensor,
    options?: { accumulate?: boolean },
  ): Tensor;
  index_reduce(
    self: Tensor,
    dim: Integer,
    index: Tensor,
    source: Tensor,
    reduce: string,
    options?: { include_self?: boolean },
  ): Tensor;
  index_reduce_(
    self: Tensor,
    dim: Integer,
    index: Tensor,
    source: Tensor,
    reduce: string,
    options?: { include_self?: boolean },
  ): Tensor;
  index_select(self: Tensor, dim: Integer, index: Tensor): Tensor;
  index_select_backward(grad: Tensor, self_sizes: readonly Integer[], dim: Integer, index: Tensor): Tensor;
  indices(self: Tensor): Tensor;
  indices_copy(self: Tensor): Tensor;
  infinitely_differentiable_gelu_backward(grad: Tensor, self: Tensor): Tensor;
  inner(self: Tensor, other: Tensor): Tensor;
  instance_norm(
    input: Tensor,
    weight: Tensor | null,
    bias: Tensor | null,
    running_mean: Tensor | null,
    running_var: Tensor | null,
    use_input_stats: boolean,
    momentum: Real,
    eps: Real,
    cudnn_enabled: boolean,
  ): Tensor;
  int_repr(self: Tensor): Tensor;
  inverse(self: Tensor): Tensor;
  is_coalesced(self: Tensor): boolean;
  is_complex(self: Tensor): boolean;
  is_conj(self: Tensor): boolean;
  /** Since libtorch 2.12. */
  is_contiguous(self: Tensor): boolean;
  /** Since libtorch 2.12. */
  is_contiguous(self: Tensor, memory_format: MemoryFormat): boolean;
  is_distributed(self: Tensor): boolean;
  is_floating_point(self: Tensor): boolean;
  is_inference(self: Tensor): boolean;
  is_leaf(self: Tensor): boolean;
  is_neg(self: Tensor): boolean;
  is_nonzero(self: Tensor): boolean;
  is_pinned(self: Tensor, device?: Device | null): boolean;
  is_pinned(self: Tensor, options?: { device?: Device | null }): boolean;
  is_same_size(self: Tensor, other: Tensor): boolean;
  is_set_to(self: Tensor, tensor: Tensor): boolean;
  is_signed(self: Tensor): boolean;
  is_vulkan_available(): boolean;
  isclose(self: Tensor, other: Tensor, rtol?: Real, atol?: Real, equal_nan?: boolean): Tensor;
  isclose(self: Tensor, other: Tensor, options?: { rtol?: Real; atol?: Real; equal_nan?: boolean }): Tensor;
  isclose(self: Tensor, other: Tensor, rtol?: Real, options?: { atol?: Real; equal_nan?: boolean }): Tensor;
  isfinite(self: Tensor): Tensor;
  isin(element: Scalar, test_elements: Tensor, options?: { assume_unique?: boolean; invert?: boolean }): Tensor;
  isin(elements: Tensor, test_element: Scalar, options?: { assume_unique?: boolean; invert?: boolean }): Tensor;
  isin(elements: Tensor, test_elements: Tensor, options?: { assume_unique?: boolean; invert?: boolean }): Tensor;
  isinf(self: Tensor): Tensor;
  isnan(self: Tensor): Tensor;
  isneginf(self: Tensor): Tensor;
  isposinf(self: Tensor): Tensor;
  isreal(self: Tensor): Tensor;
  istft(
    self: Tensor,
    n_fft: Integer,
    hop_length?: Integer | null,
    win_length?: Integer | null,
    window?: Tensor | null,
    center?: boolean,
    normalized?: boolean,
    onesided?: boolean | null,
    length?: Integer | null,
    return_complex?: boolean,
  ): Tensor;
  istft(
    self: Tensor,
    n_fft: Integer,
    options?: {
      hop_length?: Integer | null;
      win_length?: Integer | null;
      window?: Tensor | null;
      center?: boolean;
      normalized?: boolean;
      onesided?: boolean | null;
      length?: Integer | null;
      return_complex?: boolean;
    },
  ): Tensor;
  istft(
    self: Tensor,
    n_fft: Integer,
    hop_length?: Integer | null,
    options?: {
      win_length?: Integer | null;
      window?: Tensor | null;
      center?: boolean;
      normalized?: boolean;
      onesided?: boolean | null;
      length?: Integer | null;
      return_complex?: boolean;
    },
  ): Tensor;
  kaiser_window(
    window_length: Integer,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  kaiser_window(
    window_length: Integer,
    periodic: boolean,
    beta: Real,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  kaiser_window(
    window_length: Integer,
    periodic: boolean,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  kl_div(self: Tensor, target: Tensor, reduction?: Integer, options?: { log_target?: boolean }): Tensor;
  kl_div(self: Tensor, target: Tensor, options?: { reduction?: Integer; log_target?: boolean }): Tensor;
  kron(self: Tensor, other: Tensor): Tensor;
  kthvalue(self: Tensor, k: Integer, dim?: Integer, keepdim?: boolean): [values: Tensor, indices: Tensor];
  kthvalue(self: Tensor, k: Integer, options?: { dim?: Integer; keepdim?: boolean }): [values: Tensor, indices: Tensor];
  l1_loss(self: Tensor, target: Tensor, reduction?: Integer): Tensor;
  l1_loss(self: Tensor, target: Tensor, options?: { reduction?: Integer }): Tensor;
  layer_norm(
    input: Tensor,
    normalized_shape: readonly Integer[],
    weight?: Tensor | null,
    bias?: Tensor | null,
    eps?: Real,
    cudnn_enable?: boolean,
  ): Tensor;
  layer_norm(
    input: Tensor,
    normalized_shape: readonly Integer[],
    options?: { weight?: Tensor | null; bias?: Tensor | null; eps?: Real; cudnn_enable?: boolean },
  ): Tensor;
  layer_norm(
    input: Tensor,
    normalized_shape: readonly Integer[],
    weight?: Tensor | null,
    options?: { bias?: Tensor | null; eps?: Real; cudnn_enable?: boolean },
  ): Tensor;
  lcm(self: Tensor, other: Tensor): Tensor;
  lcm_(self: Tensor, other: Tensor): Tensor;
  ldexp(self: Tensor, other: Tensor): Tensor;
  ldexp_(self: Tensor, other: Tensor): Tensor;
  le(self: Tensor, other: Scalar): Tensor;
  le(self: Tensor, other: Tensor): Tensor;
  le_(self: Tensor, other: Scalar): Tensor;
  le_(self: Tensor, other: Tensor): Tensor;
  leaky_relu(self: Tensor, negative_slope?: Scalar): Tensor;
  leaky_relu(self: Tensor, options?: { negative_slope?: Scalar }): Tensor;
  leaky_relu_(self: Tensor, negative_slope?: Scalar): Tensor;
  leaky_relu_(self: Tensor, options?: { negative_slope?: Scalar }): Tensor;
  leaky_relu_backward(grad_output: Tensor, self: Tensor, negative_slope: Scalar, self_is_result: boolean): Tensor;
  lerp(self: Tensor, end: Tensor, weight: Scalar): Tensor;
  lerp(self: Tensor, end: Tensor, weight: Tensor): Tensor;
  lerp_(self: Tensor, end: Tensor, weight: Scalar): Tensor;
  lerp_(self: Tensor, end: Tensor, weight: Tensor): Tensor;
  less(self: Tensor, other: Scalar): Tensor;
  less(self: Tensor, other: Tensor): Tensor;
  less_(self: Tensor, other: Scalar): Tensor;
  less_(self: Tensor, other: Tensor): Tensor;
  less_equal(self: Tensor, other: Scalar): Tensor;
  less_equal(self: Tensor, other: Tensor): Tensor;
  less_equal_(self: Tensor, other: Scalar): Tensor;
  less_equal_(self: Tensor, other: Tensor): Tensor;
  lgamma(self: Tensor): Tensor;
  lgamma_(self: Tensor): Tensor;
  lift(self: Tensor): Tensor;
  lift_fresh(self: Tensor): Tensor;
  lift_fresh_copy(self: Tensor): Tensor;
  /** Since libtorch 2.11. */
  linalg__powsum(
    self: Tensor,
    ord?: Scalar,
    dim?: Integers | null,
    keepdim?: boolean,
    options?: { dtype?: Dtype | null },
  ): Tensor;
  /** Since libtorch 2.11. */
  linalg__powsum(
    self: Tensor,
    options?: { ord?: Scalar; dim?: Integers | null; keepdim?: boolean; dtype?: Dtype | null },
  ): Tensor;
  /** Since libtorch 2.11. */
  linalg__powsum(
    self: Tensor,
    ord?: Scalar,
    options?: { dim?: Integers | null; keepdim?: boolean; dtype?: Dtype | null },
  ): Tensor;
  linalg_cholesky(self: Tensor, options?: { upper?: boolean }): Tensor;
  linalg_cholesky_ex(self: Tensor, options?: { upper?: boolean; check_errors?: boolean }): [L: Tensor, info: Tensor];
  linalg_cond(self: Tensor, p?: Scalar | null): Tensor;
  linalg_cond(self: Tensor, options?: { p?: Scalar | null }): Tensor;
  linalg_cond(self: Tensor, p: string): Tensor;
  linalg_cross(self: Tensor, other: Tensor, options?: { dim?: Integer }): Tensor;
  linalg_det(A: Tensor): Tensor;
  linalg_diagonal(A: Tensor, options?: { offset?: Integer; dim1?: Integer; dim2?: Integer }): Tensor;
  linalg_eig(self: Tensor): [eigenvalues: Tensor, eigenvectors: Tensor];
  linalg_eigh(self: Tensor, UPLO?: string): [eigenvalues: Tensor, eigenvectors: Tensor];
  linalg_eigh(self: Tensor, options?: { UPLO?: string }): [eigenvalues: Tensor, eigenvectors: Tensor];
  linalg_eigvals(self: Tensor): Tensor;
  linalg_eigvalsh(self: Tensor, UPLO?: string): Tensor;
  linalg_eigvalsh(self: Tensor, options?: { UPLO?: string }): Tensor;
  linalg_householder_product(input: Tensor, tau: Tensor): Tensor;
  linalg_inv(A: Tensor): Tensor;
  linalg_inv_ex(A: Tensor, options?: { check_errors?: boolean }): [inverse: Tensor, info: Tensor];
  linalg_ldl_factor(self: Tensor, options?: { hermitian?: boolean }): [LD: Tensor, pivots: Tensor];
  linalg_ldl_factor_ex(
    self: Tensor,
    options?: { hermitian?: boolean; check_errors?: boolean },
  ): [LD: Tensor, pivots: Tensor, info: Tensor];
  linalg_ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, options?: { hermitian?: boolean }): Tensor;
  linalg_lstsq(
    self: Tensor,
    b: Tensor,
    rcond?: Real | null,
    options?: { driver?: string | null },
  ): [solution: Tensor, residuals: Tensor, rank: Tensor, singular_values: Tensor];
  linalg_lstsq(
    self: Tensor,
    b: Tensor,
    options?: { rcond?: Real | null; driver?: string | null },
  ): [solution: Tensor, residuals: Tensor, rank: Tensor, singular_values: Tensor];
  linalg_lu(A: Tensor, options?: { pivot?: boolean }): [P: Tensor, L: Tensor, U: Tensor];
  linalg_lu_factor(A: Tensor, options?: { pivot?: boolean }): [LU: Tensor, pivots: Tensor];
  linalg_lu_factor_ex(
    A: Tensor,
    options?: { pivot?: boolean; check_errors?: boolean },
  ): [LU: Tensor, pivots: Tensor, info: Tensor];
  linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, options?: { left?: boolean; adjoint?: boolean }): Tensor;
  linalg_matmul(self: Tensor, other: Tensor): Tensor;
  linalg_matrix_exp(self: Tensor): Tensor;
  linalg_matrix_norm(
    self: Tensor,
    ord: Scalar,
    dim?: readonly Integer[],
    keepdim?: boolean,
    options?: { dtype?: Dtype | null },
  ): Tensor;
  linalg_matrix_norm(
    self: Tensor,
    ord: Scalar,
    options?: { dim?: readonly Integer[]; keepdim?: boolean; dtype?: Dtype | null },
  ): Tensor;
  linalg_matrix_norm(
    self: Tensor,
    ord?: string,
    dim?: readonly Integer[],
    keepdim?: boolean,
    options?: { dtype?: Dtype | null },
  ): Tensor;
  linalg_matrix_norm(
    self: Tensor,
    options?: { ord?: string; dim?: readonly Integer[]; keepdim?: boolean; dtype?: Dtype | null },
  ): Tensor;
  linalg_matrix_norm(
    self: Tensor,
    ord?: string,
    options?: { dim?: readonly Integer[]; keepdim?: boolean; dtype?: Dtype | null },
  ): Tensor;
  linalg_matrix_power(self: Tensor, n: Integer): Tensor;
  linalg_matrix_rank(self: Tensor, tol: Real, hermitian?: boolean): Tensor;
  linalg_matrix_rank(self: Tensor, tol: Real, options?: { hermitian?: boolean }): Tensor;
  linalg_matrix_rank(self: Tensor, options?: { atol?: Real | null; rtol?: Real | null; hermitian?: boolean }): Tensor;
  linalg_matrix_rank(
    input: Tensor,
    options?: { atol?: Tensor | null; rtol?: Tensor | null; hermitian?: boolean },
  ): Tensor;
  linalg_matrix_rank(input: Tensor, tol: Tensor, hermitian?: boolean): Tensor;
  linalg_matrix_rank(input: Tensor, tol: Tensor, options?: { hermitian?: boolean }): Tensor;
  /** Since libtorch 2.14. */
  linalg_matrix_sqrth(self: Tensor): Tensor;
  linalg_multi_dot(tensors: readonly Tensor[]): Tensor;
  linalg_norm(
    self: Tensor,
    ord?: Scalar | null,
    dim?: Integers | null,
    keepdim?: boolean,
    options?: { dtype?: Dtype | null },
  ): Tensor;
  linalg_norm(
    self: Tensor,
    options?: { ord?: Scalar | null; dim?: Integers | null; keepdim?: boolean; dtype?: Dtype | null },
  ): Tensor;
  linalg_norm(
    self: Tensor,
    ord?: Scalar | null,
    options?: { dim?: Integers | null; keepdim?: boolean; dtype?: Dtype | null },
  ): Tensor;
  linalg_norm(
    self: Tensor,
    ord: string,
    dim?: Integers | null,
    keepdim?: boolean,
    options?: { dtype?: Dtype | null },
  ): Tensor;
  linalg_norm(
    self: Tensor,
    ord: string,
    options?: { dim?: Integers | null; keepdim?: boolean; dtype?: Dtype | null },
  ): Tensor;
  linalg_pinv(self: Tensor, rcond: Real, hermitian?: boolean): Tensor;
  linalg_pinv(self: Tensor, rcond: Real, options?: { hermitian?: boolean }): Tensor;
  linalg_pinv(self: Tensor, options?: { atol?: Real | null; rtol?: Real | null; hermitian?: boolean }): Tensor;
  linalg_pinv(self: Tensor, options?: { atol?: Tensor | null; rtol?: Tensor | null; hermitian?: boolean }): Tensor;
  linalg_pinv(self: Tensor, rcond: Tensor, hermitian?: boolean): Tensor;
  linalg_pinv(self: Tensor, rcond: Tensor, options?: { hermitian?: boolean }): Tensor;
  /** Since libtorch 2.14. */
  linalg_polar(A: Tensor): [U: Tensor, H: Tensor];
  linalg_qr(A: Tensor, mode?: string): [Q: Tensor, R: Tensor];
  linalg_qr(A: Tensor, options?: { mode?: string }): [Q: Tensor, R: Tensor];
  linalg_slogdet(A: Tensor): [sign: Tensor, logabsdet: Tensor];
  linalg_solve(A: Tensor, B: Tensor, options?: { left?: boolean }): Tensor;
  linalg_solve_ex(
    A: Tensor,
    B: Tensor,
    options?: { left?: boolean; check_errors?: boolean },
  ): [result: Tensor, info: Tensor];
  linalg_solve_triangular(
    self: Tensor,
    B: Tensor,
    options: { upper: boolean; left?: boolean; unitriangular?: boolean },
  ): Tensor;
  linalg_svd(
    A: Tensor,
    full_matrices?: boolean,
    options?: { driver?: string | null },
  ): [U: Tensor, S: Tensor, Vh: Tensor];
  linalg_svd(
    A: Tensor,
    options?: { full_matrices?: boolean; driver?: string | null },
  ): [U: Tensor, S: Tensor, Vh: Tensor];
  linalg_svdvals(A: Tensor, options?: { driver?: string | null }): Tensor;
  linalg_tensorinv(self: Tensor, ind?: Integer): Tensor;
  linalg_tensorinv(self: Tensor, options?: { ind?: Integer }): Tensor;
  linalg_tensorsolve(self: Tensor, other: Tensor, dims?: readonly Integer[] | null): Tensor;
  linalg_tensorsolve(self: Tensor, other: Tensor, options?: { dims?: readonly Integer[] | null }): Tensor;
  linalg_vander(x: Tensor, options?: { N?: Integer | null }): Tensor;
  linalg_vecdot(x: Tensor, y: Tensor, options?: { dim?: Integer }): Tensor;
  linalg_vector_norm(
    self: Tensor,
    ord?: Scalar,
    dim?: Integers | null,
    keepdim?: boolean,
    options?: { dtype?: Dtype | null },
  ): Tensor;
  linalg_vector_norm(
    self: Tensor,
    options?: { ord?: Scalar; dim?: Integers | null; keepdim?: boolean; dtype?: Dtype | null },
  ): Tensor;
  linalg_vector_norm(
    self: Tensor,
    ord?: Scalar,
    options?: { dim?: Integers | null; keepdim?: boolean; dtype?: Dtype | null },
  ): Tensor;
  linear(input: Tensor, weight: Tensor, bias?: Tensor | null): Tensor;
  linear(input: Tensor, weight: Tensor, options?: { bias?: Tensor | null }): Tensor;
  linear_backward(
    self: Tensor,
    grad_output: Tensor,
    weight: Tensor,
    output_mask: boolean | readonly boolean[],
  ): [Tensor, Tensor, Tensor];
  linspace(
    start: Scalar,
    end: Scalar,
    steps: Integer,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  /** Since libtorch 2.2. */
  linspace(
    start: Scalar,
    end: Tensor,
    steps: Integer,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  /** Since libtorch 2.2. */
  linspace(
    start: Tensor,
    end: Scalar,
    steps: Integer,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  /** Since libtorch 2.2. */
  linspace(
    start: Tensor,
    end: Tensor,
    steps: Integer,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  log(self: Tensor): Tensor;
  log10(self: Tensor): Tensor;
  log10_(self: Tensor): Tensor;
  log1p(self: Tensor): Tensor;
  log1p_(self: Tensor): Tensor;
  log2(self: Tensor): Tensor;
  log2_(self: Tensor): Tensor;
  log_(self: Tensor): Tensor;
  log_normal(self: Tensor, mean?: Real, std?: Real): Tensor;
  log_normal(self: Tensor, options?: { mean?: Real; std?: Real }): Tensor;
  log_normal_(self: Tensor, mean?: Real, std?: Real): Tensor;
  log_normal_(self: Tensor, options?: { mean?: Real; std?: Real }): Tensor;
  log_sigmoid(self: Tensor): Tensor;
  log_sigmoid_backward(grad_output: Tensor, self: Tensor, buffer: Tensor): Tensor;
  log_sigmoid_forward(self: Tensor): [output: Tensor, buffer: Tensor];
  log_softmax(self: Tensor, dim: Integer, dtype?: Dtype | null): Tensor;
  log_softmax(self: Tensor, dim: Integer, options?: { dtype?: Dtype | null }): Tensor;
  logaddexp(self: Tensor, other: Tensor): Tensor;
  logaddexp2(self: Tensor, other: Tensor): Tensor;
  logcumsumexp(self: Tensor, dim: Integer): Tensor;
  logdet(self: Tensor): Tensor;
  logical_and(self: Tensor, other: Tensor): Tensor;
  logical_and_(self: Tensor, other: Tensor): Tensor;
  logical_not(self: Tensor): Tensor;
  logical_not_(self: Tensor): Tensor;
  logical_or(self: Tensor, other: Tensor): Tensor;
  logical_or_(self: Tensor, other: Tensor): Tensor;
  logical_xor(self: Tensor, other: Tensor): Tensor;
  logical_xor_(self: Tensor, other: Tensor): Tensor;
  logit(self: Tensor, eps?: Real | null): Tensor;
  logit(self: Tensor, options?: { eps?: Real | null }): Tensor;
  logit_(self: Tensor, eps?: Real | null): Tensor;
  logit_(self: Tensor, options?: { eps?: Real | null }): Tensor;
  logit_backward(grad_output: Tensor, self: Tensor, eps?: Real | null): Tensor;
  logit_backward(grad_output: Tensor, self: Tensor, options?: { eps?: Real | null }): Tensor;
  logspace(
    start: Scalar,
    end: Scalar,
    steps: Integer,
    base?: Real,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  logspace(
    start: Scalar,
    end: Scalar,
    steps: Integer,
    options?: {
      base?: Real;
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
    },
  ): Tensor;
  /** Since libtorch 2.2. */
  logspace(
    start: Scalar,
    end: Tensor,
    steps: Integer,
    base?: Real,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  /** Since libtorch 2.2. */
  logspace(
    start: Scalar,
    end: Tensor,
    steps: Integer,
    options?: {
      base?: Real;
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
    },
  ): Tensor;
  /** Since libtorch 2.2. */
  logspace(
    start: Tensor,
    end: Scalar,
    steps: Integer,
    base?: Real,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  /** Since libtorch 2.2. */
  logspace(
    start: Tensor,
    end: Scalar,
    steps: Integer,
    options?: {
      base?: Real;
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
    },
  ): Tensor;
  /** Since libtorch 2.2. */
  logspace(
    start: Tensor,
    end: Tensor,
    steps: Integer,
    base?: Real,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  /** Since libtorch 2.2. */
  logspace(
    start: Tensor,
    end: Tensor,
    steps: Integer,
    options?: {
      base?: Real;
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
    },
  ): Tensor;
  logsumexp(self: Tensor, dim: Integers, keepdim?: boolean): Tensor;
  logsumexp(self: Tensor, dim: Integers, options?: { keepdim?: boolean }): Tensor;
  lstm(
    data: Tensor,
    batch_sizes: Tensor,
    hx: readonly Tensor[],
    params: readonly Tensor[],
    has_biases: boolean,
    num_layers: Integer,
    dropout: Real,
    train: boolean,
    bidirectional: boolean,
  ): [Tensor, Tensor, Tensor];
  lstm(
    input: Tensor,
    hx: readonly Tensor[],
    params: readonly Tensor[],
    has_biases: boolean,
    num_layers: Integer,
    dropout: Real,
    train: boolean,
    bidirectional: boolean,
    batch_first: boolean,
  ): [Tensor, Tensor, Tensor];
  lstm_cell(
    input: Tensor,
    hx: readonly Tensor[],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih?: Tensor | null,
    b_hh?: Tensor | null,
  ): [Tensor, Tensor];
  lstm_cell(
    input: Tensor,
    hx: readonly Tensor[],
    w_ih: Tensor,
    w_hh: Tensor,
    options?: { b_ih?: Tensor | null; b_hh?: Tensor | null },
  ): [Tensor, Tensor];
  lstm_mps_backward(
    grad_y: Tensor | null,
    grad_hy: Tensor | null,
    grad_cy: Tensor | null,
    z_state: Tensor,
    cell_state_fwd: Tensor,
    input: Tensor,
    layersOutputs: Tensor,
    hx: readonly Tensor[],
    params: readonly Tensor[],
    has_biases: boolean,
    num_layers: Integer,
    dropout: Real,
    train: boolean,
    bidirectional: boolean,
    batch_first: boolean,
  ): [Tensor, Tensor[], Tensor[]];
  lt(self: Tensor, other: Scalar): Tensor;
  lt(self: Tensor, other: Tensor): Tensor;
  lt_(self: Tensor, other: Scalar): Tensor;
  lt_(self: Tensor, other: Tensor): Tensor;
  lu_solve(self: Tensor, LU_data: Tensor, LU_pivots: Tensor): Tensor;
  lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data?: boolean,
    unpack_pivots?: boolean,
  ): [P: Tensor, L: Tensor, U: Tensor];
  lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    options?: { unpack_data?: boolean; unpack_pivots?: boolean },
  ): [P: Tensor, L: Tensor, U: Tensor];
  mH(self: Tensor): Tensor;
  mT(self: Tensor): Tensor;
  margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin?: Real, reduction?: Integer): Tensor;
  margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    options?: { margin?: Real; reduction?: Integer },
  ): Tensor;
  masked_fill(self: Tensor, mask: Tensor, value: Scalar): Tensor;
  masked_fill(self: Tensor, mask: Tensor, value: Tensor): Tensor;
  masked_fill_(self: Tensor, mask: Tensor, value: Scalar): Tensor;
  masked_fill_(self: Tensor, mask: Tensor, value: Tensor): Tensor;
  masked_scatter(self: Tensor, mask: Tensor, source: Tensor): Tensor;
  masked_scatter_(self: Tensor, mask: Tensor, source: Tensor): Tensor;
  /** Since libtorch 2.2. */
  masked_scatter_backward(grad_output: Tensor, mask: Tensor, sizes: readonly Integer[]): Tensor;
  masked_select(self: Tensor, mask: Tensor): Tensor;
  masked_select_backward(grad: Tensor, input: Tensor, mask: Tensor): Tensor;
  matmul(self: Tensor, other: Tensor): Tensor;
  matmul_backward(grad: Tensor, self: Tensor, other: Tensor, mask: boolean | readonly boolean[]): [Tensor, Tensor];
  matrix_H(self: Tensor): Tensor;
  matrix_exp(self: Tensor): Tensor;
  matrix_exp_backward(self: Tensor, grad: Tensor): Tensor;
  matrix_power(self: Tensor, n: Integer): Tensor;
  max(self: Tensor): Tensor;
  max(self: Tensor, dim: Integer, keepdim?: boolean): [values: Tensor, indices: Tensor];
  max(self: Tensor, dim: Integer, options?: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  max(self: Tensor, other: Tensor): Tensor;
  max_pool1d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  max_pool1d(
    self: Tensor,
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  max_pool1d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  max_pool1d_with_indices(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): [Tensor, Tensor];
  max_pool1d_with_indices(
    self: Tensor,
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): [Tensor, Tensor];
  max_pool1d_with_indices(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): [Tensor, Tensor];
  max_pool2d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  max_pool2d(
    self: Tensor,
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  max_pool2d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  /** Since libtorch 2.0. */
  max_pool2d_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  /** Since libtorch 2.0. */
  max_pool2d_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  /** Since libtorch 2.0. */
  max_pool2d_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  max_pool2d_with_indices(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): [Tensor, Tensor];
  max_pool2d_with_indices(
    self: Tensor,
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): [Tensor, Tensor];
  max_pool2d_with_indices(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): [Tensor, Tensor];
  max_pool2d_with_indices_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Integers,
    stride: Integers,
    padding: Integers,
    dilation: Integers,
    ceil_mode: boolean,
    indices: Tensor,
  ): Tensor;
  max_pool3d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  max_pool3d(
    self: Tensor,
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  max_pool3d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  max_pool3d_with_indices(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): [Tensor, Tensor];
  max_pool3d_with_indices(
    self: Tensor,
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): [Tensor, Tensor];
  max_pool3d_with_indices(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): [Tensor, Tensor];
  max_pool3d_with_indices_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Integers,
    stride: Integers,
    padding: Integers,
    dilation: Integers,
    ceil_mode: boolean,
    indices: Tensor,
  ): Tensor;
  max_unpool2d(self: Tensor, indices: Tensor, output_size: Integers): Tensor;
  max_unpool3d(self: Tensor, indices: Tensor, output_size: Integers, stride: Integers, padding: Integers): Tensor;
  maximum(self: Tensor, other: Tensor): Tensor;
  mean(self: Tensor, options?: { dtype?: Dtype | null }): Tensor;
  mean(self: Tensor, dim: Integers | null, keepdim?: boolean, options?: { dtype?: Dtype | null }): Tensor;
  mean(self: Tensor, dim: Integers | null, options?: { keepdim?: boolean; dtype?: Dtype | null }): Tensor;
  median(self: Tensor): Tensor;
  median(self: Tensor, dim: Integer, keepdim?: boolean): [values: Tensor, indices: Tensor];
  median(self: Tensor, dim: Integer, options?: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  meshgrid(tensors: readonly Tensor[]): Tensor[];
  meshgrid(tensors: readonly Tensor[], options: { indexing: string }): Tensor[];
  min(self: Tensor): Tensor;
  min(self: Tensor, dim: Integer, keepdim?: boolean): [values: Tensor, indices: Tensor];
  min(self: Tensor, dim: Integer, options?: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  min(self: Tensor, other: Tensor): Tensor;
  minimum(self: Tensor, other: Tensor): Tensor;
  mish(self: Tensor): Tensor;
  mish_(self: Tensor): Tensor;
  mish_backward(grad_output: Tensor, self: Tensor): Tensor;
  mkldnn_adaptive_avg_pool2d(self: Tensor, output_size: Integers): Tensor;
  mkldnn_adaptive_avg_pool2d_backward(grad_output: Tensor, self: Tensor): Tensor;
  mkldnn_convolution(
    self: Tensor,
    weight: Tensor,
    bias: Tensor | null,
    padding: readonly Integer[],
    stride: readonly Integer[],
    dilation: readonly Integer[],
    groups: Integer,
  ): Tensor;
  mkldnn_linear(self: Tensor, weight: Tensor, bias?: Tensor | null): Tensor;
  mkldnn_linear(self: Tensor, weight: Tensor, options?: { bias?: Tensor | null }): Tensor;
  mkldnn_linear_backward(
    self: Tensor,
    grad_output: Tensor,
    weight: Tensor,
    output_mask: boolean | readonly boolean[],
  ): [Tensor, Tensor, Tensor];
  mkldnn_linear_backward_input(input_size: readonly Integer[], grad_output: Tensor, weight: Tensor): Tensor;
  mkldnn_linear_backward_weights(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_defined: boolean,
  ): [Tensor, Tensor];
  mkldnn_max_pool2d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  mkldnn_max_pool2d(
    self: Tensor,
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  mkldnn_max_pool2d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  mkldnn_max_pool2d_backward(
    grad_output: Tensor,
    output: Tensor,
    input: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  mkldnn_max_pool2d_backward(
    grad_output: Tensor,
    output: Tensor,
    input: Tensor,
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  mkldnn_max_pool2d_backward(
    grad_output: Tensor,
    output: Tensor,
    input: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  mkldnn_max_pool3d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  mkldnn_max_pool3d(
    self: Tensor,
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  mkldnn_max_pool3d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  mkldnn_max_pool3d_backward(
    grad_output: Tensor,
    output: Tensor,
    input: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  mkldnn_max_pool3d_backward(
    grad_output: Tensor,
    output: Tensor,
    input: Tensor,
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  mkldnn_max_pool3d_backward(
    grad_output: Tensor,
    output: Tensor,
    input: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  mkldnn_reorder_conv2d_weight(
    self: Tensor,
    padding?: Integers,
    stride?: Integers,
    dilation?: Integers,
    groups?: Integer,
    input_size?: readonly Integer[] | null,
  ): Tensor;
  mkldnn_reorder_conv2d_weight(
    self: Tensor,
    options?: {
      padding?: Integers;
      stride?: Integers;
      dilation?: Integers;
      groups?: Integer;
      input_size?: readonly Integer[] | null;
    },
  ): Tensor;
  mkldnn_reorder_conv2d_weight(
    self: Tensor,
    padding?: Integers,
    options?: { stride?: Integers; dilation?: Integers; groups?: Integer; input_size?: readonly Integer[] | null },
  ): Tensor;
  mkldnn_reorder_conv3d_weight(
    self: Tensor,
    padding?: Integers,
    stride?: Integers,
    dilation?: Integers,
    groups?: Integer,
    input_size?: readonly Integer[] | null,
  ): Tensor;
  mkldnn_reorder_conv3d_weight(
    self: Tensor,
    options?: {
      padding?: Integers;
      stride?: Integers;
      dilation?: Integers;
      groups?: Integer;
      input_size?: readonly Integer[] | null;
    },
  ): Tensor;
  mkldnn_reorder_conv3d_weight(
    self: Tensor,
    padding?: Integers,
    options?: { stride?: Integers; dilation?: Integers; groups?: Integer; input_size?: readonly Integer[] | null },
  ): Tensor;
  /** Since libtorch 2.0. */
  mkldnn_rnn_layer(
    input: Tensor,
    weight0: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    weight3: Tensor,
    hx_: Tensor,
    cx_: Tensor,
    reverse: boolean,
    batch_sizes: readonly Integer[],
    mode: Integer,
    hidden_size: Integer,
    num_layers: Integer,
    has_biases: boolean,
    bidirectional: boolean,
    batch_first: boolean,
    train: boolean,
  ): [Tensor, Tensor, Tensor, Tensor];
  /** Since libtorch 2.0. */
  mkldnn_rnn_layer_backward(
    input: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    weight3: Tensor,
    weight4: Tensor,
    hx_: Tensor,
    cx_tmp: Tensor,
    output: Tensor,
    hy_: Tensor,
    cy_: Tensor,
    grad_output: Tensor | null,
    grad_hy: Tensor | null,
    grad_cy: Tensor | null,
    reverse: boolean,
    mode: Integer,
    hidden_size: Integer,
    num_layers: Integer,
    has_biases: boolean,
    train: boolean,
    bidirectional: boolean,
    batch_sizes: readonly Integer[],
    batch_first: boolean,
    workspace: Tensor,
  ): [Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor];
  mm(self: Tensor, mat2: Tensor): Tensor;
  /** Since libtorch 2.8. */
  mm(self: Tensor, mat2: Tensor, out_dtype: Dtype): Tensor;
  mode(self: Tensor, dim?: Integer, keepdim?: boolean): [values: Tensor, indices: Tensor];
  mode(self: Tensor, options?: { dim?: Integer; keepdim?: boolean }): [values: Tensor, indices: Tensor];
  moveaxis(self: Tensor, source: Integer, destination: Integer): Tensor;
  moveaxis(self: Tensor, source: readonly Integer[], destination: readonly Integer[]): Tensor;
  movedim(self: Tensor, source: Integer, destination: Integer): Tensor;
  movedim(self: Tensor, source: readonly Integer[], destination: readonly Integer[]): Tensor;
  mse_loss(self: Tensor, target: Tensor, reduction?: Integer): Tensor;
  mse_loss(self: Tensor, target: Tensor, options?: { reduction?: Integer }): Tensor;
  mse_loss_backward(grad_output: Tensor, self: Tensor, target: Tensor, reduction: Integer): Tensor;
  msort(self: Tensor): Tensor;
  mul(self: Tensor, other: Scalar): Tensor;
  mul(self: Tensor, other: Tensor): Tensor;
  mul_(self: Tensor, other: Scalar): Tensor;
  mul_(self: Tensor, other: Tensor): Tensor;
  multi_margin_loss(
    self: Tensor,
    target: Tensor,
    p?: Scalar,
    margin?: Scalar,
    weight?: Tensor | null,
    reduction?: Integer,
  ): Tensor;
  multi_margin_loss(
    self: Tensor,
    target: Tensor,
    options?: { p?: Scalar; margin?: Scalar; weight?: Tensor | null; reduction?: Integer },
  ): Tensor;
  multi_margin_loss(
    self: Tensor,
    target: Tensor,
    p?: Scalar,
    options?: { margin?: Scalar; weight?: Tensor | null; reduction?: Integer },
  ): Tensor;
  multi_margin_loss_backward(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    p: Scalar,
    margin: Scalar,
    weight?: Tensor | null,
    reduction?: Integer,
  ): Tensor;
  multi_margin_loss_backward(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    p: Scalar,
    margin: Scalar,
    options?: { weight?: Tensor | null; reduction?: Integer },
  ): Tensor;
  multilabel_margin_loss(self: Tensor, target: Tensor, reduction?: Integer): Tensor;
  multilabel_margin_loss(self: Tensor, target: Tensor, options?: { reduction?: Integer }): Tensor;
  multilabel_margin_loss_backward(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    reduction: Integer,
    is_target: Tensor,
  ): Tensor;
  multilabel_margin_loss_forward(self: Tensor, target: Tensor, reduction: Integer): [output: Tensor, is_target: Tensor];
  multinomial(self: Tensor, num_samples: Integer, replacement?: boolean): Tensor;
  multinomial(self: Tensor, num_samples: Integer, options?: { replacement?: boolean }): Tensor;
  multiply(self: Tensor, other: Scalar): Tensor;
  multiply(self: Tensor, other: Tensor): Tensor;
  multiply_(self: Tensor, other: Scalar): Tensor;
  multiply_(self: Tensor, other: Tensor): Tensor;
  mv(self: Tensor, vec: Tensor): Tensor;
  mvlgamma(self: Tensor, p: Integer): Tensor;
  mvlgamma_(self: Tensor, p: Integer): Tensor;
  nan_to_num(self: Tensor, nan?: Real | null, posinf?: Real | null, neginf?: Real | null): Tensor;
  nan_to_num(self: Tensor, options?: { nan?: Real | null; posinf?: Real | null; neginf?: Real | null }): Tensor;
  nan_to_num(self: Tensor, nan?: Real | null, options?: { posinf?: Real | null; neginf?: Real | null }): Tensor;
  nan_to_num_(self: Tensor, nan?: Real | null, posinf?: Real | null, neginf?: Real | null): Tensor;
  nan_to_num_(self: Tensor, options?: { nan?: Real | null; posinf?: Real | null; neginf?: Real | null }): Tensor;
  nan_to_num_(self: Tensor, nan?: Real | null, options?: { posinf?: Real | null; neginf?: Real | null }): Tensor;
  nanmean(self: Tensor, dim?: Integers | null, keepdim?: boolean, options?: { dtype?: Dtype | null }): Tensor;
  nanmean(self: Tensor, options?: { dim?: Integers | null; keepdim?: boolean; dtype?: Dtype | null }): Tensor;
  nanmedian(self: Tensor): Tensor;
  nanmedian(self: Tensor, dim: Integer, keepdim?: boolean): [values: Tensor, indices: Tensor];
  nanmedian(self: Tensor, dim: Integer, options?: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  nanquantile(
    self: Tensor,
    q: Tensor,
    dim?: Integer | null,
    keepdim?: boolean,
    options?: { interpolation?: string },
  ): Tensor;
  nanquantile(
    self: Tensor,
    q: Tensor,
    options?: { dim?: Integer | null; keepdim?: boolean; interpolation?: string },
  ): Tensor;
  nanquantile(
    self: Tensor,
    q: Real,
    dim?: Integer | null,
    keepdim?: boolean,
    options?: { interpolation?: string },
  ): Tensor;
  nanquantile(
    self: Tensor,
    q: Real,
    options?: { dim?: Integer | null; keepdim?: boolean; interpolation?: string },
  ): Tensor;
  nansum(self: Tensor, dim?: Integers | null, keepdim?: boolean, options?: { dtype?: Dtype | null }): Tensor;
  nansum(self: Tensor, options?: { dim?: Integers | null; keepdim?: boolean; dtype?: Dtype | null }): Tensor;
  narrow(self: Tensor, dim: Integer, start: Integer, length: Integer): Tensor;
  narrow(self: Tensor, dim: Integer, start: Tensor, length: Integer): Tensor;
  narrow_copy(self: Tensor, dim: Integer, start: Integer, length: Integer): Tensor;
  native_batch_norm(
    input: Tensor,
    weight: Tensor | null,
    bias: Tensor | null,
    running_mean: Tensor | null,
    running_var: Tensor | null,
    training: boolean,
    momentum: Real,
    eps: Real,
  ): [Tensor, Tensor, Tensor];
  native_batch_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    weight: Tensor | null,
    running_mean: Tensor | null,
    running_var: Tensor | null,
    save_mean: Tensor | null,
    save_invstd: Tensor | null,
    train: boolean,
    eps: Real,
    output_mask: boolean | readonly boolean[],
  ): [Tensor, Tensor, Tensor];
  native_channel_shuffle(self: Tensor, groups: Integer): Tensor;
  native_dropout(input: Tensor, p: Real, train: boolean | null): [Tensor, Tensor];
  native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: Real): Tensor;
  native_group_norm(
    input: Tensor,
    weight: Tensor | null,
    bias: Tensor | null,
    N: Integer,
    C: Integer,
    HxW: Integer,
    group: Integer,
    eps: Real,
  ): [Tensor, Tensor, Tensor];
  native_group_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | null,
    N: Integer,
    C: Integer,
    HxW: Integer,
    group: Integer,
    output_mask: boolean | readonly boolean[],
  ): [Tensor, Tensor, Tensor];
  native_layer_norm(
    input: Tensor,
    normalized_shape: readonly Integer[],
    weight: Tensor | null,
    bias: Tensor | null,
    eps: Real,
  ): [Tensor, Tensor, Tensor];
  native_layer_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: readonly Integer[],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | null,
    bias: Tensor | null,
    output_mask: boolean | readonly boolean[],
  ): [Tensor, Tensor, Tensor];
  native_norm(self: Tensor, p?: Scalar): Tensor;
  native_norm(self: Tensor, options?: { p?: Scalar }): Tensor;
  native_norm(self: Tensor, p: Scalar | null, dim: Integers, keepdim: boolean, dtype: Dtype | null): Tensor;
  ne(self: Tensor, other: Scalar): Tensor;
  ne(self: Tensor, other: Tensor): Tensor;
  ne_(self: Tensor, other: Scalar): Tensor;
  ne_(self: Tensor, other: Tensor): Tensor;
  neg(self: Tensor): Tensor;
  neg_(self: Tensor): Tensor;
  negative(self: Tensor): Tensor;
  negative_(self: Tensor): Tensor;
  nested_to_padded_tensor(self: Tensor, padding: Real, output_size?: readonly Integer[] | null): Tensor;
  nested_to_padded_tensor(self: Tensor, padding: Real, options?: { output_size?: readonly Integer[] | null }): Tensor;
  new_empty(
    self: Tensor,
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  new_empty_strided(
    self: Tensor,
    size: readonly Integer[],
    stride: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  new_full(
    self: Tensor,
    size: readonly Integer[],
    fill_value: Scalar,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  new_ones(
    self: Tensor,
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  new_zeros(
    self: Tensor,
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  nextafter(self: Tensor, other: Tensor): Tensor;
  nextafter_(self: Tensor, other: Tensor): Tensor;
  nll_loss(self: Tensor, target: Tensor, weight?: Tensor | null, reduction?: Integer, ignore_index?: Integer): Tensor;
  nll_loss(
    self: Tensor,
    target: Tensor,
    options?: { weight?: Tensor | null; reduction?: Integer; ignore_index?: Integer },
  ): Tensor;
  nll_loss(
    self: Tensor,
    target: Tensor,
    weight?: Tensor | null,
    options?: { reduction?: Integer; ignore_index?: Integer },
  ): Tensor;
  nll_loss2d(self: Tensor, target: Tensor, weight?: Tensor | null, reduction?: Integer, ignore_index?: Integer): Tensor;
  nll_loss2d(
    self: Tensor,
    target: Tensor,
    options?: { weight?: Tensor | null; reduction?: Integer; ignore_index?: Integer },
  ): Tensor;
  nll_loss2d(
    self: Tensor,
    target: Tensor,
    weight?: Tensor | null,
    options?: { reduction?: Integer; ignore_index?: Integer },
  ): Tensor;
  nll_loss2d_backward(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | null,
    reduction: Integer,
    ignore_index: Integer,
    total_weight: Tensor,
  ): Tensor;
  nll_loss2d_forward(
    self: Tensor,
    target: Tensor,
    weight: Tensor | null,
    reduction: Integer,
    ignore_index: Integer,
  ): [output: Tensor, total_weight: Tensor];
  nll_loss_backward(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | null,
    reduction: Integer,
    ignore_index: Integer,
    total_weight: Tensor,
  ): Tensor;
  nll_loss_forward(
    self: Tensor,
    target: Tensor,
    weight: Tensor | null,
    reduction: Integer,
    ignore_index: Integer,
  ): [output: Tensor, total_weight: Tensor];
  nll_loss_nd(
    self: Tensor,
    target: Tensor,
    weight?: Tensor | null,
    reduction?: Integer,
    ignore_index?: Integer,
  ): Tensor;
  nll_loss_nd(
    self: Tensor,
    target: Tensor,
    options?: { weight?: Tensor | null; reduction?: Integer; ignore_index?: Integer },
  ): Tensor;
  nll_loss_nd(
    self: Tensor,
    target: Tensor,
    weight?: Tensor | null,
    options?: { reduction?: Integer; ignore_index?: Integer },
  ): Tensor;
  nonzero(self: Tensor): Tensor;
  nonzero_numpy(self: Tensor): Tensor[];
  /** Since libtorch 2.1. */
  nonzero_static(self: Tensor, options: { size: Integer; fill_value?: Integer }): Tensor;
  norm(self: Tensor, p?: Scalar): Tensor;
  norm(self: Tensor, options?: { p?: Scalar }): Tensor;
  norm(self: Tensor, p: Scalar | null, dim: Integers, keepdim?: boolean): Tensor;
  norm(self: Tensor, p: Scalar | null, dim: Integers, options?: { keepdim?: boolean }): Tensor;
  norm(self: Tensor, p: Scalar | null, dim: Integers, keepdim: boolean, options: { dtype: Dtype }): Tensor;
  norm(self: Tensor, p: Scalar | null, options: { dtype: Dtype }): Tensor;
  norm_except_dim(v: Tensor, pow?: Integer, dim?: Integer): Tensor;
  norm_except_dim(v: Tensor, options?: { pow?: Integer; dim?: Integer }): Tensor;
  normal(mean: Tensor, std: Tensor): Tensor;
  normal(mean: Tensor, std?: Real): Tensor;
  normal(mean: Tensor, options?: { std?: Real }): Tensor;
  normal(mean: Real, std: Tensor): Tensor;
  normal(
    mean: Real,
    std: Real,
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  normal_(self: Tensor, mean?: Real, std?: Real): Tensor;
  normal_(self: Tensor, options?: { mean?: Real; std?: Real }): Tensor;
  normal_functional(self: Tensor, mean?: Real, std?: Real): Tensor;
  normal_functional(self: Tensor, options?: { mean?: Real; std?: Real }): Tensor;
  not_equal(self: Tensor, other: Scalar): Tensor;
  not_equal(self: Tensor, other: Tensor): Tensor;
  not_equal_(self: Tensor, other: Scalar): Tensor;
  not_equal_(self: Tensor, other: Tensor): Tensor;
  nuclear_norm(self: Tensor, keepdim?: boolean): Tensor;
  nuclear_norm(self: Tensor, options?: { keepdim?: boolean }): Tensor;
  nuclear_norm(self: Tensor, dim: Integers, keepdim?: boolean): Tensor;
  nuclear_norm(self: Tensor, dim: Integers, options?: { keepdim?: boolean }): Tensor;
  /** Since libtorch 2.12. */
  numel(self: Tensor): number;
  numpy_T(self: Tensor): Tensor;
  one_hot(self: Tensor, num_classes?: Integer): Tensor;
  one_hot(self: Tensor, options?: { num_classes?: Integer }): Tensor;
  ones(
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  ones_like(
    self: Tensor,
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      memory_format?: MemoryFormat | null;
    },
  ): Tensor;
  orgqr(self: Tensor, input2: Tensor): Tensor;
  ormqr(self: Tensor, input2: Tensor, input3: Tensor, left?: boolean, transpose?: boolean): Tensor;
  ormqr(self: Tensor, input2: Tensor, input3: Tensor, options?: { left?: boolean; transpose?: boolean }): Tensor;
  outer(self: Tensor, vec2: Tensor): Tensor;
  output_nr(self: Tensor): number;
  pad(self: Tensor, pad: readonly Integer[], mode?: string, value?: Real | null): Tensor;
  pad(self: Tensor, pad: readonly Integer[], options?: { mode?: string; value?: Real | null }): Tensor;
  pad_sequence(
    sequences: readonly Tensor[],
    batch_first?: boolean,
    padding_value?: Real,
    padding_side?: string,
  ): Tensor;
  pad_sequence(
    sequences: readonly Tensor[],
    options?: { batch_first?: boolean; padding_value?: Real; padding_side?: string },
  ): Tensor;
  pad_sequence(
    sequences: readonly Tensor[],
    batch_first?: boolean,
    options?: { padding_value?: Real; padding_side?: string },
  ): Tensor;
  pairwise_distance(x1: Tensor, x2: Tensor, p?: Real, eps?: Real, keepdim?: boolean): Tensor;
  pairwise_distance(x1: Tensor, x2: Tensor, options?: { p?: Real; eps?: Real; keepdim?: boolean }): Tensor;
  pairwise_distance(x1: Tensor, x2: Tensor, p?: Real, options?: { eps?: Real; keepdim?: boolean }): Tensor;
  pdist(self: Tensor, p?: Real): Tensor;
  pdist(self: Tensor, options?: { p?: Real }): Tensor;
  permute(self: Tensor, dims: readonly Integer[]): Tensor;
  permute_copy(self: Tensor, dims: readonly Integer[]): Tensor;
  pin_memory(self: Tensor, device?: Device | null): Tensor;
  pin_memory(self: Tensor, options?: { device?: Device | null }): Tensor;
  pinverse(self: Tensor, rcond?: Real): Tensor;
  pinverse(self: Tensor, options?: { rcond?: Real }): Tensor;
  pixel_shuffle(self: Tensor, upscale_factor: Integer): Tensor;
  pixel_unshuffle(self: Tensor, downscale_factor: Integer): Tensor;
  poisson(self: Tensor): Tensor;
  poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: boolean,
    full: boolean,
    eps: Real,
    reduction: Integer,
  ): Tensor;
  polar(abs: Tensor, angle: Tensor): Tensor;
  polygamma(n: Integer, self: Tensor): Tensor;
  polygamma_(self: Tensor, n: Integer): Tensor;
  positive(self: Tensor): Tensor;
  pow(self: Scalar, exponent: Tensor): Tensor;
  pow(self: Tensor, exponent: Scalar): Tensor;
  pow(self: Tensor, exponent: Tensor): Tensor;
  pow_(self: Tensor, exponent: Scalar): Tensor;
  pow_(self: Tensor, exponent: Tensor): Tensor;
  prelu(self: Tensor, weight: Tensor): Tensor;
  prod(self: Tensor, options?: { dtype?: Dtype | null }): Tensor;
  prod(self: Tensor, dim: Integer, keepdim?: boolean, options?: { dtype?: Dtype | null }): Tensor;
  prod(self: Tensor, dim: Integer, options?: { keepdim?: boolean; dtype?: Dtype | null }): Tensor;
  promote_types(type1: Dtype, type2: Dtype): Dtype;
  put(self: Tensor, index: Tensor, source: Tensor, accumulate?: boolean): Tensor;
  put(self: Tensor, index: Tensor, source: Tensor, options?: { accumulate?: boolean }): Tensor;
  put_(self: Tensor, index: Tensor, source: Tensor, accumulate?: boolean): Tensor;
  put_(self: Tensor, index: Tensor, source: Tensor, options?: { accumulate?: boolean }): Tensor;
  q_per_channel_axis(self: Tensor): number;
  q_per_channel_scales(self: Tensor): Tensor;
  q_per_channel_zero_points(self: Tensor): Tensor;
  q_scale(self: Tensor): number;
  q_zero_point(self: Tensor): number;
  quantile(
    self: Tensor,
    q: Tensor,
    dim?: Integer | null,
    keepdim?: boolean,
    options?: { interpolation?: string },
  ): Tensor;
  quantile(
    self: Tensor,
    q: Tensor,
    options?: { dim?: Integer | null; keepdim?: boolean; interpolation?: string },
  ): Tensor;
  quantile(
    self: Tensor,
    q: Real,
    dim?: Integer | null,
    keepdim?: boolean,
    options?: { interpolation?: string },
  ): Tensor;
  quantile(
    self: Tensor,
    q: Real,
    options?: { dim?: Integer | null; keepdim?: boolean; interpolation?: string },
  ): Tensor;
  quantize_per_channel(self: Tensor, scales: Tensor, zero_points: Tensor, axis: Integer, dtype: Dtype): Tensor;
  quantize_per_tensor(self: Tensor, scale: Real, zero_point: Integer, dtype: Dtype): Tensor;
  quantize_per_tensor(self: Tensor, scale: Tensor, zero_point: Tensor, dtype: Dtype): Tensor;
  quantize_per_tensor(tensors: readonly Tensor[], scales: Tensor, zero_points: Tensor, dtype: Dtype): Tensor[];
  quantize_per_tensor_dynamic(self: Tensor, dtype: Dtype, reduce_range: boolean): Tensor;
  quantized_batch_norm(
    input: Tensor,
    weight: Tensor | null,
    bias: Tensor | null,
    mean: Tensor,
    var_: Tensor,
    eps: Real,
    output_scale: Real,
    output_zero_point: Integer,
  ): Tensor;
  quantized_gru(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: readonly Tensor[],
    has_biases: boolean,
    num_layers: Integer,
    dropout: Real,
    train: boolean,
    bidirectional: boolean,
  ): [Tensor, Tensor];
  quantized_gru(
    input: Tensor,
    hx: Tensor,
    params: readonly Tensor[],
    has_biases: boolean,
    num_layers: Integer,
    dropout: Real,
    train: boolean,
    bidirectional: boolean,
    batch_first: boolean,
  ): [Tensor, Tensor];
  quantized_gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor,
    b_hh: Tensor,
    packed_ih: Tensor,
    packed_hh: Tensor,
    col_offsets_ih: Tensor,
    col_offsets_hh: Tensor,
    scale_ih: Scalar,
    scale_hh: Scalar,
    zero_point_ih: Scalar,
    zero_point_hh: Scalar,
  ): Tensor;
  quantized_lstm(
    data: Tensor,
    batch_sizes: Tensor,
    hx: readonly Tensor[],
    params: readonly Tensor[],
    has_biases: boolean,
    num_layers: Integer,
    dropout: Real,
    train: boolean,
    bidirectional: boolean,
    options?: { dtype?: Dtype | null; use_dynamic?: boolean },
  ): [Tensor, Tensor, Tensor];
  quantized_lstm(
    input: Tensor,
    hx: readonly Tensor[],
    params: readonly Tensor[],
    has_biases: boolean,
    num_layers: Integer,
    dropout: Real,
    train: boolean,
    bidirectional: boolean,
    batch_first: boolean,
    options?: { dtype?: Dtype | null; use_dynamic?: boolean },
  ): [Tensor, Tensor, Tensor];
  quantized_lstm_cell(
    input: Tensor,
    hx: readonly Tensor[],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor,
    b_hh: Tensor,
    packed_ih: Tensor,
    packed_hh: Tensor,
    col_offsets_ih: Tensor,
    col_offsets_hh: Tensor,
    scale_ih: Scalar,
    scale_hh: Scalar,
    zero_point_ih: Scalar,
    zero_point_hh: Scalar,
  ): [Tensor, Tensor];
  quantized_max_pool1d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  quantized_max_pool1d(
    self: Tensor,
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  quantized_max_pool1d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  quantized_max_pool2d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  quantized_max_pool2d(
    self: Tensor,
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  quantized_max_pool2d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  /** Since libtorch 2.1. */
  quantized_max_pool3d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  /** Since libtorch 2.1. */
  quantized_max_pool3d(
    self: Tensor,
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  /** Since libtorch 2.1. */
  quantized_max_pool3d(
    self: Tensor,
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  quantized_rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor,
    b_hh: Tensor,
    packed_ih: Tensor,
    packed_hh: Tensor,
    col_offsets_ih: Tensor,
    col_offsets_hh: Tensor,
    scale_ih: Scalar,
    scale_hh: Scalar,
    zero_point_ih: Scalar,
    zero_point_hh: Scalar,
  ): Tensor;
  quantized_rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor,
    b_hh: Tensor,
    packed_ih: Tensor,
    packed_hh: Tensor,
    col_offsets_ih: Tensor,
    col_offsets_hh: Tensor,
    scale_ih: Scalar,
    scale_hh: Scalar,
    zero_point_ih: Scalar,
    zero_point_hh: Scalar,
  ): Tensor;
  rad2deg(self: Tensor): Tensor;
  rad2deg_(self: Tensor): Tensor;
  rand(
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  rand_like(
    self: Tensor,
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      memory_format?: MemoryFormat | null;
    },
  ): Tensor;
  randint(
    high: Integer,
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  randint(
    low: Integer,
    high: Integer,
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  randint_like(
    self: Tensor,
    high: Integer,
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      memory_format?: MemoryFormat | null;
    },
  ): Tensor;
  /** Since libtorch 2.8. */
  randint_like(
    self: Tensor,
    high: Tensor,
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      memory_format?: MemoryFormat | null;
    },
  ): Tensor;
  randint_like(
    self: Tensor,
    low: Integer,
    high: Integer,
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      memory_format?: MemoryFormat | null;
    },
  ): Tensor;
  randn(
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  randn_like(
    self: Tensor,
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      memory_format?: MemoryFormat | null;
    },
  ): Tensor;
  random(self: Tensor): Tensor;
  random(self: Tensor, from: Integer, to: Integer | null): Tensor;
  random(self: Tensor, to: Integer): Tensor;
  random_(self: Tensor): Tensor;
  random_(self: Tensor, from: Integer, to: Integer | null): Tensor;
  random_(self: Tensor, to: Integer): Tensor;
  randperm(
    n: Integer,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  range(
    start: Scalar,
    end: Scalar,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  range(
    start: Scalar,
    end: Scalar,
    step?: Scalar,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  range(
    start: Scalar,
    end: Scalar,
    options?: {
      step?: Scalar;
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
    },
  ): Tensor;
  ravel(self: Tensor): Tensor;
  real(self: Tensor): Tensor;
  reciprocal(self: Tensor): Tensor;
  reciprocal_(self: Tensor): Tensor;
  reflection_pad1d(self: Tensor, padding: Integers): Tensor;
  reflection_pad1d_backward(grad_output: Tensor, self: Tensor, padding: Integers): Tensor;
  reflection_pad2d(self: Tensor, padding: Integers): Tensor;
  reflection_pad2d_backward(grad_output: Tensor, self: Tensor, padding: Integers): Tensor;
  reflection_pad3d(self: Tensor, padding: Integers): Tensor;
  reflection_pad3d_backward(grad_output: Tensor, self: Tensor, padding: Integers): Tensor;
  relu(self: Tensor): Tensor;
  relu6(self: Tensor): Tensor;
  relu6_(self: Tensor): Tensor;
  relu_(self: Tensor): Tensor;
  remainder(self: Tensor, other: Scalar): Tensor;
  remainder(self: Scalar, other: Tensor): Tensor;
  remainder(self: Tensor, other: Tensor): Tensor;
  remainder_(self: Tensor, other: Scalar): Tensor;
  remainder_(self: Tensor, other: Tensor): Tensor;
  renorm(self: Tensor, p: Scalar, dim: Integer, maxnorm: Scalar): Tensor;
  renorm_(self: Tensor, p: Scalar, dim: Integer, maxnorm: Scalar): Tensor;
  repeat(self: Tensor, repeats: readonly Integer[]): Tensor;
  repeat_interleave(repeats: Tensor, options?: { output_size?: Integer | null }): Tensor;
  repeat_interleave(
    self: Tensor,
    repeats: Tensor,
    dim?: Integer | null,
    options?: { output_size?: Integer | null },
  ): Tensor;
  repeat_interleave(
    self: Tensor,
    repeats: Tensor,
    options?: { dim?: Integer | null; output_size?: Integer | null },
  ): Tensor;
  repeat_interleave(
    self: Tensor,
    repeats: Integer,
    dim?: Integer | null,
    options?: { output_size?: Integer | null },
  ): Tensor;
  repeat_interleave(
    self: Tensor,
    repeats: Integer,
    options?: { dim?: Integer | null; output_size?: Integer | null },
  ): Tensor;
  replication_pad1d(self: Tensor, padding: Integers): Tensor;
  replication_pad1d_backward(grad_output: Tensor, self: Tensor, padding: Integers): Tensor;
  replication_pad2d(self: Tensor, padding: Integers): Tensor;
  replication_pad2d_backward(grad_output: Tensor, self: Tensor, padding: Integers): Tensor;
  replication_pad3d(self: Tensor, padding: Integers): Tensor;
  replication_pad3d_backward(grad_output: Tensor, self: Tensor, padding: Integers): Tensor;
  reshape(self: Tensor, shape: readonly Integer[]): Tensor;
  reshape_as(self: Tensor, other: Tensor): Tensor;
  resize(self: Tensor, size: readonly Integer[], options?: { memory_format?: MemoryFormat | null }): Tensor;
  resize_(self: Tensor, size: readonly Integer[], options?: { memory_format?: MemoryFormat | null }): Tensor;
  resize_as(self: Tensor, the_template: Tensor, options?: { memory_format?: MemoryFormat | null }): Tensor;
  resize_as_(self: Tensor, the_template: Tensor, options?: { memory_format?: MemoryFormat | null }): Tensor;
  resize_as_sparse(self: Tensor, the_template: Tensor): Tensor;
  resize_as_sparse_(self: Tensor, the_template: Tensor): Tensor;
  resolve_conj(self: Tensor): Tensor;
  resolve_neg(self: Tensor): Tensor;
  result_type(tensor: Tensor, other: Scalar): Dtype;
  result_type(scalar1: Scalar, scalar2: Scalar): Dtype;
  result_type(scalar: Scalar, tensor: Tensor): Dtype;
  result_type(tensor: Tensor, other: Tensor): Dtype;
  retains_grad(self: Tensor): boolean;
  /** Since libtorch 2.4. */
  rms_norm(input: Tensor, normalized_shape: readonly Integer[], weight?: Tensor | null, eps?: Real | null): Tensor;
  /** Since libtorch 2.4. */
  rms_norm(
    input: Tensor,
    normalized_shape: readonly Integer[],
    options?: { weight?: Tensor | null; eps?: Real | null },
  ): Tensor;
  rnn_relu(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: readonly Tensor[],
    has_biases: boolean,
    num_layers: Integer,
    dropout: Real,
    train: boolean,
    bidirectional: boolean,
  ): [Tensor, Tensor];
  rnn_relu(
    input: Tensor,
    hx: Tensor,
    params: readonly Tensor[],
    has_biases: boolean,
    num_layers: Integer,
    dropout: Real,
    train: boolean,
    bidirectional: boolean,
    batch_first: boolean,
  ): [Tensor, Tensor];
  rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih?: Tensor | null,
    b_hh?: Tensor | null,
  ): Tensor;
  rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    options?: { b_ih?: Tensor | null; b_hh?: Tensor | null },
  ): Tensor;
  rnn_tanh(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Tensor,
    params: readonly Tensor[],
    has_biases: boolean,
    num_layers: Integer,
    dropout: Real,
    train: boolean,
    bidirectional: boolean,
  ): [Tensor, Tensor];
  rnn_tanh(
    input: Tensor,
    hx: Tensor,
    params: readonly Tensor[],
    has_biases: boolean,
    num_layers: Integer,
    dropout: Real,
    train: boolean,
    bidirectional: boolean,
    batch_first: boolean,
  ): [Tensor, Tensor];
  rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih?: Tensor | null,
    b_hh?: Tensor | null,
  ): Tensor;
  rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    options?: { b_ih?: Tensor | null; b_hh?: Tensor | null },
  ): Tensor;
  roll(self: Tensor, shifts: Integers, dims?: Integers): Tensor;
  roll(self: Tensor, shifts: Integers, options?: { dims?: Integers }): Tensor;
  rot90(self: Tensor, k?: Integer, dims?: readonly Integer[]): Tensor;
  rot90(self: Tensor, options?: { k?: Integer; dims?: readonly Integer[] }): Tensor;
  round(self: Tensor): Tensor;
  round(self: Tensor, options: { decimals: Integer }): Tensor;
  round_(self: Tensor): Tensor;
  round_(self: Tensor, options: { decimals: Integer }): Tensor;
  row_indices(self: Tensor): Tensor;
  row_indices_copy(self: Tensor): Tensor;
  row_stack(tensors: readonly Tensor[]): Tensor;
  rrelu(self: Tensor, lower?: Scalar, upper?: Scalar, training?: boolean): Tensor;
  rrelu(self: Tensor, options?: { lower?: Scalar; upper?: Scalar; training?: boolean }): Tensor;
  rrelu(self: Tensor, lower?: Scalar, options?: { upper?: Scalar; training?: boolean }): Tensor;
  rrelu_(self: Tensor, lower?: Scalar, upper?: Scalar, training?: boolean): Tensor;
  rrelu_(self: Tensor, options?: { lower?: Scalar; upper?: Scalar; training?: boolean }): Tensor;
  rrelu_(self: Tensor, lower?: Scalar, options?: { upper?: Scalar; training?: boolean }): Tensor;
  rrelu_with_noise(self: Tensor, noise: Tensor, lower?: Scalar, upper?: Scalar, training?: boolean): Tensor;
  rrelu_with_noise(
    self: Tensor,
    noise: Tensor,
    options?: { lower?: Scalar; upper?: Scalar; training?: boolean },
  ): Tensor;
  rrelu_with_noise(
    self: Tensor,
    noise: Tensor,
    lower?: Scalar,
    options?: { upper?: Scalar; training?: boolean },
  ): Tensor;
  rrelu_with_noise_(self: Tensor, noise: Tensor, lower?: Scalar, upper?: Scalar, training?: boolean): Tensor;
  rrelu_with_noise_(
    self: Tensor,
    noise: Tensor,
    options?: { lower?: Scalar; upper?: Scalar; training?: boolean },
  ): Tensor;
  rrelu_with_noise_(
    self: Tensor,
    noise: Tensor,
    lower?: Scalar,
    options?: { upper?: Scalar; training?: boolean },
  ): Tensor;
  rrelu_with_noise_backward(
    grad_output: Tensor,
    self: Tensor,
    noise: Tensor,
    lower: Scalar,
    upper: Scalar,
    training: boolean,
    self_is_result: boolean,
  ): Tensor;
  /** Since libtorch 2.6. */
  rrelu_with_noise_functional(
    self: Tensor,
    noise: Tensor,
    lower?: Scalar,
    upper?: Scalar,
    training?: boolean,
  ): [Tensor, Tensor];
  /** Since libtorch 2.6. */
  rrelu_with_noise_functional(
    self: Tensor,
    noise: Tensor,
    options?: { lower?: Scalar; upper?: Scalar; training?: boolean },
  ): [Tensor, Tensor];
  /** Since libtorch 2.6. */
  rrelu_with_noise_functional(
    self: Tensor,
    noise: Tensor,
    lower?: Scalar,
    options?: { upper?: Scalar; training?: boolean },
  ): [Tensor, Tensor];
  rsqrt(self: Tensor): Tensor;
  rsqrt_(self: Tensor): Tensor;
  rsub(self: Tensor, other: Scalar, alpha?: Scalar): Tensor;
  rsub(self: Tensor, other: Scalar, options?: { alpha?: Scalar }): Tensor;
  rsub(self: Tensor, other: Tensor, options?: { alpha?: Scalar }): Tensor;
  scalar_tensor(
    s: Scalar,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  /** Since libtorch 2.0. */
  scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask?: Tensor | null,
    dropout_p?: Real,
    is_causal?: boolean,
    options?: { scale?: Real | null; enable_gqa?: boolean },
  ): Tensor;
  /** Since libtorch 2.0. */
  scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    options?: {
      attn_mask?: Tensor | null;
      dropout_p?: Real;
      is_causal?: boolean;
      scale?: Real | null;
      enable_gqa?: boolean;
    },
  ): Tensor;
  /** Since libtorch 2.0. */
  scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask?: Tensor | null,
    options?: { dropout_p?: Real; is_causal?: boolean; scale?: Real | null; enable_gqa?: boolean },
  ): Tensor;
  scatter(self: Tensor, dim: Integer, index: Tensor, src: Tensor, options: { reduce: string }): Tensor;
  scatter(self: Tensor, dim: Integer, index: Tensor, src: Tensor): Tensor;
  scatter(self: Tensor, dim: Integer, index: Tensor, value: Scalar): Tensor;
  scatter(self: Tensor, dim: Integer, index: Tensor, value: Scalar, options: { reduce: string }): Tensor;
  scatter_(self: Tensor, dim: Integer, index: Tensor, src: Tensor, options: { reduce: string }): Tensor;
  scatter_(self: Tensor, dim: Integer, index: Tensor, src: Tensor): Tensor;
  scatter_(self: Tensor, dim: Integer, index: Tensor, value: Scalar): Tensor;
  scatter_(self: Tensor, dim: Integer, index: Tensor, value: Scalar, options: { reduce: string }): Tensor;
  scatter_add(self: Tensor, dim: Integer, index: Tensor, src: Tensor): Tensor;
  scatter_add_(self: Tensor, dim: Integer, index: Tensor, src: Tensor): Tensor;
  scatter_reduce(
    self: Tensor,
    dim: Integer,
    index: Tensor,
    src: Tensor,
    reduce: string,
    options?: { include_self?: boolean },
  ): Tensor;
  scatter_reduce_(
    self: Tensor,
    dim: Integer,
    index: Tensor,
    src: Tensor,
    reduce: string,
    options?: { include_self?: boolean },
  ): Tensor;
  searchsorted(
    sorted_sequence: Tensor,
    self: Scalar,
    options?: { out_int32?: boolean; right?: boolean; side?: string | null; sorter?: Tensor | null },
  ): Tensor;
  searchsorted(
    sorted_sequence: Tensor,
    self: Tensor,
    options?: { out_int32?: boolean; right?: boolean; side?: string | null; sorter?: Tensor | null },
  ): Tensor;
  segment_reduce(
    data: Tensor,
    reduce: string,
    options?: {
      lengths?: Tensor | null;
      indices?: Tensor | null;
      offsets?: Tensor | null;
      axis?: Integer;
      unsafe?: boolean;
      initial?: Scalar | null;
    },
  ): Tensor;
  select(self: Tensor, dim: Integer, index: Integer): Tensor;
  select_backward(grad_output: Tensor, input_sizes: readonly Integer[], dim: Integer, index: Integer): Tensor;
  select_copy(self: Tensor, dim: Integer, index: Integer): Tensor;
  select_scatter(self: Tensor, src: Tensor, dim: Integer, index: Integer): Tensor;
  selu(self: Tensor): Tensor;
  selu_(self: Tensor): Tensor;
  set(self: Tensor): Tensor;
  set(self: Tensor, source: Tensor): Tensor;
  sgn(self: Tensor): Tensor;
  sgn_(self: Tensor): Tensor;
  sigmoid(self: Tensor): Tensor;
  sigmoid_(self: Tensor): Tensor;
  sigmoid_backward(grad_output: Tensor, output: Tensor): Tensor;
  sign(self: Tensor): Tensor;
  sign_(self: Tensor): Tensor;
  signbit(self: Tensor): Tensor;
  silu(self: Tensor): Tensor;
  silu_(self: Tensor): Tensor;
  silu_backward(grad_output: Tensor, self: Tensor): Tensor;
  sin(self: Tensor): Tensor;
  sin_(self: Tensor): Tensor;
  sinc(self: Tensor): Tensor;
  sinc_(self: Tensor): Tensor;
  sinh(self: Tensor): Tensor;
  sinh_(self: Tensor): Tensor;
  size(self: Tensor, dim: Integer): number;
  slice(self: Tensor, dim?: Integer, start?: Integer | null, end?: Integer | null, step?: Integer): Tensor;
  slice(
    self: Tensor,
    options?: { dim?: Integer; start?: Integer | null; end?: Integer | null; step?: Integer },
  ): Tensor;
  slice(
    self: Tensor,
    dim?: Integer,
    options?: { start?: Integer | null; end?: Integer | null; step?: Integer },
  ): Tensor;
  slice_backward(
    grad_output: Tensor,
    input_sizes: readonly Integer[],
    dim: Integer,
    start: Integer,
    end: Integer,
    step: Integer,
  ): Tensor;
  slice_copy(self: Tensor, dim?: Integer, start?: Integer | null, end?: Integer | null, step?: Integer): Tensor;
  slice_copy(
    self: Tensor,
    options?: { dim?: Integer; start?: Integer | null; end?: Integer | null; step?: Integer },
  ): Tensor;
  slice_copy(
    self: Tensor,
    dim?: Integer,
    options?: { start?: Integer | null; end?: Integer | null; step?: Integer },
  ): Tensor;
  /** Since libtorch 2.3. */
  slice_inverse(
    self: Tensor,
    src: Tensor,
    dim?: Integer,
    start?: Integer | null,
    end?: Integer | null,
    step?: Integer,
  ): Tensor;
  /** Since libtorch 2.3. */
  slice_inverse(
    self: Tensor,
    src: Tensor,
    options?: { dim?: Integer; start?: Integer | null; end?: Integer | null; step?: Integer },
  ): Tensor;
  /** Since libtorch 2.3. */
  slice_inverse(
    self: Tensor,
    src: Tensor,
    dim?: Integer,
    options?: { start?: Integer | null; end?: Integer | null; step?: Integer },
  ): Tensor;
  slice_scatter(
    self: Tensor,
    src: Tensor,
    dim?: Integer,
    start?: Integer | null,
    end?: Integer | null,
    step?: Integer,
  ): Tensor;
  slice_scatter(
    self: Tensor,
    src: Tensor,
    options?: { dim?: Integer; start?: Integer | null; end?: Integer | null; step?: Integer },
  ): Tensor;
  slice_scatter(
    self: Tensor,
    src: Tensor,
    dim?: Integer,
    options?: { start?: Integer | null; end?: Integer | null; step?: Integer },
  ): Tensor;
  slogdet(self: Tensor): [sign: Tensor, logabsdet: Tensor];
  slow_conv3d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
  ): Tensor;
  slow_conv3d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    options?: { bias?: Tensor | null; stride?: Integers; padding?: Integers },
  ): Tensor;
  slow_conv3d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: Integers },
  ): Tensor;
  slow_conv3d_forward(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    bias: Tensor | null,
    stride: Integers,
    padding: Integers,
  ): Tensor;
  slow_conv_dilated2d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
  ): Tensor;
  slow_conv_dilated2d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    options?: { bias?: Tensor | null; stride?: Integers; padding?: Integers; dilation?: Integers },
  ): Tensor;
  slow_conv_dilated2d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers },
  ): Tensor;
  slow_conv_dilated3d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
  ): Tensor;
  slow_conv_dilated3d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    options?: { bias?: Tensor | null; stride?: Integers; padding?: Integers; dilation?: Integers },
  ): Tensor;
  slow_conv_dilated3d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers },
  ): Tensor;
  slow_conv_transpose2d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
    output_padding?: Integers,
    dilation?: Integers,
  ): Tensor;
  slow_conv_transpose2d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    options?: {
      bias?: Tensor | null;
      stride?: Integers;
      padding?: Integers;
      output_padding?: Integers;
      dilation?: Integers;
    },
  ): Tensor;
  slow_conv_transpose2d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: Integers; output_padding?: Integers; dilation?: Integers },
  ): Tensor;
  slow_conv_transpose3d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
    output_padding?: Integers,
    dilation?: Integers,
  ): Tensor;
  slow_conv_transpose3d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    options?: {
      bias?: Tensor | null;
      stride?: Integers;
      padding?: Integers;
      output_padding?: Integers;
      dilation?: Integers;
    },
  ): Tensor;
  slow_conv_transpose3d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: Integers; output_padding?: Integers; dilation?: Integers },
  ): Tensor;
  smm(self: Tensor, mat2: Tensor): Tensor;
  smooth_l1_loss(self: Tensor, target: Tensor, reduction?: Integer, beta?: Real): Tensor;
  smooth_l1_loss(self: Tensor, target: Tensor, options?: { reduction?: Integer; beta?: Real }): Tensor;
  smooth_l1_loss_backward(grad_output: Tensor, self: Tensor, target: Tensor, reduction: Integer, beta: Real): Tensor;
  soft_margin_loss(self: Tensor, target: Tensor, reduction?: Integer): Tensor;
  soft_margin_loss(self: Tensor, target: Tensor, options?: { reduction?: Integer }): Tensor;
  soft_margin_loss_backward(grad_output: Tensor, self: Tensor, target: Tensor, reduction: Integer): Tensor;
  softmax(self: Tensor, dim: Integer, dtype?: Dtype | null): Tensor;
  softmax(self: Tensor, dim: Integer, options?: { dtype?: Dtype | null }): Tensor;
  softplus(self: Tensor, beta?: Scalar, threshold?: Scalar): Tensor;
  softplus(self: Tensor, options?: { beta?: Scalar; threshold?: Scalar }): Tensor;
  softplus_backward(grad_output: Tensor, self: Tensor, beta: Scalar, threshold: Scalar): Tensor;
  softshrink(self: Tensor, lambd?: Scalar): Tensor;
  softshrink(self: Tensor, options?: { lambd?: Scalar }): Tensor;
  softshrink_backward(grad_output: Tensor, self: Tensor, lambd: Scalar): Tensor;
  sort(self: Tensor, dim?: Integer, descending?: boolean): [values: Tensor, indices: Tensor];
  sort(self: Tensor, options?: { dim?: Integer; descending?: boolean }): [values: Tensor, indices: Tensor];
  sort(
    self: Tensor,
    options: { stable: boolean | null; dim?: Integer; descending?: boolean },
  ): [values: Tensor, indices: Tensor];
  sparse_bsc_tensor(
    ccol_indices: Tensor,
    row_indices: Tensor,
    values: Tensor,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  sparse_bsc_tensor(
    ccol_indices: Tensor,
    row_indices: Tensor,
    values: Tensor,
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  sparse_bsr_tensor(
    crow_indices: Tensor,
    col_indices: Tensor,
    values: Tensor,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  sparse_bsr_tensor(
    crow_indices: Tensor,
    col_indices: Tensor,
    values: Tensor,
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  sparse_compressed_tensor(
    compressed_indices: Tensor,
    plain_indices: Tensor,
    values: Tensor,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  sparse_compressed_tensor(
    compressed_indices: Tensor,
    plain_indices: Tensor,
    values: Tensor,
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  sparse_coo_tensor(
    indices: Tensor,
    values: Tensor,
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      is_coalesced?: boolean | null;
    },
  ): Tensor;
  sparse_coo_tensor(
    indices: Tensor,
    values: Tensor,
    size: readonly Integer[],
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      is_coalesced?: boolean | null;
    },
  ): Tensor;
  sparse_coo_tensor(
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  sparse_csc_tensor(
    ccol_indices: Tensor,
    row_indices: Tensor,
    values: Tensor,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  sparse_csc_tensor(
    ccol_indices: Tensor,
    row_indices: Tensor,
    values: Tensor,
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  sparse_csr_tensor(
    crow_indices: Tensor,
    col_indices: Tensor,
    values: Tensor,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  sparse_csr_tensor(
    crow_indices: Tensor,
    col_indices: Tensor,
    values: Tensor,
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  sparse_dim(self: Tensor): number;
  sparse_mask(self: Tensor, mask: Tensor): Tensor;
  sparse_resize(self: Tensor, size: readonly Integer[], sparse_dim: Integer, dense_dim: Integer): Tensor;
  sparse_resize_(self: Tensor, size: readonly Integer[], sparse_dim: Integer, dense_dim: Integer): Tensor;
  sparse_resize_and_clear(self: Tensor, size: readonly Integer[], sparse_dim: Integer, dense_dim: Integer): Tensor;
  sparse_resize_and_clear_(self: Tensor, size: readonly Integer[], sparse_dim: Integer, dense_dim: Integer): Tensor;
  sparse_sampled_addmm(self: Tensor, mat1: Tensor, mat2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  special_airy_ai(x: Tensor): Tensor;
  special_bessel_j0(self: Tensor): Tensor;
  special_bessel_j1(self: Tensor): Tensor;
  special_bessel_y0(self: Tensor): Tensor;
  special_bessel_y1(self: Tensor): Tensor;
  special_chebyshev_polynomial_t(x: Tensor, n: Tensor): Tensor;
  special_chebyshev_polynomial_t(x: Tensor, n: Scalar): Tensor;
  special_chebyshev_polynomial_t(x: Scalar, n: Tensor): Tensor;
  special_chebyshev_polynomial_u(x: Tensor, n: Tensor): Tensor;
  special_chebyshev_polynomial_u(x: Tensor, n: Scalar): Tensor;
  special_chebyshev_polynomial_u(x: Scalar, n: Tensor): Tensor;
  special_chebyshev_polynomial_v(x: Tensor, n: Tensor): Tensor;
  special_chebyshev_polynomial_v(x: Tensor, n: Scalar): Tensor;
  special_chebyshev_polynomial_v(x: Scalar, n: Tensor): Tensor;
  special_chebyshev_polynomial_w(x: Tensor, n: Tensor): Tensor;
  special_chebyshev_polynomial_w(x: Tensor, n: Scalar): Tensor;
  special_chebyshev_polynomial_w(x: Scalar, n: Tensor): Tensor;
  special_digamma(self: Tensor): Tensor;
  special_entr(self: Tensor): Tensor;
  special_erf(self: Tensor): Tensor;
  special_erfc(self: Tensor): Tensor;
  special_erfcx(self: Tensor): Tensor;
  special_erfinv(self: Tensor): Tensor;
  special_exp2(self: Tensor): Tensor;
  special_expit(self: Tensor): Tensor;
  special_expm1(self: Tensor): Tensor;
  special_gammainc(self: Tensor, other: Tensor): Tensor;
  special_gammaincc(self: Tensor, other: Tensor): Tensor;
  special_gammaln(self: Tensor): Tensor;
  special_hermite_polynomial_h(x: Tensor, n: Tensor): Tensor;
  special_hermite_polynomial_h(x: Tensor, n: Scalar): Tensor;
  special_hermite_polynomial_h(x: Scalar, n: Tensor): Tensor;
  special_hermite_polynomial_he(x: Tensor, n: Tensor): Tensor;
  special_hermite_polynomial_he(x: Tensor, n: Scalar): Tensor;
  special_hermite_polynomial_he(x: Scalar, n: Tensor): Tensor;
  special_i0(self: Tensor): Tensor;
  special_i0e(self: Tensor): Tensor;
  special_i1(self: Tensor): Tensor;
  special_i1e(self: Tensor): Tensor;
  special_laguerre_polynomial_l(x: Tensor, n: Tensor): Tensor;
  special_laguerre_polynomial_l(x: Tensor, n: Scalar): Tensor;
  special_laguerre_polynomial_l(x: Scalar, n: Tensor): Tensor;
  special_legendre_polynomial_p(x: Tensor, n: Tensor): Tensor;
  special_legendre_polynomial_p(x: Tensor, n: Scalar): Tensor;
  special_legendre_polynomial_p(x: Scalar, n: Tensor): Tensor;
  special_log1p(self: Tensor): Tensor;
  special_log_ndtr(self: Tensor): Tensor;
  special_log_softmax(self: Tensor, dim: Integer, options?: { dtype?: Dtype | null }): Tensor;
  special_logit(self: Tensor, eps?: Real | null): Tensor;
  special_logit(self: Tensor, options?: { eps?: Real | null }): Tensor;
  special_logsumexp(self: Tensor, dim: Integers, keepdim?: boolean): Tensor;
  special_logsumexp(self: Tensor, dim: Integers, options?: { keepdim?: boolean }): Tensor;
  special_modified_bessel_i0(self: Tensor): Tensor;
  special_modified_bessel_i1(self: Tensor): Tensor;
  special_modified_bessel_k0(self: Tensor): Tensor;
  special_modified_bessel_k1(self: Tensor): Tensor;
  special_multigammaln(self: Tensor, p: Integer): Tensor;
  special_ndtr(self: Tensor): Tensor;
  special_ndtri(self: Tensor): Tensor;
  special_polygamma(n: Integer, self: Tensor): Tensor;
  special_psi(self: Tensor): Tensor;
  special_round(self: Tensor, options?: { decimals?: Integer }): Tensor;
  special_scaled_modified_bessel_k0(x: Tensor): Tensor;
  special_scaled_modified_bessel_k1(x: Tensor): Tensor;
  special_shifted_chebyshev_polynomial_t(x: Tensor, n: Tensor): Tensor;
  special_shifted_chebyshev_polynomial_t(x: Tensor, n: Scalar): Tensor;
  special_shifted_chebyshev_polynomial_t(x: Scalar, n: Tensor): Tensor;
  special_shifted_chebyshev_polynomial_u(x: Tensor, n: Tensor): Tensor;
  special_shifted_chebyshev_polynomial_u(x: Tensor, n: Scalar): Tensor;
  special_shifted_chebyshev_polynomial_u(x: Scalar, n: Tensor): Tensor;
  special_shifted_chebyshev_polynomial_v(x: Tensor, n: Tensor): Tensor;
  special_shifted_chebyshev_polynomial_v(x: Tensor, n: Scalar): Tensor;
  special_shifted_chebyshev_polynomial_v(x: Scalar, n: Tensor): Tensor;
  special_shifted_chebyshev_polynomial_w(x: Tensor, n: Tensor): Tensor;
  special_shifted_chebyshev_polynomial_w(x: Tensor, n: Scalar): Tensor;
  special_shifted_chebyshev_polynomial_w(x: Scalar, n: Tensor): Tensor;
  special_sinc(self: Tensor): Tensor;
  special_softmax(self: Tensor, dim: Integer, dtype?: Dtype | null): Tensor;
  special_softmax(self: Tensor, dim: Integer, options?: { dtype?: Dtype | null }): Tensor;
  special_spherical_bessel_j0(x: Tensor): Tensor;
  special_xlog1py(self: Tensor, other: Tensor): Tensor;
  special_xlog1py(self: Tensor, other: Scalar): Tensor;
  special_xlog1py(self: Scalar, other: Tensor): Tensor;
  special_xlogy(self: Tensor, other: Tensor): Tensor;
  special_xlogy(self: Tensor, other: Scalar): Tensor;
  special_xlogy(self: Scalar, other: Tensor): Tensor;
  special_zeta(self: Tensor, other: Tensor): Tensor;
  special_zeta(self: Tensor, other: Scalar): Tensor;
  special_zeta(self: Scalar, other: Tensor): Tensor;
  split(self: Tensor, split_size: Integer, dim?: Integer): Tensor[];
  split(self: Tensor, split_size: Integer, options?: { dim?: Integer }): Tensor[];
  split(self: Tensor, split_size: readonly Integer[], dim?: Integer): Tensor[];
  split(self: Tensor, split_size: readonly Integer[], options?: { dim?: Integer }): Tensor[];
  split_copy(self: Tensor, split_size: Integer, dim?: Integer): Tensor[];
  split_copy(self: Tensor, split_size: Integer, options?: { dim?: Integer }): Tensor[];
  split_with_sizes(self: Tensor, split_sizes: readonly Integer[], dim?: Integer): Tensor[];
  split_with_sizes(self: Tensor, split_sizes: readonly Integer[], options?: { dim?: Integer }): Tensor[];
  split_with_sizes_copy(self: Tensor, split_sizes: readonly Integer[], dim?: Integer): Tensor[];
  split_with_sizes_copy(self: Tensor, split_sizes: readonly Integer[], options?: { dim?: Integer }): Tensor[];
  sqrt(self: Tensor): Tensor;
  sqrt_(self: Tensor): Tensor;
  square(self: Tensor): Tensor;
  square_(self: Tensor): Tensor;
  squeeze(self: Tensor): Tensor;
  squeeze(self: Tensor, dim: Integer): Tensor;
  /** Since libtorch 2.0. */
  squeeze(self: Tensor, dim: readonly Integer[]): Tensor;
  squeeze_(self: Tensor): Tensor;
  squeeze_(self: Tensor, dim: Integer): Tensor;
  /** Since libtorch 2.0. */
  squeeze_(self: Tensor, dim: readonly Integer[]): Tensor;
  squeeze_copy(self: Tensor): Tensor;
  squeeze_copy(self: Tensor, dim: Integer): Tensor;
  /** Since libtorch 2.0. */
  squeeze_copy(self: Tensor, dim: readonly Integer[]): Tensor;
  sspaddmm(self: Tensor, mat1: Tensor, mat2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  stack(tensors: readonly Tensor[], dim?: Integer): Tensor;
  stack(tensors: readonly Tensor[], options?: { dim?: Integer }): Tensor;
  std(self: Tensor, unbiased?: boolean): Tensor;
  std(self: Tensor, options?: { unbiased?: boolean }): Tensor;
  std(self: Tensor, dim?: Integers | null, options?: { correction?: Scalar | null; keepdim?: boolean }): Tensor;
  std(self: Tensor, options?: { dim?: Integers | null; correction?: Scalar | null; keepdim?: boolean }): Tensor;
  std(self: Tensor, dim: Integers | null, unbiased?: boolean, keepdim?: boolean): Tensor;
  std(self: Tensor, dim: Integers | null, options?: { unbiased?: boolean; keepdim?: boolean }): Tensor;
  std_mean(self: Tensor, unbiased?: boolean): [Tensor, Tensor];
  std_mean(self: Tensor, options?: { unbiased?: boolean }): [Tensor, Tensor];
  std_mean(
    self: Tensor,
    dim?: Integers | null,
    options?: { correction?: Scalar | null; keepdim?: boolean },
  ): [Tensor, Tensor];
  std_mean(
    self: Tensor,
    options?: { dim?: Integers | null; correction?: Scalar | null; keepdim?: boolean },
  ): [Tensor, Tensor];
  std_mean(self: Tensor, dim: Integers | null, unbiased?: boolean, keepdim?: boolean): [Tensor, Tensor];
  std_mean(self: Tensor, dim: Integers | null, options?: { unbiased?: boolean; keepdim?: boolean }): [Tensor, Tensor];
  stft(
    self: Tensor,
    n_fft: Integer,
    hop_length?: Integer | null,
    win_length?: Integer | null,
    window?: Tensor | null,
    normalized?: boolean,
    onesided?: boolean | null,
    return_complex?: boolean | null,
    align_to_window?: boolean | null,
  ): Tensor;
  stft(
    self: Tensor,
    n_fft: Integer,
    options?: {
      hop_length?: Integer | null;
      win_length?: Integer | null;
      window?: Tensor | null;
      normalized?: boolean;
      onesided?: boolean | null;
      return_complex?: boolean | null;
      align_to_window?: boolean | null;
    },
  ): Tensor;
  stft(
    self: Tensor,
    n_fft: Integer,
    hop_length?: Integer | null,
    options?: {
      win_length?: Integer | null;
      window?: Tensor | null;
      normalized?: boolean;
      onesided?: boolean | null;
      return_complex?: boolean | null;
      align_to_window?: boolean | null;
    },
  ): Tensor;
  stft(
    self: Tensor,
    n_fft: Integer,
    hop_length?: Integer | null,
    win_length?: Integer | null,
    window?: Tensor | null,
    center?: boolean,
    pad_mode?: string,
    normalized?: boolean,
    onesided?: boolean | null,
    return_complex?: boolean | null,
    align_to_window?: boolean | null,
  ): Tensor;
  stft(
    self: Tensor,
    n_fft: Integer,
    options?: {
      hop_length?: Integer | null;
      win_length?: Integer | null;
      window?: Tensor | null;
      center?: boolean;
      pad_mode?: string;
      normalized?: boolean;
      onesided?: boolean | null;
      return_complex?: boolean | null;
      align_to_window?: boolean | null;
    },
  ): Tensor;
  stft(
    self: Tensor,
    n_fft: Integer,
    hop_length?: Integer | null,
    options?: {
      win_length?: Integer | null;
      window?: Tensor | null;
      center?: boolean;
      pad_mode?: string;
      normalized?: boolean;
      onesided?: boolean | null;
      return_complex?: boolean | null;
      align_to_window?: boolean | null;
    },
  ): Tensor;
  /** Since libtorch 2.12. */
  storage_offset(self: Tensor): number;
  stride(self: Tensor, dim: Integer): number;
  sub(self: Tensor, other: Scalar, alpha?: Scalar): Tensor;
  sub(self: Tensor, other: Scalar, options?: { alpha?: Scalar }): Tensor;
  sub(self: Tensor, other: Tensor, options?: { alpha?: Scalar }): Tensor;
  sub_(self: Tensor, other: Scalar, alpha?: Scalar): Tensor;
  sub_(self: Tensor, other: Scalar, options?: { alpha?: Scalar }): Tensor;
  sub_(self: Tensor, other: Tensor, options?: { alpha?: Scalar }): Tensor;
  subtract(self: Tensor, other: Scalar, alpha?: Scalar): Tensor;
  subtract(self: Tensor, other: Scalar, options?: { alpha?: Scalar }): Tensor;
  subtract(self: Tensor, other: Tensor, options?: { alpha?: Scalar }): Tensor;
  subtract_(self: Tensor, other: Scalar, alpha?: Scalar): Tensor;
  subtract_(self: Tensor, other: Scalar, options?: { alpha?: Scalar }): Tensor;
  subtract_(self: Tensor, other: Tensor, options?: { alpha?: Scalar }): Tensor;
  sum(self: Tensor, options?: { dtype?: Dtype | null }): Tensor;
  sum(self: Tensor, dim: Integers | null, keepdim?: boolean, options?: { dtype?: Dtype | null }): Tensor;
  sum(self: Tensor, dim: Integers | null, options?: { keepdim?: boolean; dtype?: Dtype | null }): Tensor;
  sum_to_size(self: Tensor, size: readonly Integer[]): Tensor;
  svd(self: Tensor, some?: boolean, compute_uv?: boolean): [U: Tensor, S: Tensor, V: Tensor];
  svd(self: Tensor, options?: { some?: boolean; compute_uv?: boolean }): [U: Tensor, S: Tensor, V: Tensor];
  swapaxes(self: Tensor, axis0: Integer, axis1: Integer): Tensor;
  swapaxes_(self: Tensor, axis0: Integer, axis1: Integer): Tensor;
  swapdims(self: Tensor, dim0: Integer, dim1: Integer): Tensor;
  swapdims_(self: Tensor, dim0: Integer, dim1: Integer): Tensor;
  t(self: Tensor): Tensor;
  t_(self: Tensor): Tensor;
  t_copy(self: Tensor): Tensor;
  take(self: Tensor, index: Tensor): Tensor;
  take_along_dim(self: Tensor, indices: Tensor, dim?: Integer | null): Tensor;
  take_along_dim(self: Tensor, indices: Tensor, options?: { dim?: Integer | null }): Tensor;
  tan(self: Tensor): Tensor;
  tan_(self: Tensor): Tensor;
  tanh(self: Tensor): Tensor;
  tanh_(self: Tensor): Tensor;
  tanh_backward(grad_output: Tensor, output: Tensor): Tensor;
  tensor_split(self: Tensor, indices: readonly Integer[], dim?: Integer): Tensor[];
  tensor_split(self: Tensor, indices: readonly Integer[], options?: { dim?: Integer }): Tensor[];
  tensor_split(self: Tensor, sections: Integer, dim?: Integer): Tensor[];
  tensor_split(self: Tensor, sections: Integer, options?: { dim?: Integer }): Tensor[];
  tensor_split(self: Tensor, tensor_indices_or_sections: Tensor, dim?: Integer): Tensor[];
  tensor_split(self: Tensor, tensor_indices_or_sections: Tensor, options?: { dim?: Integer }): Tensor[];
  tensordot(self: Tensor, other: Tensor, dims_self: readonly Integer[], dims_other: readonly Integer[]): Tensor;
  thnn_conv2d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
  ): Tensor;
  thnn_conv2d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    options?: { bias?: Tensor | null; stride?: Integers; padding?: Integers },
  ): Tensor;
  thnn_conv2d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: Integers },
  ): Tensor;
  threshold(self: Tensor, threshold: Scalar, value: Scalar): Tensor;
  threshold_(self: Tensor, threshold: Scalar, value: Scalar): Tensor;
  threshold_backward(grad_output: Tensor, self: Tensor, threshold: Scalar): Tensor;
  tile(self: Tensor, dims: readonly Integer[]): Tensor;
  to(
    self: Tensor,
    device: Device,
    dtype: Dtype,
    non_blocking?: boolean,
    copy?: boolean,
    memory_format?: MemoryFormat | null,
  ): Tensor;
  to(
    self: Tensor,
    device: Device,
    dtype: Dtype,
    options?: { non_blocking?: boolean; copy?: boolean; memory_format?: MemoryFormat | null },
  ): Tensor;
  to(
    self: Tensor,
    device: Device,
    dtype: Dtype,
    non_blocking?: boolean,
    options?: { copy?: boolean; memory_format?: MemoryFormat | null },
  ): Tensor;
  to(self: Tensor, dtype: Dtype, non_blocking?: boolean, copy?: boolean, memory_format?: MemoryFormat | null): Tensor;
  to(
    self: Tensor,
    dtype: Dtype,
    options?: { non_blocking?: boolean; copy?: boolean; memory_format?: MemoryFormat | null },
  ): Tensor;
  to(
    self: Tensor,
    dtype: Dtype,
    non_blocking?: boolean,
    options?: { copy?: boolean; memory_format?: MemoryFormat | null },
  ): Tensor;
  to(
    self: Tensor,
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      non_blocking?: boolean;
      copy?: boolean;
      memory_format?: MemoryFormat | null;
    },
  ): Tensor;
  to(self: Tensor, other: Tensor, non_blocking?: boolean, copy?: boolean, memory_format?: MemoryFormat | null): Tensor;
  to(
    self: Tensor,
    other: Tensor,
    options?: { non_blocking?: boolean; copy?: boolean; memory_format?: MemoryFormat | null },
  ): Tensor;
  to(
    self: Tensor,
    other: Tensor,
    non_blocking?: boolean,
    options?: { copy?: boolean; memory_format?: MemoryFormat | null },
  ): Tensor;
  to_dense(self: Tensor, dtype?: Dtype | null, options?: { masked_grad?: boolean | null }): Tensor;
  to_dense(self: Tensor, options?: { dtype?: Dtype | null; masked_grad?: boolean | null }): Tensor;
  to_dense_backward(grad: Tensor, input: Tensor, masked_grad?: boolean | null): Tensor;
  to_dense_backward(grad: Tensor, input: Tensor, options?: { masked_grad?: boolean | null }): Tensor;
  to_mkldnn(self: Tensor, dtype?: Dtype | null): Tensor;
  to_mkldnn(self: Tensor, options?: { dtype?: Dtype | null }): Tensor;
  to_mkldnn_backward(grad: Tensor, input: Tensor): Tensor;
  to_padded_tensor(self: Tensor, padding: Real, output_size?: readonly Integer[] | null): Tensor;
  to_padded_tensor(self: Tensor, padding: Real, options?: { output_size?: readonly Integer[] | null }): Tensor;
  to_sparse(
    self: Tensor,
    options?: { layout?: Layout | null; blocksize?: Integers | null; dense_dim?: Integer | null },
  ): Tensor;
  to_sparse(self: Tensor, sparse_dim: Integer): Tensor;
  to_sparse_bsc(self: Tensor, blocksize: Integers, dense_dim?: Integer | null): Tensor;
  to_sparse_bsc(self: Tensor, blocksize: Integers, options?: { dense_dim?: Integer | null }): Tensor;
  to_sparse_bsr(self: Tensor, blocksize: Integers, dense_dim?: Integer | null): Tensor;
  to_sparse_bsr(self: Tensor, blocksize: Integers, options?: { dense_dim?: Integer | null }): Tensor;
  to_sparse_csc(self: Tensor, dense_dim?: Integer | null): Tensor;
  to_sparse_csc(self: Tensor, options?: { dense_dim?: Integer | null }): Tensor;
  to_sparse_csr(self: Tensor, dense_dim?: Integer | null): Tensor;
  to_sparse_csr(self: Tensor, options?: { dense_dim?: Integer | null }): Tensor;
  topk(self: Tensor, k: Integer, dim?: Integer, largest?: boolean, sorted?: boolean): [values: Tensor, indices: Tensor];
  topk(
    self: Tensor,
    k: Integer,
    options?: { dim?: Integer; largest?: boolean; sorted?: boolean },
  ): [values: Tensor, indices: Tensor];
  topk(
    self: Tensor,
    k: Integer,
    dim?: Integer,
    options?: { largest?: boolean; sorted?: boolean },
  ): [values: Tensor, indices: Tensor];
  trace(self: Tensor): Tensor;
  trace_backward(grad: Tensor, sizes: readonly Integer[]): Tensor;
  transpose(self: Tensor, dim0: Integer, dim1: Integer): Tensor;
  transpose_(self: Tensor, dim0: Integer, dim1: Integer): Tensor;
  transpose_copy(self: Tensor, dim0: Integer, dim1: Integer): Tensor;
  trapezoid(y: Tensor, options?: { dx?: Scalar; dim?: Integer }): Tensor;
  trapezoid(y: Tensor, x: Tensor, options?: { dim?: Integer }): Tensor;
  trapz(y: Tensor, options?: { dx?: Real; dim?: Integer }): Tensor;
  trapz(y: Tensor, x: Tensor, options?: { dim?: Integer }): Tensor;
  triangular_solve(
    self: Tensor,
    A: Tensor,
    upper?: boolean,
    transpose?: boolean,
    unitriangular?: boolean,
  ): [solution: Tensor, cloned_coefficient: Tensor];
  triangular_solve(
    self: Tensor,
    A: Tensor,
    options?: { upper?: boolean; transpose?: boolean; unitriangular?: boolean },
  ): [solution: Tensor, cloned_coefficient: Tensor];
  triangular_solve(
    self: Tensor,
    A: Tensor,
    upper?: boolean,
    options?: { transpose?: boolean; unitriangular?: boolean },
  ): [solution: Tensor, cloned_coefficient: Tensor];
  tril(self: Tensor, diagonal?: Integer): Tensor;
  tril(self: Tensor, options?: { diagonal?: Integer }): Tensor;
  tril_(self: Tensor, diagonal?: Integer): Tensor;
  tril_(self: Tensor, options?: { diagonal?: Integer }): Tensor;
  tril_indices(
    row: Integer,
    col: Integer,
    offset?: Integer,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  tril_indices(
    row: Integer,
    col: Integer,
    options?: {
      offset?: Integer;
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
    },
  ): Tensor;
  triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin?: Real,
    p?: Real,
    eps?: Real,
    swap?: boolean,
    reduction?: Integer,
  ): Tensor;
  triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    options?: { margin?: Real; p?: Real; eps?: Real; swap?: boolean; reduction?: Integer },
  ): Tensor;
  triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin?: Real,
    options?: { p?: Real; eps?: Real; swap?: boolean; reduction?: Integer },
  ): Tensor;
  triu(self: Tensor, diagonal?: Integer): Tensor;
  triu(self: Tensor, options?: { diagonal?: Integer }): Tensor;
  triu_(self: Tensor, diagonal?: Integer): Tensor;
  triu_(self: Tensor, options?: { diagonal?: Integer }): Tensor;
  triu_indices(
    row: Integer,
    col: Integer,
    offset?: Integer,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  triu_indices(
    row: Integer,
    col: Integer,
    options?: {
      offset?: Integer;
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
    },
  ): Tensor;
  true_divide(self: Tensor, other: Scalar): Tensor;
  true_divide(self: Tensor, other: Tensor): Tensor;
  true_divide_(self: Tensor, other: Scalar): Tensor;
  true_divide_(self: Tensor, other: Tensor): Tensor;
  trunc(self: Tensor): Tensor;
  trunc_(self: Tensor): Tensor;
  type_as(self: Tensor, other: Tensor): Tensor;
  unbind(self: Tensor, dim?: Integer): Tensor[];
  unbind(self: Tensor, options?: { dim?: Integer }): Tensor[];
  unbind_copy(self: Tensor, dim?: Integer): Tensor[];
  unbind_copy(self: Tensor, options?: { dim?: Integer }): Tensor[];
  unflatten(self: Tensor, dim: Integer, sizes: readonly Integer[]): Tensor;
  unfold(self: Tensor, dimension: Integer, size: Integer, step: Integer): Tensor;
  unfold_backward(grad_in: Tensor, input_sizes: readonly Integer[], dim: Integer, size: Integer, step: Integer): Tensor;
  unfold_copy(self: Tensor, dimension: Integer, size: Integer, step: Integer): Tensor;
  uniform(self: Tensor, from?: Real, to?: Real): Tensor;
  uniform(self: Tensor, options?: { from?: Real; to?: Real }): Tensor;
  uniform_(self: Tensor, from?: Real, to?: Real): Tensor;
  uniform_(self: Tensor, options?: { from?: Real; to?: Real }): Tensor;
  unique_consecutive(
    self: Tensor,
    return_inverse?: boolean,
    return_counts?: boolean,
    dim?: Integer | null,
  ): [Tensor, Tensor, Tensor];
  unique_consecutive(
    self: Tensor,
    options?: { return_inverse?: boolean; return_counts?: boolean; dim?: Integer | null },
  ): [Tensor, Tensor, Tensor];
  unique_consecutive(
    self: Tensor,
    return_inverse?: boolean,
    options?: { return_counts?: boolean; dim?: Integer | null },
  ): [Tensor, Tensor, Tensor];
  unique_dim(
    self: Tensor,
    dim: Integer,
    sorted?: boolean,
    return_inverse?: boolean,
    return_counts?: boolean,
  ): [Tensor, Tensor, Tensor];
  unique_dim(
    self: Tensor,
    dim: Integer,
    options?: { sorted?: boolean; return_inverse?: boolean; return_counts?: boolean },
  ): [Tensor, Tensor, Tensor];
  unique_dim(
    self: Tensor,
    dim: Integer,
    sorted?: boolean,
    options?: { return_inverse?: boolean; return_counts?: boolean },
  ): [Tensor, Tensor, Tensor];
  unique_dim_consecutive(
    self: Tensor,
    dim: Integer,
    return_inverse?: boolean,
    return_counts?: boolean,
  ): [Tensor, Tensor, Tensor];
  unique_dim_consecutive(
    self: Tensor,
    dim: Integer,
    options?: { return_inverse?: boolean; return_counts?: boolean },
  ): [Tensor, Tensor, Tensor];
  unsafe_chunk(self: Tensor, chunks: Integer, dim?: Integer): Tensor[];
  unsafe_chunk(self: Tensor, chunks: Integer, options?: { dim?: Integer }): Tensor[];
  unsafe_split(self: Tensor, split_size: Integer, dim?: Integer): Tensor[];
  unsafe_split(self: Tensor, split_size: Integer, options?: { dim?: Integer }): Tensor[];
  unsafe_split_with_sizes(self: Tensor, split_sizes: readonly Integer[], dim?: Integer): Tensor[];
  unsafe_split_with_sizes(self: Tensor, split_sizes: readonly Integer[], options?: { dim?: Integer }): Tensor[];
  unsqueeze(self: Tensor, dim: Integer): Tensor;
  unsqueeze_(self: Tensor, dim: Integer): Tensor;
  unsqueeze_copy(self: Tensor, dim: Integer): Tensor;
  upsample_bicubic2d(
    self: Tensor,
    output_size: Integers,
    align_corners: boolean,
    scales_h?: Real | null,
    scales_w?: Real | null,
  ): Tensor;
  upsample_bicubic2d(
    self: Tensor,
    output_size: Integers,
    align_corners: boolean,
    options?: { scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_bicubic2d(
    input: Tensor,
    output_size: readonly Integer[] | null,
    align_corners: boolean,
    scale_factors: readonly Real[] | null,
  ): Tensor;
  upsample_bicubic2d_backward(
    grad_output: Tensor,
    output_size: Integers,
    input_size: Integers,
    align_corners: boolean,
    scales_h?: Real | null,
    scales_w?: Real | null,
  ): Tensor;
  upsample_bicubic2d_backward(
    grad_output: Tensor,
    output_size: Integers,
    input_size: Integers,
    align_corners: boolean,
    options?: { scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_bilinear2d(
    self: Tensor,
    output_size: Integers,
    align_corners: boolean,
    scales_h?: Real | null,
    scales_w?: Real | null,
  ): Tensor;
  upsample_bilinear2d(
    self: Tensor,
    output_size: Integers,
    align_corners: boolean,
    options?: { scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_bilinear2d(
    input: Tensor,
    output_size: readonly Integer[] | null,
    align_corners: boolean,
    scale_factors: readonly Real[] | null,
  ): Tensor;
  upsample_bilinear2d_backward(
    grad_output: Tensor,
    output_size: Integers,
    input_size: Integers,
    align_corners: boolean,
    scales_h?: Real | null,
    scales_w?: Real | null,
  ): Tensor;
  upsample_bilinear2d_backward(
    grad_output: Tensor,
    output_size: Integers,
    input_size: Integers,
    align_corners: boolean,
    options?: { scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_linear1d(self: Tensor, output_size: Integers, align_corners: boolean, scales?: Real | null): Tensor;
  upsample_linear1d(
    self: Tensor,
    output_size: Integers,
    align_corners: boolean,
    options?: { scales?: Real | null },
  ): Tensor;
  upsample_linear1d(
    input: Tensor,
    output_size: readonly Integer[] | null,
    align_corners: boolean,
    scale_factors: readonly Real[] | null,
  ): Tensor;
  upsample_linear1d_backward(
    grad_output: Tensor,
    output_size: Integers,
    input_size: Integers,
    align_corners: boolean,
    scales?: Real | null,
  ): Tensor;
  upsample_linear1d_backward(
    grad_output: Tensor,
    output_size: Integers,
    input_size: Integers,
    align_corners: boolean,
    options?: { scales?: Real | null },
  ): Tensor;
  upsample_nearest1d(self: Tensor, output_size: Integers, scales?: Real | null): Tensor;
  upsample_nearest1d(self: Tensor, output_size: Integers, options?: { scales?: Real | null }): Tensor;
  upsample_nearest1d(
    input: Tensor,
    output_size: readonly Integer[] | null,
    scale_factors: readonly Real[] | null,
  ): Tensor;
  upsample_nearest1d_backward(
    grad_output: Tensor,
    output_size: Integers,
    input_size: Integers,
    scales?: Real | null,
  ): Tensor;
  upsample_nearest1d_backward(
    grad_output: Tensor,
    output_size: Integers,
    input_size: Integers,
    options?: { scales?: Real | null },
  ): Tensor;
  upsample_nearest2d(self: Tensor, output_size: Integers, scales_h?: Real | null, scales_w?: Real | null): Tensor;
  upsample_nearest2d(
    self: Tensor,
    output_size: Integers,
    options?: { scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_nearest2d(
    input: Tensor,
    output_size: readonly Integer[] | null,
    scale_factors: readonly Real[] | null,
  ): Tensor;
  upsample_nearest2d_backward(
    grad_output: Tensor,
    output_size: Integers,
    input_size: Integers,
    scales_h?: Real | null,
    scales_w?: Real | null,
  ): Tensor;
  upsample_nearest2d_backward(
    grad_output: Tensor,
    output_size: Integers,
    input_size: Integers,
    options?: { scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_nearest3d(
    self: Tensor,
    output_size: Integers,
    scales_d?: Real | null,
    scales_h?: Real | null,
    scales_w?: Real | null,
  ): Tensor;
  upsample_nearest3d(
    self: Tensor,
    output_size: Integers,
    options?: { scales_d?: Real | null; scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_nearest3d(
    self: Tensor,
    output_size: Integers,
    scales_d?: Real | null,
    options?: { scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_nearest3d(
    input: Tensor,
    output_size: readonly Integer[] | null,
    scale_factors: readonly Real[] | null,
  ): Tensor;
  upsample_nearest3d_backward(
    grad_output: Tensor,
    output_size: Integers,
    input_size: Integers,
    scales_d?: Real | null,
    scales_h?: Real | null,
    scales_w?: Real | null,
  ): Tensor;
  upsample_nearest3d_backward(
    grad_output: Tensor,
    output_size: Integers,
    input_size: Integers,
    options?: { scales_d?: Real | null; scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_nearest3d_backward(
    grad_output: Tensor,
    output_size: Integers,
    input_size: Integers,
    scales_d?: Real | null,
    options?: { scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_trilinear3d(
    self: Tensor,
    output_size: Integers,
    align_corners: boolean,
    scales_d?: Real | null,
    scales_h?: Real | null,
    scales_w?: Real | null,
  ): Tensor;
  upsample_trilinear3d(
    self: Tensor,
    output_size: Integers,
    align_corners: boolean,
    options?: { scales_d?: Real | null; scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_trilinear3d(
    self: Tensor,
    output_size: Integers,
    align_corners: boolean,
    scales_d?: Real | null,
    options?: { scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_trilinear3d(
    input: Tensor,
    output_size: readonly Integer[] | null,
    align_corners: boolean,
    scale_factors: readonly Real[] | null,
  ): Tensor;
  upsample_trilinear3d_backward(
    grad_output: Tensor,
    output_size: Integers,
    input_size: Integers,
    align_corners: boolean,
    scales_d?: Real | null,
    scales_h?: Real | null,
    scales_w?: Real | null,
  ): Tensor;
  upsample_trilinear3d_backward(
    grad_output: Tensor,
    output_size: Integers,
    input_size: Integers,
    align_corners: boolean,
    options?: { scales_d?: Real | null; scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_trilinear3d_backward(
    grad_output: Tensor,
    output_size: Integers,
    input_size: Integers,
    align_corners: boolean,
    scales_d?: Real | null,
    options?: { scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  value_selecting_reduction_backward(
    grad: Tensor,
    dim: Integer,
    indices: Tensor,
    sizes: readonly Integer[],
    keepdim: boolean,
  ): Tensor;
  values(self: Tensor): Tensor;
  values_copy(self: Tensor): Tensor;
  vander(x: Tensor, N?: Integer | null, increasing?: boolean): Tensor;
  vander(x: Tensor, options?: { N?: Integer | null; increasing?: boolean }): Tensor;
  var(self: Tensor, unbiased?: boolean): Tensor;
  var(self: Tensor, options?: { unbiased?: boolean }): Tensor;
  var(self: Tensor, dim?: Integers | null, options?: { correction?: Scalar | null; keepdim?: boolean }): Tensor;
  var(self: Tensor, options?: { dim?: Integers | null; correction?: Scalar | null; keepdim?: boolean }): Tensor;
  var(self: Tensor, dim: Integers | null, unbiased?: boolean, keepdim?: boolean): Tensor;
  var(self: Tensor, dim: Integers | null, options?: { unbiased?: boolean; keepdim?: boolean }): Tensor;
  var_mean(self: Tensor, unbiased?: boolean): [Tensor, Tensor];
  var_mean(self: Tensor, options?: { unbiased?: boolean }): [Tensor, Tensor];
  var_mean(
    self: Tensor,
    dim?: Integers | null,
    options?: { correction?: Scalar | null; keepdim?: boolean },
  ): [Tensor, Tensor];
  var_mean(
    self: Tensor,
    options?: { dim?: Integers | null; correction?: Scalar | null; keepdim?: boolean },
  ): [Tensor, Tensor];
  var_mean(self: Tensor, dim: Integers | null, unbiased?: boolean, keepdim?: boolean): [Tensor, Tensor];
  var_mean(self: Tensor, dim: Integers | null, options?: { unbiased?: boolean; keepdim?: boolean }): [Tensor, Tensor];
  vdot(self: Tensor, other: Tensor): Tensor;
  view(self: Tensor, size: readonly Integer[]): Tensor;
  view(self: Tensor, dtype: Dtype): Tensor;
  view_as(self: Tensor, other: Tensor): Tensor;
  view_as_complex(self: Tensor): Tensor;
  view_as_complex_copy(self: Tensor): Tensor;
  view_as_real(self: Tensor): Tensor;
  view_as_real_copy(self: Tensor): Tensor;
  view_copy(self: Tensor, size: readonly Integer[]): Tensor;
  view_copy(self: Tensor, dtype: Dtype): Tensor;
  vsplit(self: Tensor, indices: readonly Integer[]): Tensor[];
  vsplit(self: Tensor, sections: Integer): Tensor[];
  vstack(tensors: readonly Tensor[]): Tensor;
  where(condition: Tensor): Tensor[];
  where(condition: Tensor, self: Scalar, other: Scalar): Tensor;
  where(condition: Tensor, self: Tensor, other: Scalar): Tensor;
  where(condition: Tensor, self: Scalar, other: Tensor): Tensor;
  where(condition: Tensor, self: Tensor, other: Tensor): Tensor;
  xlogy(self: Tensor, other: Scalar): Tensor;
  xlogy(self: Scalar, other: Tensor): Tensor;
  xlogy(self: Tensor, other: Tensor): Tensor;
  xlogy_(self: Tensor, other: Scalar): Tensor;
  xlogy_(self: Tensor, other: Tensor): Tensor;
  zero(self: Tensor): Tensor;
  zero_(self: Tensor): Tensor;
  zeros(
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  zeros_like(
    self: Tensor,
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      memory_format?: MemoryFormat | null;
    },
  ): Tensor;
}

/** Operations as methods of their first tensor. The parameter is the class of tensors. */
export interface OperationMethods<Tensor> {
  abs(): Tensor;
  abs_(): Tensor;
  absolute(): Tensor;
  absolute_(): Tensor;
  acos(): Tensor;
  acos_(): Tensor;
  acosh(): Tensor;
  acosh_(): Tensor;
  adaptive_avg_pool1d(output_size: Integers): Tensor;
  adaptive_avg_pool2d(output_size: Integers): Tensor;
  adaptive_avg_pool3d(output_size: Integers): Tensor;
  adaptive_max_pool1d(output_size: Integers): [Tensor, Tensor];
  adaptive_max_pool2d(output_size: Integers): [Tensor, Tensor];
  adaptive_max_pool3d(output_size: Integers): [Tensor, Tensor];
  add(other: Scalar, alpha?: Scalar): Tensor;
  add(other: Scalar, options?: { alpha?: Scalar }): Tensor;
  add(other: Tensor, options?: { alpha?: Scalar }): Tensor;
  add_(other: Scalar, alpha?: Scalar): Tensor;
  add_(other: Scalar, options?: { alpha?: Scalar }): Tensor;
  add_(other: Tensor, options?: { alpha?: Scalar }): Tensor;
  addbmm(batch1: Tensor, batch2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  addbmm_(batch1: Tensor, batch2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  addcdiv(tensor1: Tensor, tensor2: Tensor, options?: { value?: Scalar }): Tensor;
  addcdiv_(tensor1: Tensor, tensor2: Tensor, options?: { value?: Scalar }): Tensor;
  addcmul(tensor1: Tensor, tensor2: Tensor, options?: { value?: Scalar }): Tensor;
  addcmul_(tensor1: Tensor, tensor2: Tensor, options?: { value?: Scalar }): Tensor;
  addmm(mat1: Tensor, mat2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  /** Since libtorch 2.8. */
  addmm(mat1: Tensor, mat2: Tensor, out_dtype: Dtype, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  addmm_(mat1: Tensor, mat2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  addmv(mat: Tensor, vec: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  addmv_(mat: Tensor, vec: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  addr(vec1: Tensor, vec2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  addr_(vec1: Tensor, vec2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  adjoint(): Tensor;
  alias(): Tensor;
  alias_copy(): Tensor;
  all(): Tensor;
  all(dim: Integer, keepdim?: boolean): Tensor;
  all(dim: Integer, options?: { keepdim?: boolean }): Tensor;
  /** Since libtorch 2.2. */
  all(dim?: readonly Integer[] | null, keepdim?: boolean): Tensor;
  /** Since libtorch 2.2. */
  all(options?: { dim?: readonly Integer[] | null; keepdim?: boolean }): Tensor;
  allclose(other: Tensor, rtol?: Real, atol?: Real, equal_nan?: boolean): boolean;
  allclose(other: Tensor, options?: { rtol?: Real; atol?: Real; equal_nan?: boolean }): boolean;
  allclose(other: Tensor, rtol?: Real, options?: { atol?: Real; equal_nan?: boolean }): boolean;
  alpha_dropout_(p: Real, train: boolean): Tensor;
  amax(dim?: Integers, keepdim?: boolean): Tensor;
  amax(options?: { dim?: Integers; keepdim?: boolean }): Tensor;
  amin(dim?: Integers, keepdim?: boolean): Tensor;
  amin(options?: { dim?: Integers; keepdim?: boolean }): Tensor;
  aminmax(options?: { dim?: Integer | null; keepdim?: boolean }): [min: Tensor, max: Tensor];
  angle(): Tensor;
  any(): Tensor;
  any(dim: Integer, keepdim?: boolean): Tensor;
  any(dim: Integer, options?: { keepdim?: boolean }): Tensor;
  /** Since libtorch 2.2. */
  any(dim?: readonly Integer[] | null, keepdim?: boolean): Tensor;
  /** Since libtorch 2.2. */
  any(options?: { dim?: readonly Integer[] | null; keepdim?: boolean }): Tensor;
  arccos(): Tensor;
  arccos_(): Tensor;
  arccosh(): Tensor;
  arccosh_(): Tensor;
  arcsin(): Tensor;
  arcsin_(): Tensor;
  arcsinh(): Tensor;
  arcsinh_(): Tensor;
  arctan(): Tensor;
  arctan2(other: Tensor): Tensor;
  arctan2_(other: Tensor): Tensor;
  arctan_(): Tensor;
  arctanh(): Tensor;
  arctanh_(): Tensor;
  argmax(dim?: Integer | null, keepdim?: boolean): Tensor;
  argmax(options?: { dim?: Integer | null; keepdim?: boolean }): Tensor;
  argmin(dim?: Integer | null, keepdim?: boolean): Tensor;
  argmin(options?: { dim?: Integer | null; keepdim?: boolean }): Tensor;
  argsort(dim?: Integer, descending?: boolean): Tensor;
  argsort(options?: { dim?: Integer; descending?: boolean }): Tensor;
  argsort(options: { stable: boolean; dim?: Integer; descending?: boolean }): Tensor;
  argwhere(): Tensor;
  as_strided(size: readonly Integer[], stride: readonly Integer[], storage_offset?: Integer | null): Tensor;
  as_strided(
    size: readonly Integer[],
    stride: readonly Integer[],
    options?: { storage_offset?: Integer | null },
  ): Tensor;
  as_strided_(size: readonly Integer[], stride: readonly Integer[], storage_offset?: Integer | null): Tensor;
  as_strided_(
    size: readonly Integer[],
    stride: readonly Integer[],
    options?: { storage_offset?: Integer | null },
  ): Tensor;
  as_strided_copy(size: readonly Integer[], stride: readonly Integer[], storage_offset?: Integer | null): Tensor;
  as_strided_copy(
    size: readonly Integer[],
    stride: readonly Integer[],
    options?: { storage_offset?: Integer | null },
  ): Tensor;
  as_strided_scatter(
    src: Tensor,
    size: readonly Integer[],
    stride: readonly Integer[],
    storage_offset?: Integer | null,
  ): Tensor;
  as_strided_scatter(
    src: Tensor,
    size: readonly Integer[],
    stride: readonly Integer[],
    options?: { storage_offset?: Integer | null },
  ): Tensor;
  asin(): Tensor;
  asin_(): Tensor;
  asinh(): Tensor;
  asinh_(): Tensor;
  atan(): Tensor;
  atan2(other: Tensor): Tensor;
  atan2_(other: Tensor): Tensor;
  atan_(): Tensor;
  atanh(): Tensor;
  atanh_(): Tensor;
  atleast_1d(): Tensor;
  atleast_2d(): Tensor;
  atleast_3d(): Tensor;
  avg_pool1d(
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    ceil_mode?: boolean,
    count_include_pad?: boolean,
  ): Tensor;
  avg_pool1d(
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; ceil_mode?: boolean; count_include_pad?: boolean },
  ): Tensor;
  avg_pool1d(
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; ceil_mode?: boolean; count_include_pad?: boolean },
  ): Tensor;
  avg_pool2d(
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    ceil_mode?: boolean,
    count_include_pad?: boolean,
    divisor_override?: Integer | null,
  ): Tensor;
  avg_pool2d(
    kernel_size: Integers,
    options?: {
      stride?: Integers;
      padding?: Integers;
      ceil_mode?: boolean;
      count_include_pad?: boolean;
      divisor_override?: Integer | null;
    },
  ): Tensor;
  avg_pool2d(
    kernel_size: Integers,
    stride?: Integers,
    options?: {
      padding?: Integers;
      ceil_mode?: boolean;
      count_include_pad?: boolean;
      divisor_override?: Integer | null;
    },
  ): Tensor;
  avg_pool3d(
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    ceil_mode?: boolean,
    count_include_pad?: boolean,
    divisor_override?: Integer | null,
  ): Tensor;
  avg_pool3d(
    kernel_size: Integers,
    options?: {
      stride?: Integers;
      padding?: Integers;
      ceil_mode?: boolean;
      count_include_pad?: boolean;
      divisor_override?: Integer | null;
    },
  ): Tensor;
  avg_pool3d(
    kernel_size: Integers,
    stride?: Integers,
    options?: {
      padding?: Integers;
      ceil_mode?: boolean;
      count_include_pad?: boolean;
      divisor_override?: Integer | null;
    },
  ): Tensor;
  baddbmm(batch1: Tensor, batch2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  /** Since libtorch 2.8. */
  baddbmm(batch1: Tensor, batch2: Tensor, out_dtype: Dtype, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  baddbmm_(batch1: Tensor, batch2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  bernoulli(): Tensor;
  bernoulli(p: Tensor): Tensor;
  bernoulli(p: Real): Tensor;
  bernoulli_(p: Tensor): Tensor;
  bernoulli_(p?: Real): Tensor;
  bernoulli_(options?: { p?: Real }): Tensor;
  binary_cross_entropy(target: Tensor, weight?: Tensor | null, reduction?: Integer): Tensor;
  binary_cross_entropy(target: Tensor, options?: { weight?: Tensor | null; reduction?: Integer }): Tensor;
  binary_cross_entropy_with_logits(
    target: Tensor,
    weight?: Tensor | null,
    pos_weight?: Tensor | null,
    reduction?: Integer,
  ): Tensor;
  binary_cross_entropy_with_logits(
    target: Tensor,
    options?: { weight?: Tensor | null; pos_weight?: Tensor | null; reduction?: Integer },
  ): Tensor;
  binary_cross_entropy_with_logits(
    target: Tensor,
    weight?: Tensor | null,
    options?: { pos_weight?: Tensor | null; reduction?: Integer },
  ): Tensor;
  bincount(weights?: Tensor | null, minlength?: Integer): Tensor;
  bincount(options?: { weights?: Tensor | null; minlength?: Integer }): Tensor;
  bitwise_and(other: Scalar): Tensor;
  bitwise_and(other: Tensor): Tensor;
  bitwise_and_(other: Scalar): Tensor;
  bitwise_and_(other: Tensor): Tensor;
  bitwise_left_shift(other: Tensor): Tensor;
  bitwise_left_shift(other: Scalar): Tensor;
  bitwise_left_shift_(other: Tensor): Tensor;
  bitwise_left_shift_(other: Scalar): Tensor;
  bitwise_not(): Tensor;
  bitwise_not_(): Tensor;
  bitwise_or(other: Scalar): Tensor;
  bitwise_or(other: Tensor): Tensor;
  bitwise_or_(other: Scalar): Tensor;
  bitwise_or_(other: Tensor): Tensor;
  bitwise_right_shift(other: Tensor): Tensor;
  bitwise_right_shift(other: Scalar): Tensor;
  bitwise_right_shift_(other: Tensor): Tensor;
  bitwise_right_shift_(other: Scalar): Tensor;
  bitwise_xor(other: Scalar): Tensor;
  bitwise_xor(other: Tensor): Tensor;
  bitwise_xor_(other: Scalar): Tensor;
  bitwise_xor_(other: Tensor): Tensor;
  bmm(mat2: Tensor): Tensor;
  /** Since libtorch 2.8. */
  bmm(mat2: Tensor, out_dtype: Dtype): Tensor;
  broadcast_to(size: readonly Integer[]): Tensor;
  bucketize(boundaries: Tensor, options?: { out_int32?: boolean; right?: boolean }): Tensor;
  cauchy(median?: Real, sigma?: Real): Tensor;
  cauchy(options?: { median?: Real; sigma?: Real }): Tensor;
  cauchy_(median?: Real, sigma?: Real): Tensor;
  cauchy_(options?: { median?: Real; sigma?: Real }): Tensor;
  ccol_indices(): Tensor;
  ccol_indices_copy(): Tensor;
  ceil(): Tensor;
  ceil_(): Tensor;
  celu(alpha?: Scalar): Tensor;
  celu(options?: { alpha?: Scalar }): Tensor;
  celu_(alpha?: Scalar): Tensor;
  celu_(options?: { alpha?: Scalar }): Tensor;
  chalf(options?: { memory_format?: MemoryFormat | null }): Tensor;
  channel_shuffle(groups: Integer): Tensor;
  cholesky_inverse(upper?: boolean): Tensor;
  cholesky_inverse(options?: { upper?: boolean }): Tensor;
  cholesky_solve(input2: Tensor, upper?: boolean): Tensor;
  cholesky_solve(input2: Tensor, options?: { upper?: boolean }): Tensor;
  chunk(chunks: Integer, dim?: Integer): Tensor[];
  chunk(chunks: Integer, options?: { dim?: Integer }): Tensor[];
  clamp(min?: Scalar | null, max?: Scalar | null): Tensor;
  clamp(options?: { min?: Scalar | null; max?: Scalar | null }): Tensor;
  clamp(min?: Tensor | null, max?: Tensor | null): Tensor;
  clamp(options?: { min?: Tensor | null; max?: Tensor | null }): Tensor;
  clamp_(min?: Scalar | null, max?: Scalar | null): Tensor;
  clamp_(options?: { min?: Scalar | null; max?: Scalar | null }): Tensor;
  clamp_(min?: Tensor | null, max?: Tensor | null): Tensor;
  clamp_(options?: { min?: Tensor | null; max?: Tensor | null }): Tensor;
  clamp_max(max: Scalar): Tensor;
  clamp_max(max: Tensor): Tensor;
  clamp_max_(max: Scalar): Tensor;
  clamp_max_(max: Tensor): Tensor;
  clamp_min(min: Scalar): Tensor;
  clamp_min(min: Tensor): Tensor;
  clamp_min_(min: Scalar): Tensor;
  clamp_min_(min: Tensor): Tensor;
  clip(min?: Scalar | null, max?: Scalar | null): Tensor;
  clip(options?: { min?: Scalar | null; max?: Scalar | null }): Tensor;
  clip(min?: Tensor | null, max?: Tensor | null): Tensor;
  clip(options?: { min?: Tensor | null; max?: Tensor | null }): Tensor;
  clip_(min?: Scalar | null, max?: Scalar | null): Tensor;
  clip_(options?: { min?: Scalar | null; max?: Scalar | null }): Tensor;
  clip_(min?: Tensor | null, max?: Tensor | null): Tensor;
  clip_(options?: { min?: Tensor | null; max?: Tensor | null }): Tensor;
  clone(options?: { memory_format?: MemoryFormat | null }): Tensor;
  coalesce(): Tensor;
  col2im(output_size: Integers, kernel_size: Integers, dilation: Integers, padding: Integers, stride: Integers): Tensor;
  col_indices(): Tensor;
  col_indices_copy(): Tensor;
  combinations(r?: Integer, with_replacement?: boolean): Tensor;
  combinations(options?: { r?: Integer; with_replacement?: boolean }): Tensor;
  conj(): Tensor;
  conj_physical(): Tensor;
  conj_physical_(): Tensor;
  constant_pad_nd(pad: readonly Integer[], value?: Scalar): Tensor;
  constant_pad_nd(pad: readonly Integer[], options?: { value?: Scalar }): Tensor;
  contiguous(options?: { memory_format?: MemoryFormat }): Tensor;
  conv_depthwise3d(
    weight: Tensor,
    kernel_size: Integers,
    bias: Tensor | null,
    stride: Integers,
    padding: Integers,
    dilation: Integers,
  ): Tensor;
  conv_tbc(weight: Tensor, bias: Tensor, pad?: Integer): Tensor;
  conv_tbc(weight: Tensor, bias: Tensor, options?: { pad?: Integer }): Tensor;
  conv_tbc_backward(input: Tensor, weight: Tensor, bias: Tensor, pad: Integer): [Tensor, Tensor, Tensor];
  copy(src: Tensor, non_blocking?: boolean): Tensor;
  copy(src: Tensor, options?: { non_blocking?: boolean }): Tensor;
  copy_(src: Tensor, non_blocking?: boolean): Tensor;
  copy_(src: Tensor, options?: { non_blocking?: boolean }): Tensor;
  copy_sparse_to_sparse(src: Tensor, non_blocking?: boolean): Tensor;
  copy_sparse_to_sparse(src: Tensor, options?: { non_blocking?: boolean }): Tensor;
  copy_sparse_to_sparse_(src: Tensor, non_blocking?: boolean): Tensor;
  copy_sparse_to_sparse_(src: Tensor, options?: { non_blocking?: boolean }): Tensor;
  copysign(other: Scalar): Tensor;
  copysign(other: Tensor): Tensor;
  copysign_(other: Scalar): Tensor;
  copysign_(other: Tensor): Tensor;
  corrcoef(): Tensor;
  cos(): Tensor;
  cos_(): Tensor;
  cosh(): Tensor;
  cosh_(): Tensor;
  count_nonzero(dim?: Integer | null): Tensor;
  count_nonzero(options?: { dim?: Integer | null }): Tensor;
  count_nonzero(dim: readonly Integer[]): Tensor;
  cov(options?: { correction?: Integer; fweights?: Tensor | null; aweights?: Tensor | null }): Tensor;
  cross(other: Tensor, dim?: Integer | null): Tensor;
  cross(other: Tensor, options?: { dim?: Integer | null }): Tensor;
  cross_entropy_loss(
    target: Tensor,
    weight?: Tensor | null,
    reduction?: Integer,
    ignore_index?: Integer,
    label_smoothing?: Real,
  ): Tensor;
  cross_entropy_loss(
    target: Tensor,
    options?: { weight?: Tensor | null; reduction?: Integer; ignore_index?: Integer; label_smoothing?: Real },
  ): Tensor;
  cross_entropy_loss(
    target: Tensor,
    weight?: Tensor | null,
    options?: { reduction?: Integer; ignore_index?: Integer; label_smoothing?: Real },
  ): Tensor;
  crow_indices(): Tensor;
  crow_indices_copy(): Tensor;
  cummax(dim: Integer): [values: Tensor, indices: Tensor];
  cummin(dim: Integer): [values: Tensor, indices: Tensor];
  cumprod(dim: Integer, options?: { dtype?: Dtype | null }): Tensor;
  cumprod_(dim: Integer, options?: { dtype?: Dtype | null }): Tensor;
  cumsum(dim: Integer, options?: { dtype?: Dtype | null }): Tensor;
  cumsum_(dim: Integer, options?: { dtype?: Dtype | null }): Tensor;
  deg2rad(): Tensor;
  deg2rad_(): Tensor;
  dense_dim(): number;
  dequantize(): Tensor;
  det(): Tensor;
  detach(): Tensor;
  detach_(): Tensor;
  detach_copy(): Tensor;
  diag(diagonal?: Integer): Tensor;
  diag(options?: { diagonal?: Integer }): Tensor;
  diag_embed(offset?: Integer, dim1?: Integer, dim2?: Integer): Tensor;
  diag_embed(options?: { offset?: Integer; dim1?: Integer; dim2?: Integer }): Tensor;
  diag_embed(offset?: Integer, options?: { dim1?: Integer; dim2?: Integer }): Tensor;
  diagflat(offset?: Integer): Tensor;
  diagflat(options?: { offset?: Integer }): Tensor;
  diagonal(offset?: Integer, dim1?: Integer, dim2?: Integer): Tensor;
  diagonal(options?: { offset?: Integer; dim1?: Integer; dim2?: Integer }): Tensor;
  diagonal(offset?: Integer, options?: { dim1?: Integer; dim2?: Integer }): Tensor;
  diagonal_copy(offset?: Integer, dim1?: Integer, dim2?: Integer): Tensor;
  diagonal_copy(options?: { offset?: Integer; dim1?: Integer; dim2?: Integer }): Tensor;
  diagonal_copy(offset?: Integer, options?: { dim1?: Integer; dim2?: Integer }): Tensor;
  diagonal_scatter(src: Tensor, offset?: Integer, dim1?: Integer, dim2?: Integer): Tensor;
  diagonal_scatter(src: Tensor, options?: { offset?: Integer; dim1?: Integer; dim2?: Integer }): Tensor;
  diagonal_scatter(src: Tensor, offset?: Integer, options?: { dim1?: Integer; dim2?: Integer }): Tensor;
  diff(n?: Integer, dim?: Integer, prepend?: Tensor | null, append?: Tensor | null): Tensor;
  diff(options?: { n?: Integer; dim?: Integer; prepend?: Tensor | null; append?: Tensor | null }): Tensor;
  diff(n?: Integer, options?: { dim?: Integer; prepend?: Tensor | null; append?: Tensor | null }): Tensor;
  digamma(): Tensor;
  digamma_(): Tensor;
  /** Since libtorch 2.12. */
  dim(): number;
  dist(other: Tensor, p?: Scalar): Tensor;
  dist(other: Tensor, options?: { p?: Scalar }): Tensor;
  div(other: Scalar): Tensor;
  div(other: Scalar, options: { rounding_mode: string | null }): Tensor;
  div(other: Tensor): Tensor;
  div(other: Tensor, options: { rounding_mode: string | null }): Tensor;
  div_(other: Scalar): Tensor;
  div_(other: Scalar, options: { rounding_mode: string | null }): Tensor;
  div_(other: Tensor): Tensor;
  div_(other: Tensor, options: { rounding_mode: string | null }): Tensor;
  divide(other: Scalar): Tensor;
  divide(other: Scalar, options: { rounding_mode: string | null }): Tensor;
  divide(other: Tensor): Tensor;
  divide(other: Tensor, options: { rounding_mode: string | null }): Tensor;
  divide_(other: Scalar): Tensor;
  divide_(other: Scalar, options: { rounding_mode: string | null }): Tensor;
  divide_(other: Tensor): Tensor;
  divide_(other: Tensor, options: { rounding_mode: string | null }): Tensor;
  dot(tensor: Tensor): Tensor;
  dropout_(p: Real, train: boolean): Tensor;
  dsplit(indices: readonly Integer[]): Tensor[];
  dsplit(sections: Integer): Tensor[];
  elu(alpha?: Scalar, scale?: Scalar, input_scale?: Scalar): Tensor;
  elu(options?: { alpha?: Scalar; scale?: Scalar; input_scale?: Scalar }): Tensor;
  elu(alpha?: Scalar, options?: { scale?: Scalar; input_scale?: Scalar }): Tensor;
  elu_(alpha?: Scalar, scale?: Scalar, input_scale?: Scalar): Tensor;
  elu_(options?: { alpha?: Scalar; scale?: Scalar; input_scale?: Scalar }): Tensor;
  elu_(alpha?: Scalar, options?: { scale?: Scalar; input_scale?: Scalar }): Tensor;
  embedding_renorm(indices: Tensor, max_norm: Real, norm_type: Real): Tensor;
  embedding_renorm_(indices: Tensor, max_norm: Real, norm_type: Real): Tensor;
  empty_like(options?: {
    dtype?: Dtype | null;
    layout?: Layout | null;
    device?: Device | null;
    pin_memory?: boolean | null;
    memory_format?: MemoryFormat | null;
  }): Tensor;
  eq(other: Scalar): Tensor;
  eq(other: Tensor): Tensor;
  eq_(other: Scalar): Tensor;
  eq_(other: Tensor): Tensor;
  equal(other: Tensor): boolean;
  erf(): Tensor;
  erf_(): Tensor;
  erfc(): Tensor;
  erfc_(): Tensor;
  erfinv(): Tensor;
  erfinv_(): Tensor;
  exp(): Tensor;
  exp2(): Tensor;
  exp2_(): Tensor;
  exp_(): Tensor;
  expand(size: readonly Integer[], options?: { implicit?: boolean }): Tensor;
  expand_as(other: Tensor): Tensor;
  expand_copy(size: readonly Integer[], options?: { implicit?: boolean }): Tensor;
  expm1(): Tensor;
  expm1_(): Tensor;
  exponential(lambd?: Real): Tensor;
  exponential(options?: { lambd?: Real }): Tensor;
  exponential_(lambd?: Real): Tensor;
  exponential_(options?: { lambd?: Real }): Tensor;
  fake_quantize_per_channel_affine(
    scale: Tensor,
    zero_point: Tensor,
    axis: Integer,
    quant_min: Integer,
    quant_max: Integer,
  ): Tensor;
  fake_quantize_per_channel_affine_cachemask(
    scale: Tensor,
    zero_point: Tensor,
    axis: Integer,
    quant_min: Integer,
    quant_max: Integer,
  ): [output: Tensor, mask: Tensor];
  fake_quantize_per_tensor_affine(scale: Real, zero_point: Integer, quant_min: Integer, quant_max: Integer): Tensor;
  fake_quantize_per_tensor_affine(scale: Tensor, zero_point: Tensor, quant_min: Integer, quant_max: Integer): Tensor;
  fake_quantize_per_tensor_affine_cachemask(
    scale: Real,
    zero_point: Integer,
    quant_min: Integer,
    quant_max: Integer,
  ): [output: Tensor, mask: Tensor];
  feature_alpha_dropout_(p: Real, train: boolean): Tensor;
  feature_dropout_(p: Real, train: boolean): Tensor;
  fft_fft(n?: Integer | null, dim?: Integer, norm?: string | null): Tensor;
  fft_fft(options?: { n?: Integer | null; dim?: Integer; norm?: string | null }): Tensor;
  fft_fft(n?: Integer | null, options?: { dim?: Integer; norm?: string | null }): Tensor;
  fft_fft2(s?: Integers | null, dim?: Integers, norm?: string | null): Tensor;
  fft_fft2(options?: { s?: Integers | null; dim?: Integers; norm?: string | null }): Tensor;
  fft_fft2(s?: Integers | null, options?: { dim?: Integers; norm?: string | null }): Tensor;
  fft_fftn(s?: Integers | null, dim?: Integers | null, norm?: string | null): Tensor;
  fft_fftn(options?: { s?: Integers | null; dim?: Integers | null; norm?: string | null }): Tensor;
  fft_fftn(s?: Integers | null, options?: { dim?: Integers | null; norm?: string | null }): Tensor;
  fft_fftshift(dim?: Integers | null): Tensor;
  fft_fftshift(options?: { dim?: Integers | null }): Tensor;
  fft_hfft(n?: Integer | null, dim?: Integer, norm?: string | null): Tensor;
  fft_hfft(options?: { n?: Integer | null; dim?: Integer; norm?: string | null }): Tensor;
  fft_hfft(n?: Integer | null, options?: { dim?: Integer; norm?: string | null }): Tensor;
  fft_hfft2(s?: Integers | null, dim?: Integers, norm?: string | null): Tensor;
  fft_hfft2(options?: { s?: Integers | null; dim?: Integers; norm?: string | null }): Tensor;
  fft_hfft2(s?: Integers | null, options?: { dim?: Integers; norm?: string | null }): Tensor;
  fft_hfftn(s?: Integers | null, dim?: Integers | null, norm?: string | null): Tensor;
  fft_hfftn(options?: { s?: Integers | null; dim?: Integers | null; norm?: string | null }): Tensor;
  fft_hfftn(s?: Integers | null, options?: { dim?: Integers | null; norm?: string | null }): Tensor;
  fft_ifft(n?: Integer | null, dim?: Integer, norm?: string | null): Tensor;
  fft_ifft(options?: { n?: Integer | null; dim?: Integer; norm?: string | null }): Tensor;
  fft_ifft(n?: Integer | null, options?: { dim?: Integer; norm?: string | null }): Tensor;
  fft_ifft2(s?: Integers | null, dim?: Integers, norm?: string | null): Tensor;
  fft_ifft2(options?: { s?: Integers | null; dim?: Integers; norm?: string | null }): Tensor;
  fft_ifft2(s?: Integers | null, options?: { dim?: Integers; norm?: string | null }): Tensor;
  fft_ifftn(s?: Integers | null, dim?: Integers | null, norm?: string | null): Tensor;
  fft_ifftn(options?: { s?: Integers | null; dim?: Integers | null; norm?: string | null }): Tensor;
  fft_ifftn(s?: Integers | null, options?: { dim?: Integers | null; norm?: string | null }): Tensor;
  fft_ifftshift(dim?: Integers | null): Tensor;
  fft_ifftshift(options?: { dim?: Integers | null }): Tensor;
  fft_ihfft(n?: Integer | null, dim?: Integer, norm?: string | null): Tensor;
  fft_ihfft(options?: { n?: Integer | null; dim?: Integer; norm?: string | null }): Tensor;
  fft_ihfft(n?: Integer | null, options?: { dim?: Integer; norm?: string | null }): Tensor;
  fft_ihfft2(s?: Integers | null, dim?: Integers, norm?: string | null): Tensor;
  fft_ihfft2(options?: { s?: Integers | null; dim?: Integers; norm?: string | null }): Tensor;
  fft_ihfft2(s?: Integers | null, options?: { dim?: Integers; norm?: string | null }): Tensor;
  fft_ihfftn(s?: Integers | null, dim?: Integers | null, norm?: string | null): Tensor;
  fft_ihfftn(options?: { s?: Integers | null; dim?: Integers | null; norm?: string | null }): Tensor;
  fft_ihfftn(s?: Integers | null, options?: { dim?: Integers | null; norm?: string | null }): Tensor;
  fft_irfft(n?: Integer | null, dim?: Integer, norm?: string | null): Tensor;
  fft_irfft(options?: { n?: Integer | null; dim?: Integer; norm?: string | null }): Tensor;
  fft_irfft(n?: Integer | null, options?: { dim?: Integer; norm?: string | null }): Tensor;
  fft_irfft2(s?: Integers | null, dim?: Integers, norm?: string | null): Tensor;
  fft_irfft2(options?: { s?: Integers | null; dim?: Integers; norm?: string | null }): Tensor;
  fft_irfft2(s?: Integers | null, options?: { dim?: Integers; norm?: string | null }): Tensor;
  fft_irfftn(s?: Integers | null, dim?: Integers | null, norm?: string | null): Tensor;
  fft_irfftn(options?: { s?: Integers | null; dim?: Integers | null; norm?: string | null }): Tensor;
  fft_irfftn(s?: Integers | null, options?: { dim?: Integers | null; norm?: string | null }): Tensor;
  fft_rfft(n?: Integer | null, dim?: Integer, norm?: string | null): Tensor;
  fft_rfft(options?: { n?: Integer | null; dim?: Integer; norm?: string | null }): Tensor;
  fft_rfft(n?: Integer | null, options?: { dim?: Integer; norm?: string | null }): Tensor;
  fft_rfft2(s?: Integers | null, dim?: Integers, norm?: string | null): Tensor;
  fft_rfft2(options?: { s?: Integers | null; dim?: Integers; norm?: string | null }): Tensor;
  fft_rfft2(s?: Integers | null, options?: { dim?: Integers; norm?: string | null }): Tensor;
  fft_rfftn(s?: Integers | null, dim?: Integers | null, norm?: string | null): Tensor;
  fft_rfftn(options?: { s?: Integers | null; dim?: Integers | null; norm?: string | null }): Tensor;
  fft_rfftn(s?: Integers | null, options?: { dim?: Integers | null; norm?: string | null }): Tensor;
  fill(value: Scalar): Tensor;
  fill(value: Tensor): Tensor;
  fill_(value: Scalar): Tensor;
  fill_(value: Tensor): Tensor;
  fill_diagonal_(fill_value: Scalar, wrap?: boolean): Tensor;
  fill_diagonal_(fill_value: Scalar, options?: { wrap?: boolean }): Tensor;
  fix(): Tensor;
  fix_(): Tensor;
  flatten(start_dim?: Integer, end_dim?: Integer): Tensor;
  flatten(options?: { start_dim?: Integer; end_dim?: Integer }): Tensor;
  flip(dims: readonly Integer[]): Tensor;
  fliplr(): Tensor;
  flipud(): Tensor;
  float_power(exponent: Scalar): Tensor;
  float_power(exponent: Tensor): Tensor;
  float_power_(exponent: Scalar): Tensor;
  float_power_(exponent: Tensor): Tensor;
  floor(): Tensor;
  floor_(): Tensor;
  floor_divide(other: Tensor): Tensor;
  floor_divide(other: Scalar): Tensor;
  floor_divide_(other: Scalar): Tensor;
  floor_divide_(other: Tensor): Tensor;
  fmax(other: Tensor): Tensor;
  fmin(other: Tensor): Tensor;
  fmod(other: Scalar): Tensor;
  fmod(other: Tensor): Tensor;
  fmod_(other: Scalar): Tensor;
  fmod_(other: Tensor): Tensor;
  frac(): Tensor;
  frac_(): Tensor;
  fractional_max_pool2d(kernel_size: Integers, output_size: Integers, random_samples: Tensor): [Tensor, Tensor];
  fractional_max_pool3d(kernel_size: Integers, output_size: Integers, random_samples: Tensor): [Tensor, Tensor];
  frexp(): [mantissa: Tensor, exponent: Tensor];
  frobenius_norm(dim: Integers, keepdim?: boolean): Tensor;
  frobenius_norm(dim: Integers, options?: { keepdim?: boolean }): Tensor;
  full_like(
    fill_value: Scalar,
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      memory_format?: MemoryFormat | null;
    },
  ): Tensor;
  fused_moving_avg_obs_fake_quant(
    observer_on: Tensor,
    fake_quant_on: Tensor,
    running_min: Tensor,
    running_max: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    averaging_const: Real,
    quant_min: Integer,
    quant_max: Integer,
    ch_axis: Integer,
    per_row_fake_quant?: boolean,
    symmetric_quant?: boolean,
  ): Tensor;
  fused_moving_avg_obs_fake_quant(
    observer_on: Tensor,
    fake_quant_on: Tensor,
    running_min: Tensor,
    running_max: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    averaging_const: Real,
    quant_min: Integer,
    quant_max: Integer,
    ch_axis: Integer,
    options?: { per_row_fake_quant?: boolean; symmetric_quant?: boolean },
  ): Tensor;
  gather(dim: Integer, index: Tensor, options?: { sparse_grad?: boolean }): Tensor;
  gcd(other: Tensor): Tensor;
  gcd_(other: Tensor): Tensor;
  ge(other: Scalar): Tensor;
  ge(other: Tensor): Tensor;
  ge_(other: Scalar): Tensor;
  ge_(other: Tensor): Tensor;
  gelu(options?: { approximate?: string }): Tensor;
  gelu_(options?: { approximate?: string }): Tensor;
  geometric(p: Real): Tensor;
  geometric_(p: Real): Tensor;
  geqrf(): [a: Tensor, tau: Tensor];
  ger(vec2: Tensor): Tensor;
  /** Since libtorch 2.12. */
  get_device(): number;
  glu(dim?: Integer): Tensor;
  glu(options?: { dim?: Integer }): Tensor;
  gradient(options: { dim: readonly Integer[]; edge_order?: Integer }): Tensor[];
  gradient(options: { spacing: Scalar; dim: readonly Integer[]; edge_order?: Integer }): Tensor[];
  gradient(options?: { spacing?: Scalar | null; dim?: Integer | null; edge_order?: Integer }): Tensor[];
  gradient(options: { spacing: readonly Scalar[]; dim: readonly Integer[]; edge_order?: Integer }): Tensor[];
  gradient(options: { spacing: readonly Scalar[]; dim?: Integer | null; edge_order?: Integer }): Tensor[];
  gradient(options: { spacing: readonly Tensor[]; dim: readonly Integer[]; edge_order?: Integer }): Tensor[];
  gradient(options: { spacing: readonly Tensor[]; dim?: Integer | null; edge_order?: Integer }): Tensor[];
  greater(other: Scalar): Tensor;
  greater(other: Tensor): Tensor;
  greater_(other: Scalar): Tensor;
  greater_(other: Tensor): Tensor;
  greater_equal(other: Scalar): Tensor;
  greater_equal(other: Tensor): Tensor;
  greater_equal_(other: Scalar): Tensor;
  greater_equal_(other: Tensor): Tensor;
  gt(other: Scalar): Tensor;
  gt(other: Tensor): Tensor;
  gt_(other: Scalar): Tensor;
  gt_(other: Tensor): Tensor;
  hardshrink(lambd?: Scalar): Tensor;
  hardshrink(options?: { lambd?: Scalar }): Tensor;
  hardsigmoid(): Tensor;
  hardsigmoid_(): Tensor;
  hardswish(): Tensor;
  hardswish_(): Tensor;
  hardtanh(min_val?: Scalar, max_val?: Scalar): Tensor;
  hardtanh(options?: { min_val?: Scalar; max_val?: Scalar }): Tensor;
  hardtanh_(min_val?: Scalar, max_val?: Scalar): Tensor;
  hardtanh_(options?: { min_val?: Scalar; max_val?: Scalar }): Tensor;
  /** Since libtorch 2.9. */
  hash_tensor(dim?: Integers, options?: { keepdim?: boolean; mode?: Integer }): Tensor;
  /** Since libtorch 2.9. */
  hash_tensor(options?: { dim?: Integers; keepdim?: boolean; mode?: Integer }): Tensor;
  heaviside(values: Tensor): Tensor;
  heaviside_(values: Tensor): Tensor;
  hinge_embedding_loss(target: Tensor, margin?: Real, reduction?: Integer): Tensor;
  hinge_embedding_loss(target: Tensor, options?: { margin?: Real; reduction?: Integer }): Tensor;
  histc(bins?: Integer, min?: Scalar, max?: Scalar): Tensor;
  histc(options?: { bins?: Integer; min?: Scalar; max?: Scalar }): Tensor;
  histc(bins?: Integer, options?: { min?: Scalar; max?: Scalar }): Tensor;
  histogram(
    bins?: Integer,
    options?: { range?: readonly Real[] | null; weight?: Tensor | null; density?: boolean },
  ): [hist: Tensor, bin_edges: Tensor];
  histogram(options?: {
    bins?: Integer;
    range?: readonly Real[] | null;
    weight?: Tensor | null;
    density?: boolean;
  }): [hist: Tensor, bin_edges: Tensor];
  histogram(bins: Tensor, options?: { weight?: Tensor | null; density?: boolean }): [hist: Tensor, bin_edges: Tensor];
  histogramdd(
    bins: readonly Integer[],
    range?: readonly Real[] | null,
    weight?: Tensor | null,
    density?: boolean,
  ): [hist: Tensor, bin_edges: Tensor[]];
  histogramdd(
    bins: readonly Integer[],
    options?: { range?: readonly Real[] | null; weight?: Tensor | null; density?: boolean },
  ): [hist: Tensor, bin_edges: Tensor[]];
  histogramdd(
    bins: readonly Integer[],
    range?: readonly Real[] | null,
    options?: { weight?: Tensor | null; density?: boolean },
  ): [hist: Tensor, bin_edges: Tensor[]];
  histogramdd(
    bins: readonly Tensor[],
    range?: readonly Real[] | null,
    weight?: Tensor | null,
    density?: boolean,
  ): [hist: Tensor, bin_edges: Tensor[]];
  histogramdd(
    bins: readonly Tensor[],
    options?: { range?: readonly Real[] | null; weight?: Tensor | null; density?: boolean },
  ): [hist: Tensor, bin_edges: Tensor[]];
  histogramdd(
    bins: readonly Tensor[],
    range?: readonly Real[] | null,
    options?: { weight?: Tensor | null; density?: boolean },
  ): [hist: Tensor, bin_edges: Tensor[]];
  histogramdd(
    bins: Integer,
    range?: readonly Real[] | null,
    weight?: Tensor | null,
    density?: boolean,
  ): [hist: Tensor, bin_edges: Tensor[]];
  histogramdd(
    bins: Integer,
    options?: { range?: readonly Real[] | null; weight?: Tensor | null; density?: boolean },
  ): [hist: Tensor, bin_edges: Tensor[]];
  histogramdd(
    bins: Integer,
    range?: readonly Real[] | null,
    options?: { weight?: Tensor | null; density?: boolean },
  ): [hist: Tensor, bin_edges: Tensor[]];
  hsplit(indices: readonly Integer[]): Tensor[];
  hsplit(sections: Integer): Tensor[];
  huber_loss(target: Tensor, reduction?: Integer, delta?: Real): Tensor;
  huber_loss(target: Tensor, options?: { reduction?: Integer; delta?: Real }): Tensor;
  hypot(other: Tensor): Tensor;
  hypot_(other: Tensor): Tensor;
  i0(): Tensor;
  i0_(): Tensor;
  igamma(other: Tensor): Tensor;
  igamma_(other: Tensor): Tensor;
  igammac(other: Tensor): Tensor;
  igammac_(other: Tensor): Tensor;
  im2col(kernel_size: Integers, dilation: Integers, padding: Integers, stride: Integers): Tensor;
  imag(): Tensor;
  index(indices: readonly (Tensor | null)[]): Tensor;
  index_add(dim: Integer, index: Tensor, source: Tensor, options?: { alpha?: Scalar }): Tensor;
  index_add_(dim: Integer, index: Tensor, source: Tensor, options?: { alpha?: Scalar }): Tensor;
  index_copy(dim: Integer, index: Tensor, source: Tensor): Tensor;
  index_copy_(dim: Integer, index: Tensor, source: Tensor): Tensor;
  index_fill(dim: Integer, index: Tensor, value: Scalar): Tensor;
  index_fill(dim: Integer, index: Tensor, value: Tensor): Tensor;
  index_fill_(dim: Integer, index: Tensor, value: Scalar): Tensor;
  index_fill_(dim: Integer, index: Tensor, value: Tensor): Tensor;
  index_put(indices: readonly (Tensor | null)[], values: Tensor, accumulate?: boolean): Tensor;
  index_put(indices: readonly (Tensor | null)[], values: Tensor, options?: { accumulate?: boolean }): Tensor;
  index_put_(indices: readonly (Tensor | null)[], values: Tensor, accumulate?: boolean): Tensor;
  index_put_(indices: readonly (Tensor | null)[], values: Tensor, options?: { accumulate?: boolean }): Tensor;
  index_reduce(
    dim: Integer,
    index: Tensor,
    source: Tensor,
    reduce: string,
    options?: { include_self?: boolean },
  ): Tensor;
  index_reduce_(
    dim: Integer,
    index: Tensor,
    source: Tensor,
    reduce: string,
    options?: { include_self?: boolean },
  ): Tensor;
  index_select(dim: Integer, index: Tensor): Tensor;
  indices(): Tensor;
  indices_copy(): Tensor;
  inner(other: Tensor): Tensor;
  int_repr(): Tensor;
  inverse(): Tensor;
  is_coalesced(): boolean;
  is_complex(): boolean;
  is_conj(): boolean;
  /** Since libtorch 2.12. */
  is_contiguous(): boolean;
  /** Since libtorch 2.12. */
  is_contiguous(memory_format: MemoryFormat): boolean;
  is_distributed(): boolean;
  is_floating_point(): boolean;
  is_inference(): boolean;
  is_leaf(): boolean;
  is_neg(): boolean;
  is_nonzero(): boolean;
  is_pinned(device?: Device | null): boolean;
  is_pinned(options?: { device?: Device | null }): boolean;
  is_same_size(other: Tensor): boolean;
  is_set_to(tensor: Tensor): boolean;
  is_signed(): boolean;
  isclose(other: Tensor, rtol?: Real, atol?: Real, equal_nan?: boolean): Tensor;
  isclose(other: Tensor, options?: { rtol?: Real; atol?: Real; equal_nan?: boolean }): Tensor;
  isclose(other: Tensor, rtol?: Real, options?: { atol?: Real; equal_nan?: boolean }): Tensor;
  isfinite(): Tensor;
  isinf(): Tensor;
  isnan(): Tensor;
  isneginf(): Tensor;
  isposinf(): Tensor;
  isreal(): Tensor;
  istft(
    n_fft: Integer,
    hop_length?: Integer | null,
    win_length?: Integer | null,
    window?: Tensor | null,
    center?: boolean,
    normalized?: boolean,
    onesided?: boolean | null,
    length?: Integer | null,
    return_complex?: boolean,
  ): Tensor;
  istft(
    n_fft: Integer,
    options?: {
      hop_length?: Integer | null;
      win_length?: Integer | null;
      window?: Tensor | null;
      center?: boolean;
      normalized?: boolean;
      onesided?: boolean | null;
      length?: Integer | null;
      return_complex?: boolean;
    },
  ): Tensor;
  istft(
    n_fft: Integer,
    hop_length?: Integer | null,
    options?: {
      win_length?: Integer | null;
      window?: Tensor | null;
      center?: boolean;
      normalized?: boolean;
      onesided?: boolean | null;
      length?: Integer | null;
      return_complex?: boolean;
    },
  ): Tensor;
  kl_div(target: Tensor, reduction?: Integer, options?: { log_target?: boolean }): Tensor;
  kl_div(target: Tensor, options?: { reduction?: Integer; log_target?: boolean }): Tensor;
  kron(other: Tensor): Tensor;
  kthvalue(k: Integer, dim?: Integer, keepdim?: boolean): [values: Tensor, indices: Tensor];
  kthvalue(k: Integer, options?: { dim?: Integer; keepdim?: boolean }): [values: Tensor, indices: Tensor];
  l1_loss(target: Tensor, reduction?: Integer): Tensor;
  l1_loss(target: Tensor, options?: { reduction?: Integer }): Tensor;
  lcm(other: Tensor): Tensor;
  lcm_(other: Tensor): Tensor;
  ldexp(other: Tensor): Tensor;
  ldexp_(other: Tensor): Tensor;
  le(other: Scalar): Tensor;
  le(other: Tensor): Tensor;
  le_(other: Scalar): Tensor;
  le_(other: Tensor): Tensor;
  leaky_relu(negative_slope?: Scalar): Tensor;
  leaky_relu(options?: { negative_slope?: Scalar }): Tensor;
  leaky_relu_(negative_slope?: Scalar): Tensor;
  leaky_relu_(options?: { negative_slope?: Scalar }): Tensor;
  lerp(end: Tensor, weight: Scalar): Tensor;
  lerp(end: Tensor, weight: Tensor): Tensor;
  lerp_(end: Tensor, weight: Scalar): Tensor;
  lerp_(end: Tensor, weight: Tensor): Tensor;
  less(other: Scalar): Tensor;
  less(other: Tensor): Tensor;
  less_(other: Scalar): Tensor;
  less_(other: Tensor): Tensor;
  less_equal(other: Scalar): Tensor;
  less_equal(other: Tensor): Tensor;
  less_equal_(other: Scalar): Tensor;
  less_equal_(other: Tensor): Tensor;
  lgamma(): Tensor;
  lgamma_(): Tensor;
  lift(): Tensor;
  lift_fresh(): Tensor;
  lift_fresh_copy(): Tensor;
  /** Since libtorch 2.11. */
  linalg__powsum(ord?: Scalar, dim?: Integers | null, keepdim?: boolean, options?: { dtype?: Dtype | null }): Tensor;
  /** Since libtorch 2.11. */
  linalg__powsum(options?: { ord?: Scalar; dim?: Integers | null; keepdim?: boolean; dtype?: Dtype | null }): Tensor;
  /** Since libtorch 2.11. */
  linalg__powsum(ord?: Scalar, options?: { dim?: Integers | null; keepdim?: boolean; dtype?: Dtype | null }): Tensor;
  linalg_cholesky(options?: { upper?: boolean }): Tensor;
  linalg_cholesky_ex(options?: { upper?: boolean; check_errors?: boolean }): [L: Tensor, info: Tensor];
  linalg_cond(p?: Scalar | null): Tensor;
  linalg_cond(options?: { p?: Scalar | null }): Tensor;
  linalg_cond(p: string): Tensor;
  linalg_cross(other: Tensor, options?: { dim?: Integer }): Tensor;
  linalg_eig(): [eigenvalues: Tensor, eigenvectors: Tensor];
  linalg_eigh(UPLO?: string): [eigenvalues: Tensor, eigenvectors: Tensor];
  linalg_eigh(options?: { UPLO?: string }): [eigenvalues: Tensor, eigenvectors: Tensor];
  linalg_eigvals(): Tensor;
  linalg_eigvalsh(UPLO?: string): Tensor;
  linalg_eigvalsh(options?: { UPLO?: string }): Tensor;
  linalg_ldl_factor(options?: { hermitian?: boolean }): [LD: Tensor, pivots: Tensor];
  linalg_ldl_factor_ex(options?: {
    hermitian?: boolean;
    check_errors?: boolean;
  }): [LD: Tensor, pivots: Tensor, info: Tensor];
  linalg_lstsq(
    b: Tensor,
    rcond?: Real | null,
    options?: { driver?: string | null },
  ): [solution: Tensor, residuals: Tensor, rank: Tensor, singular_values: Tensor];
  linalg_lstsq(
    b: Tensor,
    options?: { rcond?: Real | null; driver?: string | null },
  ): [solution: Tensor, residuals: Tensor, rank: Tensor, singular_values: Tensor];
  linalg_matmul(other: Tensor): Tensor;
  linalg_matrix_exp(): Tensor;
  linalg_matrix_norm(
    ord: Scalar,
    dim?: readonly Integer[],
    keepdim?: boolean,
    options?: { dtype?: Dtype | null },
  ): Tensor;
  linalg_matrix_norm(
    ord: Scalar,
    options?: { dim?: readonly Integer[]; keepdim?: boolean; dtype?: Dtype | null },
  ): Tensor;
  linalg_matrix_norm(
    ord?: string,
    dim?: readonly Integer[],
    keepdim?: boolean,
    options?: { dtype?: Dtype | null },
  ): Tensor;
  linalg_matrix_norm(options?: {
    ord?: string;
    dim?: readonly Integer[];
    keepdim?: boolean;
    dtype?: Dtype | null;
  }): Tensor;
  linalg_matrix_norm(
    ord?: string,
    options?: { dim?: readonly Integer[]; keepdim?: boolean; dtype?: Dtype | null },
  ): Tensor;
  linalg_matrix_power(n: Integer): Tensor;
  linalg_matrix_rank(tol: Real, hermitian?: boolean): Tensor;
  linalg_matrix_rank(tol: Real, options?: { hermitian?: boolean }): Tensor;
  linalg_matrix_rank(options?: { atol?: Real | null; rtol?: Real | null; hermitian?: boolean }): Tensor;
  /** Since libtorch 2.14. */
  linalg_matrix_sqrth(): Tensor;
  linalg_norm(
    ord?: Scalar | null,
    dim?: Integers | null,
    keepdim?: boolean,
    options?: { dtype?: Dtype | null },
  ): Tensor;
  linalg_norm(options?: {
    ord?: Scalar | null;
    dim?: Integers | null;
    keepdim?: boolean;
    dtype?: Dtype | null;
  }): Tensor;
  linalg_norm(
    ord?: Scalar | null,
    options?: { dim?: Integers | null; keepdim?: boolean; dtype?: Dtype | null },
  ): Tensor;
  linalg_norm(ord: string, dim?: Integers | null, keepdim?: boolean, options?: { dtype?: Dtype | null }): Tensor;
  linalg_norm(ord: string, options?: { dim?: Integers | null; keepdim?: boolean; dtype?: Dtype | null }): Tensor;
  linalg_pinv(rcond: Real, hermitian?: boolean): Tensor;
  linalg_pinv(rcond: Real, options?: { hermitian?: boolean }): Tensor;
  linalg_pinv(options?: { atol?: Real | null; rtol?: Real | null; hermitian?: boolean }): Tensor;
  linalg_pinv(options?: { atol?: Tensor | null; rtol?: Tensor | null; hermitian?: boolean }): Tensor;
  linalg_pinv(rcond: Tensor, hermitian?: boolean): Tensor;
  linalg_pinv(rcond: Tensor, options?: { hermitian?: boolean }): Tensor;
  linalg_solve_triangular(B: Tensor, options: { upper: boolean; left?: boolean; unitriangular?: boolean }): Tensor;
  linalg_tensorinv(ind?: Integer): Tensor;
  linalg_tensorinv(options?: { ind?: Integer }): Tensor;
  linalg_tensorsolve(other: Tensor, dims?: readonly Integer[] | null): Tensor;
  linalg_tensorsolve(other: Tensor, options?: { dims?: readonly Integer[] | null }): Tensor;
  linalg_vector_norm(
    ord?: Scalar,
    dim?: Integers | null,
    keepdim?: boolean,
    options?: { dtype?: Dtype | null },
  ): Tensor;
  linalg_vector_norm(options?: {
    ord?: Scalar;
    dim?: Integers | null;
    keepdim?: boolean;
    dtype?: Dtype | null;
  }): Tensor;
  linalg_vector_norm(
    ord?: Scalar,
    options?: { dim?: Integers | null; keepdim?: boolean; dtype?: Dtype | null },
  ): Tensor;
  linear_backward(
    grad_output: Tensor,
    weight: Tensor,
    output_mask: boolean | readonly boolean[],
  ): [Tensor, Tensor, Tensor];
  log(): Tensor;
  log10(): Tensor;
  log10_(): Tensor;
  log1p(): Tensor;
  log1p_(): Tensor;
  log2(): Tensor;
  log2_(): Tensor;
  log_(): Tensor;
  log_normal(mean?: Real, std?: Real): Tensor;
  log_normal(options?: { mean?: Real; std?: Real }): Tensor;
  log_normal_(mean?: Real, std?: Real): Tensor;
  log_normal_(options?: { mean?: Real; std?: Real }): Tensor;
  log_sigmoid(): Tensor;
  log_sigmoid_forward(): [output: Tensor, buffer: Tensor];
  log_softmax(dim: Integer, dtype?: Dtype | null): Tensor;
  log_softmax(dim: Integer, options?: { dtype?: Dtype | null }): Tensor;
  logaddexp(other: Tensor): Tensor;
  logaddexp2(other: Tensor): Tensor;
  logcumsumexp(dim: Integer): Tensor;
  logdet(): Tensor;
  logical_and(other: Tensor): Tensor;
  logical_and_(other: Tensor): Tensor;
  logical_not(): Tensor;
  logical_not_(): Tensor;
  logical_or(other: Tensor): Tensor;
  logical_or_(other: Tensor): Tensor;
  logical_xor(other: Tensor): Tensor;
  logical_xor_(other: Tensor): Tensor;
  logit(eps?: Real | null): Tensor;
  logit(options?: { eps?: Real | null }): Tensor;
  logit_(eps?: Real | null): Tensor;
  logit_(options?: { eps?: Real | null }): Tensor;
  logsumexp(dim: Integers, keepdim?: boolean): Tensor;
  logsumexp(dim: Integers, options?: { keepdim?: boolean }): Tensor;
  lt(other: Scalar): Tensor;
  lt(other: Tensor): Tensor;
  lt_(other: Scalar): Tensor;
  lt_(other: Tensor): Tensor;
  lu_solve(LU_data: Tensor, LU_pivots: Tensor): Tensor;
  mH(): Tensor;
  mT(): Tensor;
  masked_fill(mask: Tensor, value: Scalar): Tensor;
  masked_fill(mask: Tensor, value: Tensor): Tensor;
  masked_fill_(mask: Tensor, value: Scalar): Tensor;
  masked_fill_(mask: Tensor, value: Tensor): Tensor;
  masked_scatter(mask: Tensor, source: Tensor): Tensor;
  masked_scatter_(mask: Tensor, source: Tensor): Tensor;
  masked_select(mask: Tensor): Tensor;
  matmul(other: Tensor): Tensor;
  matrix_H(): Tensor;
  matrix_exp(): Tensor;
  matrix_exp_backward(grad: Tensor): Tensor;
  matrix_power(n: Integer): Tensor;
  max(): Tensor;
  max(dim: Integer, keepdim?: boolean): [values: Tensor, indices: Tensor];
  max(dim: Integer, options?: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  max(other: Tensor): Tensor;
  max_pool1d(
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  max_pool1d(
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  max_pool1d(
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  max_pool1d_with_indices(
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): [Tensor, Tensor];
  max_pool1d_with_indices(
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): [Tensor, Tensor];
  max_pool1d_with_indices(
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): [Tensor, Tensor];
  max_pool2d(
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  max_pool2d(
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  max_pool2d(
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  max_pool2d_with_indices(
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): [Tensor, Tensor];
  max_pool2d_with_indices(
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): [Tensor, Tensor];
  max_pool2d_with_indices(
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): [Tensor, Tensor];
  max_pool3d(
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  max_pool3d(
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  max_pool3d(
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  max_pool3d_with_indices(
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): [Tensor, Tensor];
  max_pool3d_with_indices(
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): [Tensor, Tensor];
  max_pool3d_with_indices(
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): [Tensor, Tensor];
  max_unpool2d(indices: Tensor, output_size: Integers): Tensor;
  max_unpool3d(indices: Tensor, output_size: Integers, stride: Integers, padding: Integers): Tensor;
  maximum(other: Tensor): Tensor;
  mean(options?: { dtype?: Dtype | null }): Tensor;
  mean(dim: Integers | null, keepdim?: boolean, options?: { dtype?: Dtype | null }): Tensor;
  mean(dim: Integers | null, options?: { keepdim?: boolean; dtype?: Dtype | null }): Tensor;
  median(): Tensor;
  median(dim: Integer, keepdim?: boolean): [values: Tensor, indices: Tensor];
  median(dim: Integer, options?: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  min(): Tensor;
  min(dim: Integer, keepdim?: boolean): [values: Tensor, indices: Tensor];
  min(dim: Integer, options?: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  min(other: Tensor): Tensor;
  minimum(other: Tensor): Tensor;
  mish(): Tensor;
  mish_(): Tensor;
  mkldnn_adaptive_avg_pool2d(output_size: Integers): Tensor;
  mkldnn_convolution(
    weight: Tensor,
    bias: Tensor | null,
    padding: readonly Integer[],
    stride: readonly Integer[],
    dilation: readonly Integer[],
    groups: Integer,
  ): Tensor;
  mkldnn_linear(weight: Tensor, bias?: Tensor | null): Tensor;
  mkldnn_linear(weight: Tensor, options?: { bias?: Tensor | null }): Tensor;
  mkldnn_linear_backward(
    grad_output: Tensor,
    weight: Tensor,
    output_mask: boolean | readonly boolean[],
  ): [Tensor, Tensor, Tensor];
  mkldnn_max_pool2d(
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  mkldnn_max_pool2d(
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  mkldnn_max_pool2d(
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  mkldnn_max_pool3d(
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  mkldnn_max_pool3d(
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  mkldnn_max_pool3d(
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  mkldnn_reorder_conv2d_weight(
    padding?: Integers,
    stride?: Integers,
    dilation?: Integers,
    groups?: Integer,
    input_size?: readonly Integer[] | null,
  ): Tensor;
  mkldnn_reorder_conv2d_weight(options?: {
    padding?: Integers;
    stride?: Integers;
    dilation?: Integers;
    groups?: Integer;
    input_size?: readonly Integer[] | null;
  }): Tensor;
  mkldnn_reorder_conv2d_weight(
    padding?: Integers,
    options?: { stride?: Integers; dilation?: Integers; groups?: Integer; input_size?: readonly Integer[] | null },
  ): Tensor;
  mkldnn_reorder_conv3d_weight(
    padding?: Integers,
    stride?: Integers,
    dilation?: Integers,
    groups?: Integer,
    input_size?: readonly Integer[] | null,
  ): Tensor;
  mkldnn_reorder_conv3d_weight(options?: {
    padding?: Integers;
    stride?: Integers;
    dilation?: Integers;
    groups?: Integer;
    input_size?: readonly Integer[] | null;
  }): Tensor;
  mkldnn_reorder_conv3d_weight(
    padding?: Integers,
    options?: { stride?: Integers; dilation?: Integers; groups?: Integer; input_size?: readonly Integer[] | null },
  ): Tensor;
  mm(mat2: Tensor): Tensor;
  /** Since libtorch 2.8. */
  mm(mat2: Tensor, out_dtype: Dtype): Tensor;
  mode(dim?: Integer, keepdim?: boolean): [values: Tensor, indices: Tensor];
  mode(options?: { dim?: Integer; keepdim?: boolean }): [values: Tensor, indices: Tensor];
  moveaxis(source: Integer, destination: Integer): Tensor;
  moveaxis(source: readonly Integer[], destination: readonly Integer[]): Tensor;
  movedim(source: Integer, destination: Integer): Tensor;
  movedim(source: readonly Integer[], destination: readonly Integer[]): Tensor;
  mse_loss(target: Tensor, reduction?: Integer): Tensor;
  mse_loss(target: Tensor, options?: { reduction?: Integer }): Tensor;
  msort(): Tensor;
  mul(other: Scalar): Tensor;
  mul(other: Tensor): Tensor;
  mul_(other: Scalar): Tensor;
  mul_(other: Tensor): Tensor;
  multi_margin_loss(target: Tensor, p?: Scalar, margin?: Scalar, weight?: Tensor | null, reduction?: Integer): Tensor;
  multi_margin_loss(
    target: Tensor,
    options?: { p?: Scalar; margin?: Scalar; weight?: Tensor | null; reduction?: Integer },
  ): Tensor;
  multi_margin_loss(
    target: Tensor,
    p?: Scalar,
    options?: { margin?: Scalar; weight?: Tensor | null; reduction?: Integer },
  ): Tensor;
  multilabel_margin_loss(target: Tensor, reduction?: Integer): Tensor;
  multilabel_margin_loss(target: Tensor, options?: { reduction?: Integer }): Tensor;
  multilabel_margin_loss_forward(target: Tensor, reduction: Integer): [output: Tensor, is_target: Tensor];
  multinomial(num_samples: Integer, replacement?: boolean): Tensor;
  multinomial(num_samples: Integer, options?: { replacement?: boolean }): Tensor;
  multiply(other: Scalar): Tensor;
  multiply(other: Tensor): Tensor;
  multiply_(other: Scalar): Tensor;
  multiply_(other: Tensor): Tensor;
  mv(vec: Tensor): Tensor;
  mvlgamma(p: Integer): Tensor;
  mvlgamma_(p: Integer): Tensor;
  nan_to_num(nan?: Real | null, posinf?: Real | null, neginf?: Real | null): Tensor;
  nan_to_num(options?: { nan?: Real | null; posinf?: Real | null; neginf?: Real | null }): Tensor;
  nan_to_num(nan?: Real | null, options?: { posinf?: Real | null; neginf?: Real | null }): Tensor;
  nan_to_num_(nan?: Real | null, posinf?: Real | null, neginf?: Real | null): Tensor;
  nan_to_num_(options?: { nan?: Real | null; posinf?: Real | null; neginf?: Real | null }): Tensor;
  nan_to_num_(nan?: Real | null, options?: { posinf?: Real | null; neginf?: Real | null }): Tensor;
  nanmean(dim?: Integers | null, keepdim?: boolean, options?: { dtype?: Dtype | null }): Tensor;
  nanmean(options?: { dim?: Integers | null; keepdim?: boolean; dtype?: Dtype | null }): Tensor;
  nanmedian(): Tensor;
  nanmedian(dim: Integer, keepdim?: boolean): [values: Tensor, indices: Tensor];
  nanmedian(dim: Integer, options?: { keepdim?: boolean }): [values: Tensor, indices: Tensor];
  nanquantile(q: Tensor, dim?: Integer | null, keepdim?: boolean, options?: { interpolation?: string }): Tensor;
  nanquantile(q: Tensor, options?: { dim?: Integer | null; keepdim?: boolean; interpolation?: string }): Tensor;
  nanquantile(q: Real, dim?: Integer | null, keepdim?: boolean, options?: { interpolation?: string }): Tensor;
  nanquantile(q: Real, options?: { dim?: Integer | null; keepdim?: boolean; interpolation?: string }): Tensor;
  nansum(dim?: Integers | null, keepdim?: boolean, options?: { dtype?: Dtype | null }): Tensor;
  nansum(options?: { dim?: Integers | null; keepdim?: boolean; dtype?: Dtype | null }): Tensor;
  narrow(dim: Integer, start: Integer, length: Integer): Tensor;
  narrow(dim: Integer, start: Tensor, length: Integer): Tensor;
  narrow_copy(dim: Integer, start: Integer, length: Integer): Tensor;
  native_channel_shuffle(groups: Integer): Tensor;
  native_norm(p?: Scalar): Tensor;
  native_norm(options?: { p?: Scalar }): Tensor;
  native_norm(p: Scalar | null, dim: Integers, keepdim: boolean, dtype: Dtype | null): Tensor;
  ne(other: Scalar): Tensor;
  ne(other: Tensor): Tensor;
  ne_(other: Scalar): Tensor;
  ne_(other: Tensor): Tensor;
  neg(): Tensor;
  neg_(): Tensor;
  negative(): Tensor;
  negative_(): Tensor;
  nested_to_padded_tensor(padding: Real, output_size?: readonly Integer[] | null): Tensor;
  nested_to_padded_tensor(padding: Real, options?: { output_size?: readonly Integer[] | null }): Tensor;
  new_empty(
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  new_empty_strided(
    size: readonly Integer[],
    stride: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  new_full(
    size: readonly Integer[],
    fill_value: Scalar,
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  new_ones(
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  new_zeros(
    size: readonly Integer[],
    options?: { dtype?: Dtype | null; layout?: Layout | null; device?: Device | null; pin_memory?: boolean | null },
  ): Tensor;
  nextafter(other: Tensor): Tensor;
  nextafter_(other: Tensor): Tensor;
  nll_loss(target: Tensor, weight?: Tensor | null, reduction?: Integer, ignore_index?: Integer): Tensor;
  nll_loss(target: Tensor, options?: { weight?: Tensor | null; reduction?: Integer; ignore_index?: Integer }): Tensor;
  nll_loss(target: Tensor, weight?: Tensor | null, options?: { reduction?: Integer; ignore_index?: Integer }): Tensor;
  nll_loss2d(target: Tensor, weight?: Tensor | null, reduction?: Integer, ignore_index?: Integer): Tensor;
  nll_loss2d(target: Tensor, options?: { weight?: Tensor | null; reduction?: Integer; ignore_index?: Integer }): Tensor;
  nll_loss2d(target: Tensor, weight?: Tensor | null, options?: { reduction?: Integer; ignore_index?: Integer }): Tensor;
  nll_loss2d_forward(
    target: Tensor,
    weight: Tensor | null,
    reduction: Integer,
    ignore_index: Integer,
  ): [output: Tensor, total_weight: Tensor];
  nll_loss_forward(
    target: Tensor,
    weight: Tensor | null,
    reduction: Integer,
    ignore_index: Integer,
  ): [output: Tensor, total_weight: Tensor];
  nll_loss_nd(target: Tensor, weight?: Tensor | null, reduction?: Integer, ignore_index?: Integer): Tensor;
  nll_loss_nd(
    target: Tensor,
    options?: { weight?: Tensor | null; reduction?: Integer; ignore_index?: Integer },
  ): Tensor;
  nll_loss_nd(
    target: Tensor,
    weight?: Tensor | null,
    options?: { reduction?: Integer; ignore_index?: Integer },
  ): Tensor;
  nonzero(): Tensor;
  nonzero_numpy(): Tensor[];
  /** Since libtorch 2.1. */
  nonzero_static(options: { size: Integer; fill_value?: Integer }): Tensor;
  norm(p?: Scalar): Tensor;
  norm(options?: { p?: Scalar }): Tensor;
  norm(p: Scalar | null, dim: Integers, keepdim?: boolean): Tensor;
  norm(p: Scalar | null, dim: Integers, options?: { keepdim?: boolean }): Tensor;
  norm(p: Scalar | null, dim: Integers, keepdim: boolean, options: { dtype: Dtype }): Tensor;
  norm(p: Scalar | null, options: { dtype: Dtype }): Tensor;
  normal_(mean?: Real, std?: Real): Tensor;
  normal_(options?: { mean?: Real; std?: Real }): Tensor;
  normal_functional(mean?: Real, std?: Real): Tensor;
  normal_functional(options?: { mean?: Real; std?: Real }): Tensor;
  not_equal(other: Scalar): Tensor;
  not_equal(other: Tensor): Tensor;
  not_equal_(other: Scalar): Tensor;
  not_equal_(other: Tensor): Tensor;
  nuclear_norm(keepdim?: boolean): Tensor;
  nuclear_norm(options?: { keepdim?: boolean }): Tensor;
  nuclear_norm(dim: Integers, keepdim?: boolean): Tensor;
  nuclear_norm(dim: Integers, options?: { keepdim?: boolean }): Tensor;
  /** Since libtorch 2.12. */
  numel(): number;
  numpy_T(): Tensor;
  one_hot(num_classes?: Integer): Tensor;
  one_hot(options?: { num_classes?: Integer }): Tensor;
  ones_like(options?: {
    dtype?: Dtype | null;
    layout?: Layout | null;
    device?: Device | null;
    pin_memory?: boolean | null;
    memory_format?: MemoryFormat | null;
  }): Tensor;
  orgqr(input2: Tensor): Tensor;
  ormqr(input2: Tensor, input3: Tensor, left?: boolean, transpose?: boolean): Tensor;
  ormqr(input2: Tensor, input3: Tensor, options?: { left?: boolean; transpose?: boolean }): Tensor;
  outer(vec2: Tensor): Tensor;
  output_nr(): number;
  pad(pad: readonly Integer[], mode?: string, value?: Real | null): Tensor;
  pad(pad: readonly Integer[], options?: { mode?: string; value?: Real | null }): Tensor;
  pdist(p?: Real): Tensor;
  pdist(options?: { p?: Real }): Tensor;
  permute(dims: readonly Integer[]): Tensor;
  permute_copy(dims: readonly Integer[]): Tensor;
  pin_memory(device?: Device | null): Tensor;
  pin_memory(options?: { device?: Device | null }): Tensor;
  pinverse(rcond?: Real): Tensor;
  pinverse(options?: { rcond?: Real }): Tensor;
  pixel_shuffle(upscale_factor: Integer): Tensor;
  pixel_unshuffle(downscale_factor: Integer): Tensor;
  poisson(): Tensor;
  polygamma_(n: Integer): Tensor;
  positive(): Tensor;
  pow(exponent: Scalar): Tensor;
  pow(exponent: Tensor): Tensor;
  pow_(exponent: Scalar): Tensor;
  pow_(exponent: Tensor): Tensor;
  prelu(weight: Tensor): Tensor;
  prod(options?: { dtype?: Dtype | null }): Tensor;
  prod(dim: Integer, keepdim?: boolean, options?: { dtype?: Dtype | null }): Tensor;
  prod(dim: Integer, options?: { keepdim?: boolean; dtype?: Dtype | null }): Tensor;
  put(index: Tensor, source: Tensor, accumulate?: boolean): Tensor;
  put(index: Tensor, source: Tensor, options?: { accumulate?: boolean }): Tensor;
  put_(index: Tensor, source: Tensor, accumulate?: boolean): Tensor;
  put_(index: Tensor, source: Tensor, options?: { accumulate?: boolean }): Tensor;
  q_per_channel_axis(): number;
  q_per_channel_scales(): Tensor;
  q_per_channel_zero_points(): Tensor;
  q_scale(): number;
  q_zero_point(): number;
  quantile(q: Tensor, dim?: Integer | null, keepdim?: boolean, options?: { interpolation?: string }): Tensor;
  quantile(q: Tensor, options?: { dim?: Integer | null; keepdim?: boolean; interpolation?: string }): Tensor;
  quantile(q: Real, dim?: Integer | null, keepdim?: boolean, options?: { interpolation?: string }): Tensor;
  quantile(q: Real, options?: { dim?: Integer | null; keepdim?: boolean; interpolation?: string }): Tensor;
  quantize_per_channel(scales: Tensor, zero_points: Tensor, axis: Integer, dtype: Dtype): Tensor;
  quantize_per_tensor(scale: Real, zero_point: Integer, dtype: Dtype): Tensor;
  quantize_per_tensor(scale: Tensor, zero_point: Tensor, dtype: Dtype): Tensor;
  quantize_per_tensor_dynamic(dtype: Dtype, reduce_range: boolean): Tensor;
  quantized_max_pool1d(
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  quantized_max_pool1d(
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  quantized_max_pool1d(
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  quantized_max_pool2d(
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  quantized_max_pool2d(
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  quantized_max_pool2d(
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  /** Since libtorch 2.1. */
  quantized_max_pool3d(
    kernel_size: Integers,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
    ceil_mode?: boolean,
  ): Tensor;
  /** Since libtorch 2.1. */
  quantized_max_pool3d(
    kernel_size: Integers,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  /** Since libtorch 2.1. */
  quantized_max_pool3d(
    kernel_size: Integers,
    stride?: Integers,
    options?: { padding?: Integers; dilation?: Integers; ceil_mode?: boolean },
  ): Tensor;
  rad2deg(): Tensor;
  rad2deg_(): Tensor;
  rand_like(options?: {
    dtype?: Dtype | null;
    layout?: Layout | null;
    device?: Device | null;
    pin_memory?: boolean | null;
    memory_format?: MemoryFormat | null;
  }): Tensor;
  randint_like(
    high: Integer,
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      memory_format?: MemoryFormat | null;
    },
  ): Tensor;
  /** Since libtorch 2.8. */
  randint_like(
    high: Tensor,
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      memory_format?: MemoryFormat | null;
    },
  ): Tensor;
  randint_like(
    low: Integer,
    high: Integer,
    options?: {
      dtype?: Dtype | null;
      layout?: Layout | null;
      device?: Device | null;
      pin_memory?: boolean | null;
      memory_format?: MemoryFormat | null;
    },
  ): Tensor;
  randn_like(options?: {
    dtype?: Dtype | null;
    layout?: Layout | null;
    device?: Device | null;
    pin_memory?: boolean | null;
    memory_format?: MemoryFormat | null;
  }): Tensor;
  random(): Tensor;
  random(from: Integer, to: Integer | null): Tensor;
  random(to: Integer): Tensor;
  random_(): Tensor;
  random_(from: Integer, to: Integer | null): Tensor;
  random_(to: Integer): Tensor;
  ravel(): Tensor;
  real(): Tensor;
  reciprocal(): Tensor;
  reciprocal_(): Tensor;
  reflection_pad1d(padding: Integers): Tensor;
  reflection_pad2d(padding: Integers): Tensor;
  reflection_pad3d(padding: Integers): Tensor;
  relu(): Tensor;
  relu6(): Tensor;
  relu6_(): Tensor;
  relu_(): Tensor;
  remainder(other: Scalar): Tensor;
  remainder(other: Tensor): Tensor;
  remainder_(other: Scalar): Tensor;
  remainder_(other: Tensor): Tensor;
  renorm(p: Scalar, dim: Integer, maxnorm: Scalar): Tensor;
  renorm_(p: Scalar, dim: Integer, maxnorm: Scalar): Tensor;
  repeat(repeats: readonly Integer[]): Tensor;
  repeat_interleave(repeats: Tensor, dim?: Integer | null, options?: { output_size?: Integer | null }): Tensor;
  repeat_interleave(repeats: Tensor, options?: { dim?: Integer | null; output_size?: Integer | null }): Tensor;
  repeat_interleave(repeats: Integer, dim?: Integer | null, options?: { output_size?: Integer | null }): Tensor;
  repeat_interleave(repeats: Integer, options?: { dim?: Integer | null; output_size?: Integer | null }): Tensor;
  replication_pad1d(padding: Integers): Tensor;
  replication_pad2d(padding: Integers): Tensor;
  replication_pad3d(padding: Integers): Tensor;
  reshape(shape: readonly Integer[]): Tensor;
  reshape_as(other: Tensor): Tensor;
  resize(size: readonly Integer[], options?: { memory_format?: MemoryFormat | null }): Tensor;
  resize_(size: readonly Integer[], options?: { memory_format?: MemoryFormat | null }): Tensor;
  resize_as(the_template: Tensor, options?: { memory_format?: MemoryFormat | null }): Tensor;
  resize_as_(the_template: Tensor, options?: { memory_format?: MemoryFormat | null }): Tensor;
  resize_as_sparse(the_template: Tensor): Tensor;
  resize_as_sparse_(the_template: Tensor): Tensor;
  resolve_conj(): Tensor;
  resolve_neg(): Tensor;
  retains_grad(): boolean;
  roll(shifts: Integers, dims?: Integers): Tensor;
  roll(shifts: Integers, options?: { dims?: Integers }): Tensor;
  rot90(k?: Integer, dims?: readonly Integer[]): Tensor;
  rot90(options?: { k?: Integer; dims?: readonly Integer[] }): Tensor;
  round(): Tensor;
  round(options: { decimals: Integer }): Tensor;
  round_(): Tensor;
  round_(options: { decimals: Integer }): Tensor;
  row_indices(): Tensor;
  row_indices_copy(): Tensor;
  rrelu(lower?: Scalar, upper?: Scalar, training?: boolean): Tensor;
  rrelu(options?: { lower?: Scalar; upper?: Scalar; training?: boolean }): Tensor;
  rrelu(lower?: Scalar, options?: { upper?: Scalar; training?: boolean }): Tensor;
  rrelu_(lower?: Scalar, upper?: Scalar, training?: boolean): Tensor;
  rrelu_(options?: { lower?: Scalar; upper?: Scalar; training?: boolean }): Tensor;
  rrelu_(lower?: Scalar, options?: { upper?: Scalar; training?: boolean }): Tensor;
  rrelu_with_noise(noise: Tensor, lower?: Scalar, upper?: Scalar, training?: boolean): Tensor;
  rrelu_with_noise(noise: Tensor, options?: { lower?: Scalar; upper?: Scalar; training?: boolean }): Tensor;
  rrelu_with_noise(noise: Tensor, lower?: Scalar, options?: { upper?: Scalar; training?: boolean }): Tensor;
  rrelu_with_noise_(noise: Tensor, lower?: Scalar, upper?: Scalar, training?: boolean): Tensor;
  rrelu_with_noise_(noise: Tensor, options?: { lower?: Scalar; upper?: Scalar; training?: boolean }): Tensor;
  rrelu_with_noise_(noise: Tensor, lower?: Scalar, options?: { upper?: Scalar; training?: boolean }): Tensor;
  /** Since libtorch 2.6. */
  rrelu_with_noise_functional(noise: Tensor, lower?: Scalar, upper?: Scalar, training?: boolean): [Tensor, Tensor];
  /** Since libtorch 2.6. */
  rrelu_with_noise_functional(
    noise: Tensor,
    options?: { lower?: Scalar; upper?: Scalar; training?: boolean },
  ): [Tensor, Tensor];
  /** Since libtorch 2.6. */
  rrelu_with_noise_functional(
    noise: Tensor,
    lower?: Scalar,
    options?: { upper?: Scalar; training?: boolean },
  ): [Tensor, Tensor];
  rsqrt(): Tensor;
  rsqrt_(): Tensor;
  rsub(other: Scalar, alpha?: Scalar): Tensor;
  rsub(other: Scalar, options?: { alpha?: Scalar }): Tensor;
  rsub(other: Tensor, options?: { alpha?: Scalar }): Tensor;
  scatter(dim: Integer, index: Tensor, src: Tensor, options: { reduce: string }): Tensor;
  scatter(dim: Integer, index: Tensor, src: Tensor): Tensor;
  scatter(dim: Integer, index: Tensor, value: Scalar): Tensor;
  scatter(dim: Integer, index: Tensor, value: Scalar, options: { reduce: string }): Tensor;
  scatter_(dim: Integer, index: Tensor, src: Tensor, options: { reduce: string }): Tensor;
  scatter_(dim: Integer, index: Tensor, src: Tensor): Tensor;
  scatter_(dim: Integer, index: Tensor, value: Scalar): Tensor;
  scatter_(dim: Integer, index: Tensor, value: Scalar, options: { reduce: string }): Tensor;
  scatter_add(dim: Integer, index: Tensor, src: Tensor): Tensor;
  scatter_add_(dim: Integer, index: Tensor, src: Tensor): Tensor;
  scatter_reduce(
    dim: Integer,
    index: Tensor,
    src: Tensor,
    reduce: string,
    options?: { include_self?: boolean },
  ): Tensor;
  scatter_reduce_(
    dim: Integer,
    index: Tensor,
    src: Tensor,
    reduce: string,
    options?: { include_self?: boolean },
  ): Tensor;
  select(dim: Integer, index: Integer): Tensor;
  select_copy(dim: Integer, index: Integer): Tensor;
  select_scatter(src: Tensor, dim: Integer, index: Integer): Tensor;
  selu(): Tensor;
  selu_(): Tensor;
  set(): Tensor;
  set(source: Tensor): Tensor;
  sgn(): Tensor;
  sgn_(): Tensor;
  sigmoid(): Tensor;
  sigmoid_(): Tensor;
  sign(): Tensor;
  sign_(): Tensor;
  signbit(): Tensor;
  silu(): Tensor;
  silu_(): Tensor;
  sin(): Tensor;
  sin_(): Tensor;
  sinc(): Tensor;
  sinc_(): Tensor;
  sinh(): Tensor;
  sinh_(): Tensor;
  size(dim: Integer): number;
  slice(dim?: Integer, start?: Integer | null, end?: Integer | null, step?: Integer): Tensor;
  slice(options?: { dim?: Integer; start?: Integer | null; end?: Integer | null; step?: Integer }): Tensor;
  slice(dim?: Integer, options?: { start?: Integer | null; end?: Integer | null; step?: Integer }): Tensor;
  slice_copy(dim?: Integer, start?: Integer | null, end?: Integer | null, step?: Integer): Tensor;
  slice_copy(options?: { dim?: Integer; start?: Integer | null; end?: Integer | null; step?: Integer }): Tensor;
  slice_copy(dim?: Integer, options?: { start?: Integer | null; end?: Integer | null; step?: Integer }): Tensor;
  /** Since libtorch 2.3. */
  slice_inverse(src: Tensor, dim?: Integer, start?: Integer | null, end?: Integer | null, step?: Integer): Tensor;
  /** Since libtorch 2.3. */
  slice_inverse(
    src: Tensor,
    options?: { dim?: Integer; start?: Integer | null; end?: Integer | null; step?: Integer },
  ): Tensor;
  /** Since libtorch 2.3. */
  slice_inverse(
    src: Tensor,
    dim?: Integer,
    options?: { start?: Integer | null; end?: Integer | null; step?: Integer },
  ): Tensor;
  slice_scatter(src: Tensor, dim?: Integer, start?: Integer | null, end?: Integer | null, step?: Integer): Tensor;
  slice_scatter(
    src: Tensor,
    options?: { dim?: Integer; start?: Integer | null; end?: Integer | null; step?: Integer },
  ): Tensor;
  slice_scatter(
    src: Tensor,
    dim?: Integer,
    options?: { start?: Integer | null; end?: Integer | null; step?: Integer },
  ): Tensor;
  slogdet(): [sign: Tensor, logabsdet: Tensor];
  slow_conv3d(
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
  ): Tensor;
  slow_conv3d(
    weight: Tensor,
    kernel_size: Integers,
    options?: { bias?: Tensor | null; stride?: Integers; padding?: Integers },
  ): Tensor;
  slow_conv3d(
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: Integers },
  ): Tensor;
  slow_conv3d_forward(
    weight: Tensor,
    kernel_size: Integers,
    bias: Tensor | null,
    stride: Integers,
    padding: Integers,
  ): Tensor;
  slow_conv_dilated2d(
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
  ): Tensor;
  slow_conv_dilated2d(
    weight: Tensor,
    kernel_size: Integers,
    options?: { bias?: Tensor | null; stride?: Integers; padding?: Integers; dilation?: Integers },
  ): Tensor;
  slow_conv_dilated2d(
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers },
  ): Tensor;
  slow_conv_dilated3d(
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
    dilation?: Integers,
  ): Tensor;
  slow_conv_dilated3d(
    weight: Tensor,
    kernel_size: Integers,
    options?: { bias?: Tensor | null; stride?: Integers; padding?: Integers; dilation?: Integers },
  ): Tensor;
  slow_conv_dilated3d(
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: Integers; dilation?: Integers },
  ): Tensor;
  slow_conv_transpose2d(
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
    output_padding?: Integers,
    dilation?: Integers,
  ): Tensor;
  slow_conv_transpose2d(
    weight: Tensor,
    kernel_size: Integers,
    options?: {
      bias?: Tensor | null;
      stride?: Integers;
      padding?: Integers;
      output_padding?: Integers;
      dilation?: Integers;
    },
  ): Tensor;
  slow_conv_transpose2d(
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: Integers; output_padding?: Integers; dilation?: Integers },
  ): Tensor;
  slow_conv_transpose3d(
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
    output_padding?: Integers,
    dilation?: Integers,
  ): Tensor;
  slow_conv_transpose3d(
    weight: Tensor,
    kernel_size: Integers,
    options?: {
      bias?: Tensor | null;
      stride?: Integers;
      padding?: Integers;
      output_padding?: Integers;
      dilation?: Integers;
    },
  ): Tensor;
  slow_conv_transpose3d(
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: Integers; output_padding?: Integers; dilation?: Integers },
  ): Tensor;
  smm(mat2: Tensor): Tensor;
  smooth_l1_loss(target: Tensor, reduction?: Integer, beta?: Real): Tensor;
  smooth_l1_loss(target: Tensor, options?: { reduction?: Integer; beta?: Real }): Tensor;
  soft_margin_loss(target: Tensor, reduction?: Integer): Tensor;
  soft_margin_loss(target: Tensor, options?: { reduction?: Integer }): Tensor;
  softmax(dim: Integer, dtype?: Dtype | null): Tensor;
  softmax(dim: Integer, options?: { dtype?: Dtype | null }): Tensor;
  softplus(beta?: Scalar, threshold?: Scalar): Tensor;
  softplus(options?: { beta?: Scalar; threshold?: Scalar }): Tensor;
  softshrink(lambd?: Scalar): Tensor;
  softshrink(options?: { lambd?: Scalar }): Tensor;
  sort(dim?: Integer, descending?: boolean): [values: Tensor, indices: Tensor];
  sort(options?: { dim?: Integer; descending?: boolean }): [values: Tensor, indices: Tensor];
  sort(options: { stable: boolean | null; dim?: Integer; descending?: boolean }): [values: Tensor, indices: Tensor];
  sparse_dim(): number;
  sparse_mask(mask: Tensor): Tensor;
  sparse_resize(size: readonly Integer[], sparse_dim: Integer, dense_dim: Integer): Tensor;
  sparse_resize_(size: readonly Integer[], sparse_dim: Integer, dense_dim: Integer): Tensor;
  sparse_resize_and_clear(size: readonly Integer[], sparse_dim: Integer, dense_dim: Integer): Tensor;
  sparse_resize_and_clear_(size: readonly Integer[], sparse_dim: Integer, dense_dim: Integer): Tensor;
  sparse_sampled_addmm(mat1: Tensor, mat2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  special_bessel_j0(): Tensor;
  special_bessel_j1(): Tensor;
  special_bessel_y0(): Tensor;
  special_bessel_y1(): Tensor;
  special_digamma(): Tensor;
  special_entr(): Tensor;
  special_erf(): Tensor;
  special_erfc(): Tensor;
  special_erfcx(): Tensor;
  special_erfinv(): Tensor;
  special_exp2(): Tensor;
  special_expit(): Tensor;
  special_expm1(): Tensor;
  special_gammainc(other: Tensor): Tensor;
  special_gammaincc(other: Tensor): Tensor;
  special_gammaln(): Tensor;
  special_i0(): Tensor;
  special_i0e(): Tensor;
  special_i1(): Tensor;
  special_i1e(): Tensor;
  special_log1p(): Tensor;
  special_log_ndtr(): Tensor;
  special_log_softmax(dim: Integer, options?: { dtype?: Dtype | null }): Tensor;
  special_logit(eps?: Real | null): Tensor;
  special_logit(options?: { eps?: Real | null }): Tensor;
  special_logsumexp(dim: Integers, keepdim?: boolean): Tensor;
  special_logsumexp(dim: Integers, options?: { keepdim?: boolean }): Tensor;
  special_modified_bessel_i0(): Tensor;
  special_modified_bessel_i1(): Tensor;
  special_modified_bessel_k0(): Tensor;
  special_modified_bessel_k1(): Tensor;
  special_multigammaln(p: Integer): Tensor;
  special_ndtr(): Tensor;
  special_ndtri(): Tensor;
  special_psi(): Tensor;
  special_round(options?: { decimals?: Integer }): Tensor;
  special_sinc(): Tensor;
  special_softmax(dim: Integer, dtype?: Dtype | null): Tensor;
  special_softmax(dim: Integer, options?: { dtype?: Dtype | null }): Tensor;
  special_xlog1py(other: Tensor): Tensor;
  special_xlog1py(other: Scalar): Tensor;
  special_xlogy(other: Tensor): Tensor;
  special_xlogy(other: Scalar): Tensor;
  special_zeta(other: Tensor): Tensor;
  special_zeta(other: Scalar): Tensor;
  split(split_size: Integer, dim?: Integer): Tensor[];
  split(split_size: Integer, options?: { dim?: Integer }): Tensor[];
  split(split_size: readonly Integer[], dim?: Integer): Tensor[];
  split(split_size: readonly Integer[], options?: { dim?: Integer }): Tensor[];
  split_copy(split_size: Integer, dim?: Integer): Tensor[];
  split_copy(split_size: Integer, options?: { dim?: Integer }): Tensor[];
  split_with_sizes(split_sizes: readonly Integer[], dim?: Integer): Tensor[];
  split_with_sizes(split_sizes: readonly Integer[], options?: { dim?: Integer }): Tensor[];
  split_with_sizes_copy(split_sizes: readonly Integer[], dim?: Integer): Tensor[];
  split_with_sizes_copy(split_sizes: readonly Integer[], options?: { dim?: Integer }): Tensor[];
  sqrt(): Tensor;
  sqrt_(): Tensor;
  square(): Tensor;
  square_(): Tensor;
  squeeze(): Tensor;
  squeeze(dim: Integer): Tensor;
  /** Since libtorch 2.0. */
  squeeze(dim: readonly Integer[]): Tensor;
  squeeze_(): Tensor;
  squeeze_(dim: Integer): Tensor;
  /** Since libtorch 2.0. */
  squeeze_(dim: readonly Integer[]): Tensor;
  squeeze_copy(): Tensor;
  squeeze_copy(dim: Integer): Tensor;
  /** Since libtorch 2.0. */
  squeeze_copy(dim: readonly Integer[]): Tensor;
  sspaddmm(mat1: Tensor, mat2: Tensor, options?: { beta?: Scalar; alpha?: Scalar }): Tensor;
  std(unbiased?: boolean): Tensor;
  std(options?: { unbiased?: boolean }): Tensor;
  std(dim?: Integers | null, options?: { correction?: Scalar | null; keepdim?: boolean }): Tensor;
  std(options?: { dim?: Integers | null; correction?: Scalar | null; keepdim?: boolean }): Tensor;
  std(dim: Integers | null, unbiased?: boolean, keepdim?: boolean): Tensor;
  std(dim: Integers | null, options?: { unbiased?: boolean; keepdim?: boolean }): Tensor;
  std_mean(unbiased?: boolean): [Tensor, Tensor];
  std_mean(options?: { unbiased?: boolean }): [Tensor, Tensor];
  std_mean(dim?: Integers | null, options?: { correction?: Scalar | null; keepdim?: boolean }): [Tensor, Tensor];
  std_mean(options?: { dim?: Integers | null; correction?: Scalar | null; keepdim?: boolean }): [Tensor, Tensor];
  std_mean(dim: Integers | null, unbiased?: boolean, keepdim?: boolean): [Tensor, Tensor];
  std_mean(dim: Integers | null, options?: { unbiased?: boolean; keepdim?: boolean }): [Tensor, Tensor];
  stft(
    n_fft: Integer,
    hop_length?: Integer | null,
    win_length?: Integer | null,
    window?: Tensor | null,
    normalized?: boolean,
    onesided?: boolean | null,
    return_complex?: boolean | null,
    align_to_window?: boolean | null,
  ): Tensor;
  stft(
    n_fft: Integer,
    options?: {
      hop_length?: Integer | null;
      win_length?: Integer | null;
      window?: Tensor | null;
      normalized?: boolean;
      onesided?: boolean | null;
      return_complex?: boolean | null;
      align_to_window?: boolean | null;
    },
  ): Tensor;
  stft(
    n_fft: Integer,
    hop_length?: Integer | null,
    options?: {
      win_length?: Integer | null;
      window?: Tensor | null;
      normalized?: boolean;
      onesided?: boolean | null;
      return_complex?: boolean | null;
      align_to_window?: boolean | null;
    },
  ): Tensor;
  stft(
    n_fft: Integer,
    hop_length?: Integer | null,
    win_length?: Integer | null,
    window?: Tensor | null,
    center?: boolean,
    pad_mode?: string,
    normalized?: boolean,
    onesided?: boolean | null,
    return_complex?: boolean | null,
    align_to_window?: boolean | null,
  ): Tensor;
  stft(
    n_fft: Integer,
    options?: {
      hop_length?: Integer | null;
      win_length?: Integer | null;
      window?: Tensor | null;
      center?: boolean;
      pad_mode?: string;
      normalized?: boolean;
      onesided?: boolean | null;
      return_complex?: boolean | null;
      align_to_window?: boolean | null;
    },
  ): Tensor;
  stft(
    n_fft: Integer,
    hop_length?: Integer | null,
    options?: {
      win_length?: Integer | null;
      window?: Tensor | null;
      center?: boolean;
      pad_mode?: string;
      normalized?: boolean;
      onesided?: boolean | null;
      return_complex?: boolean | null;
      align_to_window?: boolean | null;
    },
  ): Tensor;
  /** Since libtorch 2.12. */
  storage_offset(): number;
  stride(dim: Integer): number;
  sub(other: Scalar, alpha?: Scalar): Tensor;
  sub(other: Scalar, options?: { alpha?: Scalar }): Tensor;
  sub(other: Tensor, options?: { alpha?: Scalar }): Tensor;
  sub_(other: Scalar, alpha?: Scalar): Tensor;
  sub_(other: Scalar, options?: { alpha?: Scalar }): Tensor;
  sub_(other: Tensor, options?: { alpha?: Scalar }): Tensor;
  subtract(other: Scalar, alpha?: Scalar): Tensor;
  subtract(other: Scalar, options?: { alpha?: Scalar }): Tensor;
  subtract(other: Tensor, options?: { alpha?: Scalar }): Tensor;
  subtract_(other: Scalar, alpha?: Scalar): Tensor;
  subtract_(other: Scalar, options?: { alpha?: Scalar }): Tensor;
  subtract_(other: Tensor, options?: { alpha?: Scalar }): Tensor;
  sum(options?: { dtype?: Dtype | null }): Tensor;
  sum(dim: Integers | null, keepdim?: boolean, options?: { dtype?: Dtype | null }): Tensor;
  sum(dim: Integers | null, options?: { keepdim?: boolean; dtype?: Dtype | null }): Tensor;
  sum_to_size(size: readonly Integer[]): Tensor;
  svd(some?: boolean, compute_uv?: boolean): [U: Tensor, S: Tensor, V: Tensor];
  svd(options?: { some?: boolean; compute_uv?: boolean }): [U: Tensor, S: Tensor, V: Tensor];
  swapaxes(axis0: Integer, axis1: Integer): Tensor;
  swapaxes_(axis0: Integer, axis1: Integer): Tensor;
  swapdims(dim0: Integer, dim1: Integer): Tensor;
  swapdims_(dim0: Integer, dim1: Integer): Tensor;
  t(): Tensor;
  t_(): Tensor;
  t_copy(): Tensor;
  take(index: Tensor): Tensor;
  take_along_dim(indices: Tensor, dim?: Integer | null): Tensor;
  take_along_dim(indices: Tensor, options?: { dim?: Integer | null }): Tensor;
  tan(): Tensor;
  tan_(): Tensor;
  tanh(): Tensor;
  tanh_(): Tensor;
  tensor_split(indices: readonly Integer[], dim?: Integer): Tensor[];
  tensor_split(indices: readonly Integer[], options?: { dim?: Integer }): Tensor[];
  tensor_split(sections: Integer, dim?: Integer): Tensor[];
  tensor_split(sections: Integer, options?: { dim?: Integer }): Tensor[];
  tensor_split(tensor_indices_or_sections: Tensor, dim?: Integer): Tensor[];
  tensor_split(tensor_indices_or_sections: Tensor, options?: { dim?: Integer }): Tensor[];
  tensordot(other: Tensor, dims_self: readonly Integer[], dims_other: readonly Integer[]): Tensor;
  thnn_conv2d(
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    stride?: Integers,
    padding?: Integers,
  ): Tensor;
  thnn_conv2d(
    weight: Tensor,
    kernel_size: Integers,
    options?: { bias?: Tensor | null; stride?: Integers; padding?: Integers },
  ): Tensor;
  thnn_conv2d(
    weight: Tensor,
    kernel_size: Integers,
    bias?: Tensor | null,
    options?: { stride?: Integers; padding?: Integers },
  ): Tensor;
  threshold(threshold: Scalar, value: Scalar): Tensor;
  threshold_(threshold: Scalar, value: Scalar): Tensor;
  tile(dims: readonly Integer[]): Tensor;
  to(device: Device, dtype: Dtype, non_blocking?: boolean, copy?: boolean, memory_format?: MemoryFormat | null): Tensor;
  to(
    device: Device,
    dtype: Dtype,
    options?: { non_blocking?: boolean; copy?: boolean; memory_format?: MemoryFormat | null },
  ): Tensor;
  to(
    device: Device,
    dtype: Dtype,
    non_blocking?: boolean,
    options?: { copy?: boolean; memory_format?: MemoryFormat | null },
  ): Tensor;
  to(dtype: Dtype, non_blocking?: boolean, copy?: boolean, memory_format?: MemoryFormat | null): Tensor;
  to(dtype: Dtype, options?: { non_blocking?: boolean; copy?: boolean; memory_format?: MemoryFormat | null }): Tensor;
  to(dtype: Dtype, non_blocking?: boolean, options?: { copy?: boolean; memory_format?: MemoryFormat | null }): Tensor;
  to(options?: {
    dtype?: Dtype | null;
    layout?: Layout | null;
    device?: Device | null;
    pin_memory?: boolean | null;
    non_blocking?: boolean;
    copy?: boolean;
    memory_format?: MemoryFormat | null;
  }): Tensor;
  to(other: Tensor, non_blocking?: boolean, copy?: boolean, memory_format?: MemoryFormat | null): Tensor;
  to(other: Tensor, options?: { non_blocking?: boolean; copy?: boolean; memory_format?: MemoryFormat | null }): Tensor;
  to(other: Tensor, non_blocking?: boolean, options?: { copy?: boolean; memory_format?: MemoryFormat | null }): Tensor;
  to_dense(dtype?: Dtype | null, options?: { masked_grad?: boolean | null }): Tensor;
  to_dense(options?: { dtype?: Dtype | null; masked_grad?: boolean | null }): Tensor;
  to_mkldnn(dtype?: Dtype | null): Tensor;
  to_mkldnn(options?: { dtype?: Dtype | null }): Tensor;
  to_padded_tensor(padding: Real, output_size?: readonly Integer[] | null): Tensor;
  to_padded_tensor(padding: Real, options?: { output_size?: readonly Integer[] | null }): Tensor;
  to_sparse(options?: { layout?: Layout | null; blocksize?: Integers | null; dense_dim?: Integer | null }): Tensor;
  to_sparse(sparse_dim: Integer): Tensor;
  to_sparse_bsc(blocksize: Integers, dense_dim?: Integer | null): Tensor;
  to_sparse_bsc(blocksize: Integers, options?: { dense_dim?: Integer | null }): Tensor;
  to_sparse_bsr(blocksize: Integers, dense_dim?: Integer | null): Tensor;
  to_sparse_bsr(blocksize: Integers, options?: { dense_dim?: Integer | null }): Tensor;
  to_sparse_csc(dense_dim?: Integer | null): Tensor;
  to_sparse_csc(options?: { dense_dim?: Integer | null }): Tensor;
  to_sparse_csr(dense_dim?: Integer | null): Tensor;
  to_sparse_csr(options?: { dense_dim?: Integer | null }): Tensor;
  topk(k: Integer, dim?: Integer, largest?: boolean, sorted?: boolean): [values: Tensor, indices: Tensor];
  topk(k: Integer, options?: { dim?: Integer; largest?: boolean; sorted?: boolean }): [values: Tensor, indices: Tensor];
  topk(k: Integer, dim?: Integer, options?: { largest?: boolean; sorted?: boolean }): [values: Tensor, indices: Tensor];
  trace(): Tensor;
  transpose(dim0: Integer, dim1: Integer): Tensor;
  transpose_(dim0: Integer, dim1: Integer): Tensor;
  transpose_copy(dim0: Integer, dim1: Integer): Tensor;
  triangular_solve(
    A: Tensor,
    upper?: boolean,
    transpose?: boolean,
    unitriangular?: boolean,
  ): [solution: Tensor, cloned_coefficient: Tensor];
  triangular_solve(
    A: Tensor,
    options?: { upper?: boolean; transpose?: boolean; unitriangular?: boolean },
  ): [solution: Tensor, cloned_coefficient: Tensor];
  triangular_solve(
    A: Tensor,
    upper?: boolean,
    options?: { transpose?: boolean; unitriangular?: boolean },
  ): [solution: Tensor, cloned_coefficient: Tensor];
  tril(diagonal?: Integer): Tensor;
  tril(options?: { diagonal?: Integer }): Tensor;
  tril_(diagonal?: Integer): Tensor;
  tril_(options?: { diagonal?: Integer }): Tensor;
  triu(diagonal?: Integer): Tensor;
  triu(options?: { diagonal?: Integer }): Tensor;
  triu_(diagonal?: Integer): Tensor;
  triu_(options?: { diagonal?: Integer }): Tensor;
  true_divide(other: Scalar): Tensor;
  true_divide(other: Tensor): Tensor;
  true_divide_(other: Scalar): Tensor;
  true_divide_(other: Tensor): Tensor;
  trunc(): Tensor;
  trunc_(): Tensor;
  type_as(other: Tensor): Tensor;
  unbind(dim?: Integer): Tensor[];
  unbind(options?: { dim?: Integer }): Tensor[];
  unbind_copy(dim?: Integer): Tensor[];
  unbind_copy(options?: { dim?: Integer }): Tensor[];
  unflatten(dim: Integer, sizes: readonly Integer[]): Tensor;
  unfold(dimension: Integer, size: Integer, step: Integer): Tensor;
  unfold_copy(dimension: Integer, size: Integer, step: Integer): Tensor;
  uniform(from?: Real, to?: Real): Tensor;
  uniform(options?: { from?: Real; to?: Real }): Tensor;
  uniform_(from?: Real, to?: Real): Tensor;
  uniform_(options?: { from?: Real; to?: Real }): Tensor;
  unique_consecutive(return_inverse?: boolean, return_counts?: boolean, dim?: Integer | null): [Tensor, Tensor, Tensor];
  unique_consecutive(options?: {
    return_inverse?: boolean;
    return_counts?: boolean;
    dim?: Integer | null;
  }): [Tensor, Tensor, Tensor];
  unique_consecutive(
    return_inverse?: boolean,
    options?: { return_counts?: boolean; dim?: Integer | null },
  ): [Tensor, Tensor, Tensor];
  unique_dim(
    dim: Integer,
    sorted?: boolean,
    return_inverse?: boolean,
    return_counts?: boolean,
  ): [Tensor, Tensor, Tensor];
  unique_dim(
    dim: Integer,
    options?: { sorted?: boolean; return_inverse?: boolean; return_counts?: boolean },
  ): [Tensor, Tensor, Tensor];
  unique_dim(
    dim: Integer,
    sorted?: boolean,
    options?: { return_inverse?: boolean; return_counts?: boolean },
  ): [Tensor, Tensor, Tensor];
  unique_dim_consecutive(dim: Integer, return_inverse?: boolean, return_counts?: boolean): [Tensor, Tensor, Tensor];
  unique_dim_consecutive(
    dim: Integer,
    options?: { return_inverse?: boolean; return_counts?: boolean },
  ): [Tensor, Tensor, Tensor];
  unsafe_chunk(chunks: Integer, dim?: Integer): Tensor[];
  unsafe_chunk(chunks: Integer, options?: { dim?: Integer }): Tensor[];
  unsafe_split(split_size: Integer, dim?: Integer): Tensor[];
  unsafe_split(split_size: Integer, options?: { dim?: Integer }): Tensor[];
  unsafe_split_with_sizes(split_sizes: readonly Integer[], dim?: Integer): Tensor[];
  unsafe_split_with_sizes(split_sizes: readonly Integer[], options?: { dim?: Integer }): Tensor[];
  unsqueeze(dim: Integer): Tensor;
  unsqueeze_(dim: Integer): Tensor;
  unsqueeze_copy(dim: Integer): Tensor;
  upsample_bicubic2d(
    output_size: Integers,
    align_corners: boolean,
    scales_h?: Real | null,
    scales_w?: Real | null,
  ): Tensor;
  upsample_bicubic2d(
    output_size: Integers,
    align_corners: boolean,
    options?: { scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_bilinear2d(
    output_size: Integers,
    align_corners: boolean,
    scales_h?: Real | null,
    scales_w?: Real | null,
  ): Tensor;
  upsample_bilinear2d(
    output_size: Integers,
    align_corners: boolean,
    options?: { scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_linear1d(output_size: Integers, align_corners: boolean, scales?: Real | null): Tensor;
  upsample_linear1d(output_size: Integers, align_corners: boolean, options?: { scales?: Real | null }): Tensor;
  upsample_nearest1d(output_size: Integers, scales?: Real | null): Tensor;
  upsample_nearest1d(output_size: Integers, options?: { scales?: Real | null }): Tensor;
  upsample_nearest2d(output_size: Integers, scales_h?: Real | null, scales_w?: Real | null): Tensor;
  upsample_nearest2d(output_size: Integers, options?: { scales_h?: Real | null; scales_w?: Real | null }): Tensor;
  upsample_nearest3d(
    output_size: Integers,
    scales_d?: Real | null,
    scales_h?: Real | null,
    scales_w?: Real | null,
  ): Tensor;
  upsample_nearest3d(
    output_size: Integers,
    options?: { scales_d?: Real | null; scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_nearest3d(
    output_size: Integers,
    scales_d?: Real | null,
    options?: { scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_trilinear3d(
    output_size: Integers,
    align_corners: boolean,
    scales_d?: Real | null,
    scales_h?: Real | null,
    scales_w?: Real | null,
  ): Tensor;
  upsample_trilinear3d(
    output_size: Integers,
    align_corners: boolean,
    options?: { scales_d?: Real | null; scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  upsample_trilinear3d(
    output_size: Integers,
    align_corners: boolean,
    scales_d?: Real | null,
    options?: { scales_h?: Real | null; scales_w?: Real | null },
  ): Tensor;
  values(): Tensor;
  values_copy(): Tensor;
  var(unbiased?: boolean): Tensor;
  var(options?: { unbiased?: boolean }): Tensor;
  var(dim?: Integers | null, options?: { correction?: Scalar | null; keepdim?: boolean }): Tensor;
  var(options?: { dim?: Integers | null; correction?: Scalar | null; keepdim?: boolean }): Tensor;
  var(dim: Integers | null, unbiased?: boolean, keepdim?: boolean): Tensor;
  var(dim: Integers | null, options?: { unbiased?: boolean; keepdim?: boolean }): Tensor;
  var_mean(unbiased?: boolean): [Tensor, Tensor];
  var_mean(options?: { unbiased?: boolean }): [Tensor, Tensor];
  var_mean(dim?: Integers | null, options?: { correction?: Scalar | null; keepdim?: boolean }): [Tensor, Tensor];
  var_mean(options?: { dim?: Integers | null; correction?: Scalar | null; keepdim?: boolean }): [Tensor, Tensor];
  var_mean(dim: Integers | null, unbiased?: boolean, keepdim?: boolean): [Tensor, Tensor];
  var_mean(dim: Integers | null, options?: { unbiased?: boolean; keepdim?: boolean }): [Tensor, Tensor];
  vdot(other: Tensor): Tensor;
  view(size: readonly Integer[]): Tensor;
  view(dtype: Dtype): Tensor;
  view_as(other: Tensor): Tensor;
  view_as_complex(): Tensor;
  view_as_complex_copy(): Tensor;
  view_as_real(): Tensor;
  view_as_real_copy(): Tensor;
  view_copy(size: readonly Integer[]): Tensor;
  view_copy(dtype: Dtype): Tensor;
  vsplit(indices: readonly Integer[]): Tensor[];
  vsplit(sections: Integer): Tensor[];
  xlogy(other: Scalar): Tensor;
  xlogy(other: Tensor): Tensor;
  xlogy_(other: Scalar): Tensor;
  xlogy_(other: Tensor): Tensor;
  zero(): Tensor;
  zero_(): Tensor;
  zeros_like(options?: {
    dtype?: Dtype | null;
    layout?: Layout | null;
    device?: Device | null;
    pin_memory?: boolean | null;
    memory_format?: MemoryFormat | null;
  }): Tensor;
}

/** Names of all functions, with spaces between them. */
export const functionNames: string =
  "abs abs_ absolute absolute_ acos acos_ acosh acosh_ adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool2d_backward adaptive_max_pool3d adaptive_max_pool3d_backward add add_ addbmm addbmm_ addcdiv addcdiv_ addcmul addcmul_ addmm addmm_ addmv addmv_ addr addr_ adjoint affine_grid_generator affine_grid_generator_backward alias alias_copy all allclose alpha_dropout alpha_dropout_ amax amin aminmax angle any arange arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_ argmax argmin argsort argwhere as_strided as_strided_ as_strided_copy as_strided_scatter asin asin_ asinh asinh_ atan atan2 atan2_ atan_ atanh atanh_ atleast_1d atleast_2d atleast_3d avg_pool1d avg_pool2d avg_pool2d_backward avg_pool3d avg_pool3d_backward baddbmm baddbmm_ bartlett_window batch_norm batch_norm_backward batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats bernoulli bernoulli_ bilinear binary_cross_entropy binary_cross_entropy_backward binary_cross_entropy_with_logits bincount binomial bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ blackman_window block_diag bmm broadcast_tensors broadcast_to bucketize can_cast cartesian_prod cat cauchy cauchy_ ccol_indices ccol_indices_copy cdist ceil ceil_ celu celu_ chain_matmul chalf channel_shuffle cholesky_inverse cholesky_solve choose_qparams_optimized chunk clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ clone coalesce col2im col_indices col_indices_copy column_stack combinations complex concat concatenate conj conj_physical conj_physical_ constant_pad_nd contiguous conv1d conv2d conv3d conv_depthwise3d conv_tbc conv_tbc_backward conv_transpose1d conv_transpose2d conv_transpose3d convolution convolution_backward convolution_backward_overrideable convolution_overrideable copy copy_ copy_sparse_to_sparse copy_sparse_to_sparse_ copysign copysign_ corrcoef cos cos_ cosh cosh_ cosine_embedding_loss cosine_similarity count_nonzero cov cross cross_entropy_loss crow_indices crow_indices_copy ctc_loss cummax cummaxmin_backward cummin cumprod cumprod_ cumprod_backward cumsum cumsum_ cumulative_trapezoid deg2rad deg2rad_ dense_dim dequantize det detach detach_ detach_copy diag diag_embed diagflat diagonal diagonal_backward diagonal_copy diagonal_scatter diff digamma digamma_ dim dist div div_ divide divide_ dot dropout dropout_ dsplit dstack einsum elu elu_ elu_backward embedding embedding_backward embedding_bag embedding_dense_backward embedding_renorm embedding_renorm_ embedding_sparse_backward empty empty_like empty_permuted empty_quantized empty_strided eq eq_ equal erf erf_ erfc erfc_ erfinv erfinv_ exp exp2 exp2_ exp_ expand expand_as expand_copy expm1 expm1_ exponential exponential_ eye fake_quantize_per_channel_affine fake_quantize_per_channel_affine_cachemask fake_quantize_per_channel_affine_cachemask_backward fake_quantize_per_tensor_affine fake_quantize_per_tensor_affine_cachemask fake_quantize_per_tensor_affine_cachemask_backward feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ fft_fft fft_fft2 fft_fftfreq fft_fftn fft_fftshift fft_hfft fft_hfft2 fft_hfftn fft_ifft fft_ifft2 fft_ifftn fft_ifftshift fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftfreq fft_rfftn fill fill_ fill_diagonal_ fix fix_ flatten flatten_dense_tensors flip fliplr flipud float_power float_power_ floor floor_ floor_divide floor_divide_ fmax fmin fmod fmod_ frac frac_ fractional_max_pool2d fractional_max_pool2d_backward fractional_max_pool3d fractional_max_pool3d_backward frexp frobenius_norm full full_like fused_moving_avg_obs_fake_quant gather gather_backward gcd gcd_ ge ge_ gelu gelu_ gelu_backward geometric geometric_ geqrf ger get_device glu glu_backward glu_backward_jvp glu_jvp gradient greater greater_ greater_equal greater_equal_ grid_sampler grid_sampler_2d grid_sampler_2d_backward grid_sampler_3d grid_sampler_3d_backward group_norm gru gru_cell gt gt_ hamming_window hann_window hardshrink hardshrink_backward hardsigmoid hardsigmoid_ hardsigmoid_backward hardswish hardswish_ hardswish_backward hardtanh hardtanh_ hardtanh_backward hash_tensor heaviside heaviside_ hinge_embedding_loss histc histogram histogramdd hsplit hspmm hstack huber_loss huber_loss_backward hypot hypot_ i0 i0_ igamma igamma_ igammac igammac_ im2col imag index index_add index_add_ index_copy index_copy_ index_fill index_fill_ index_put index_put_ index_reduce index_reduce_ index_select index_select_backward indices indices_copy infinitely_differentiable_gelu_backward inner instance_norm int_repr inverse is_coalesced is_complex is_conj is_contiguous is_distributed is_floating_point is_inference is_leaf is_neg is_nonzero is_pinned is_same_size is_set_to is_signed is_vulkan_available isclose isfinite isin isinf isnan isneginf isposinf isreal istft kaiser_window kl_div kron kthvalue l1_loss layer_norm lcm lcm_ ldexp ldexp_ le le_ leaky_relu leaky_relu_ leaky_relu_backward lerp lerp_ less less_ less_equal less_equal_ lgamma lgamma_ lift lift_fresh lift_fresh_copy linalg__powsum linalg_cholesky linalg_cholesky_ex linalg_cond linalg_cross linalg_det linalg_diagonal linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_householder_product linalg_inv linalg_inv_ex linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_solve linalg_lstsq linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve linalg_matmul linalg_matrix_exp linalg_matrix_norm linalg_matrix_power linalg_matrix_rank linalg_matrix_sqrth linalg_multi_dot linalg_norm linalg_pinv linalg_polar linalg_qr linalg_slogdet linalg_solve linalg_solve_ex linalg_solve_triangular linalg_svd linalg_svdvals linalg_tensorinv linalg_tensorsolve linalg_vander linalg_vecdot linalg_vector_norm linear linear_backward linspace log log10 log10_ log1p log1p_ log2 log2_ log_ log_normal log_normal_ log_sigmoid log_sigmoid_backward log_sigmoid_forward log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor logical_xor_ logit logit_ logit_backward logspace logsumexp lstm lstm_cell lstm_mps_backward lt lt_ lu_solve lu_unpack mH mT margin_ranking_loss masked_fill masked_fill_ masked_scatter masked_scatter_ masked_scatter_backward masked_select masked_select_backward matmul matmul_backward matrix_H matrix_exp matrix_exp_backward matrix_power max max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_backward max_pool2d_with_indices max_pool2d_with_indices_backward max_pool3d max_pool3d_with_indices max_pool3d_with_indices_backward max_unpool2d max_unpool3d maximum mean median meshgrid min minimum mish mish_ mish_backward mkldnn_adaptive_avg_pool2d mkldnn_adaptive_avg_pool2d_backward mkldnn_convolution mkldnn_linear mkldnn_linear_backward mkldnn_linear_backward_input mkldnn_linear_backward_weights mkldnn_max_pool2d mkldnn_max_pool2d_backward mkldnn_max_pool3d mkldnn_max_pool3d_backward mkldnn_reorder_conv2d_weight mkldnn_reorder_conv3d_weight mkldnn_rnn_layer mkldnn_rnn_layer_backward mm mode moveaxis movedim mse_loss mse_loss_backward msort mul mul_ multi_margin_loss multi_margin_loss_backward multilabel_margin_loss multilabel_margin_loss_backward multilabel_margin_loss_forward multinomial multiply multiply_ mv mvlgamma mvlgamma_ nan_to_num nan_to_num_ nanmean nanmedian nanquantile nansum narrow narrow_copy native_batch_norm native_batch_norm_backward native_channel_shuffle native_dropout native_dropout_backward native_group_norm native_group_norm_backward native_layer_norm native_layer_norm_backward native_norm ne ne_ neg neg_ negative negative_ nested_to_padded_tensor new_empty new_empty_strided new_full new_ones new_zeros nextafter nextafter_ nll_loss nll_loss2d nll_loss2d_backward nll_loss2d_forward nll_loss_backward nll_loss_forward nll_loss_nd nonzero nonzero_numpy nonzero_static norm norm_except_dim normal normal_ normal_functional not_equal not_equal_ nuclear_norm numel numpy_T one_hot ones ones_like orgqr ormqr outer output_nr pad pad_sequence pairwise_distance pdist permute permute_copy pin_memory pinverse pixel_shuffle pixel_unshuffle poisson poisson_nll_loss polar polygamma polygamma_ positive pow pow_ prelu prod promote_types put put_ q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point quantile quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic quantized_batch_norm quantized_gru quantized_gru_cell quantized_lstm quantized_lstm_cell quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell quantized_rnn_tanh_cell rad2deg rad2deg_ rand rand_like randint randint_like randn randn_like random random_ randperm range ravel real reciprocal reciprocal_ reflection_pad1d reflection_pad1d_backward reflection_pad2d reflection_pad2d_backward reflection_pad3d reflection_pad3d_backward relu relu6 relu6_ relu_ remainder remainder_ renorm renorm_ repeat repeat_interleave replication_pad1d replication_pad1d_backward replication_pad2d replication_pad2d_backward replication_pad3d replication_pad3d_backward reshape reshape_as resize resize_ resize_as resize_as_ resize_as_sparse resize_as_sparse_ resolve_conj resolve_neg result_type retains_grad rms_norm rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell roll rot90 round round_ row_indices row_indices_copy row_stack rrelu rrelu_ rrelu_with_noise rrelu_with_noise_ rrelu_with_noise_backward rrelu_with_noise_functional rsqrt rsqrt_ rsub scalar_tensor scaled_dot_product_attention scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_ searchsorted segment_reduce select select_backward select_copy select_scatter selu selu_ set sgn sgn_ sigmoid sigmoid_ sigmoid_backward sign sign_ signbit silu silu_ silu_backward sin sin_ sinc sinc_ sinh sinh_ size slice slice_backward slice_copy slice_inverse slice_scatter slogdet slow_conv3d slow_conv3d_forward slow_conv_dilated2d slow_conv_dilated3d slow_conv_transpose2d slow_conv_transpose3d smm smooth_l1_loss smooth_l1_loss_backward soft_margin_loss soft_margin_loss_backward softmax softplus softplus_backward softshrink softshrink_backward sort sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor sparse_dim sparse_mask sparse_resize sparse_resize_ sparse_resize_and_clear sparse_resize_and_clear_ sparse_sampled_addmm special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v special_chebyshev_polynomial_w special_digamma special_entr special_erf special_erfc special_erfcx special_erfinv special_exp2 special_expit special_expm1 special_gammainc special_gammaincc special_gammaln special_hermite_polynomial_h special_hermite_polynomial_he special_i0 special_i0e special_i1 special_i1e special_laguerre_polynomial_l special_legendre_polynomial_p special_log1p special_log_ndtr special_log_softmax special_logit special_logsumexp special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 special_multigammaln special_ndtr special_ndtri special_polygamma special_psi special_round special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w special_sinc special_softmax special_spherical_bessel_j0 special_xlog1py special_xlogy special_zeta split split_copy split_with_sizes split_with_sizes_copy sqrt sqrt_ square square_ squeeze squeeze_ squeeze_copy sspaddmm stack std std_mean stft storage_offset stride sub sub_ subtract subtract_ sum sum_to_size svd swapaxes swapaxes_ swapdims swapdims_ t t_ t_copy take take_along_dim tan tan_ tanh tanh_ tanh_backward tensor_split tensordot thnn_conv2d threshold threshold_ threshold_backward tile to to_dense to_dense_backward to_mkldnn to_mkldnn_backward to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr to_sparse_csc to_sparse_csr topk trace trace_backward transpose transpose_ transpose_copy trapezoid trapz triangular_solve tril tril_ tril_indices triplet_margin_loss triu triu_ triu_indices true_divide true_divide_ trunc trunc_ type_as unbind unbind_copy unflatten unfold unfold_backward unfold_copy uniform uniform_ unique_consecutive unique_dim unique_dim_consecutive unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_ unsqueeze_copy upsample_bicubic2d upsample_bicubic2d_backward upsample_bilinear2d upsample_bilinear2d_backward upsample_linear1d upsample_linear1d_backward upsample_nearest1d upsample_nearest1d_backward upsample_nearest2d upsample_nearest2d_backward upsample_nearest3d upsample_nearest3d_backward upsample_trilinear3d upsample_trilinear3d_backward value_selecting_reduction_backward values values_copy vander var var_mean vdot view view_as view_as_complex view_as_complex_copy view_as_real view_as_real_copy view_copy vsplit vstack where xlogy xlogy_ zero zero_ zeros zeros_like";

/** Names of those that are methods, too. */
export const methodNames: string =
  "abs abs_ absolute absolute_ acos acos_ acosh acosh_ adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d add add_ addbmm addbmm_ addcdiv addcdiv_ addcmul addcmul_ addmm addmm_ addmv addmv_ addr addr_ adjoint alias alias_copy all allclose alpha_dropout_ amax amin aminmax angle any arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_ argmax argmin argsort argwhere as_strided as_strided_ as_strided_copy as_strided_scatter asin asin_ asinh asinh_ atan atan2 atan2_ atan_ atanh atanh_ atleast_1d atleast_2d atleast_3d avg_pool1d avg_pool2d avg_pool3d baddbmm baddbmm_ bernoulli bernoulli_ binary_cross_entropy binary_cross_entropy_with_logits bincount bitwise_and bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ bmm broadcast_to bucketize cauchy cauchy_ ccol_indices ccol_indices_copy ceil ceil_ celu celu_ chalf channel_shuffle cholesky_inverse cholesky_solve chunk clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ clone coalesce col2im col_indices col_indices_copy combinations conj conj_physical conj_physical_ constant_pad_nd contiguous conv_depthwise3d conv_tbc conv_tbc_backward copy copy_ copy_sparse_to_sparse copy_sparse_to_sparse_ copysign copysign_ corrcoef cos cos_ cosh cosh_ count_nonzero cov cross cross_entropy_loss crow_indices crow_indices_copy cummax cummin cumprod cumprod_ cumsum cumsum_ deg2rad deg2rad_ dense_dim dequantize det detach detach_ detach_copy diag diag_embed diagflat diagonal diagonal_copy diagonal_scatter diff digamma digamma_ dim dist div div_ divide divide_ dot dropout_ dsplit elu elu_ embedding_renorm embedding_renorm_ empty_like eq eq_ equal erf erf_ erfc erfc_ erfinv erfinv_ exp exp2 exp2_ exp_ expand expand_as expand_copy expm1 expm1_ exponential exponential_ fake_quantize_per_channel_affine fake_quantize_per_channel_affine_cachemask fake_quantize_per_tensor_affine fake_quantize_per_tensor_affine_cachemask feature_alpha_dropout_ feature_dropout_ fft_fft fft_fft2 fft_fftn fft_fftshift fft_hfft fft_hfft2 fft_hfftn fft_ifft fft_ifft2 fft_ifftn fft_ifftshift fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn fill fill_ fill_diagonal_ fix fix_ flatten flip fliplr flipud float_power float_power_ floor floor_ floor_divide floor_divide_ fmax fmin fmod fmod_ frac frac_ fractional_max_pool2d fractional_max_pool3d frexp frobenius_norm full_like fused_moving_avg_obs_fake_quant gather gcd gcd_ ge ge_ gelu gelu_ geometric geometric_ geqrf ger get_device glu gradient greater greater_ greater_equal greater_equal_ gt gt_ hardshrink hardsigmoid hardsigmoid_ hardswish hardswish_ hardtanh hardtanh_ hash_tensor heaviside heaviside_ hinge_embedding_loss histc histogram histogramdd hsplit huber_loss hypot hypot_ i0 i0_ igamma igamma_ igammac igammac_ im2col imag index index_add index_add_ index_copy index_copy_ index_fill index_fill_ index_put index_put_ index_reduce index_reduce_ index_select indices indices_copy inner int_repr inverse is_coalesced is_complex is_conj is_contiguous is_distributed is_floating_point is_inference is_leaf is_neg is_nonzero is_pinned is_same_size is_set_to is_signed isclose isfinite isinf isnan isneginf isposinf isreal istft kl_div kron kthvalue l1_loss lcm lcm_ ldexp ldexp_ le le_ leaky_relu leaky_relu_ lerp lerp_ less less_ less_equal less_equal_ lgamma lgamma_ lift lift_fresh lift_fresh_copy linalg__powsum linalg_cholesky linalg_cholesky_ex linalg_cond linalg_cross linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_ldl_factor linalg_ldl_factor_ex linalg_lstsq linalg_matmul linalg_matrix_exp linalg_matrix_norm linalg_matrix_power linalg_matrix_rank linalg_matrix_sqrth linalg_norm linalg_pinv linalg_solve_triangular linalg_tensorinv linalg_tensorsolve linalg_vector_norm linear_backward log log10 log10_ log1p log1p_ log2 log2_ log_ log_normal log_normal_ log_sigmoid log_sigmoid_forward log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor logical_xor_ logit logit_ logsumexp lt lt_ lu_solve mH mT masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select matmul matrix_H matrix_exp matrix_exp_backward matrix_power max max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d max_pool3d_with_indices max_unpool2d max_unpool3d maximum mean median min minimum mish mish_ mkldnn_adaptive_avg_pool2d mkldnn_convolution mkldnn_linear mkldnn_linear_backward mkldnn_max_pool2d mkldnn_max_pool3d mkldnn_reorder_conv2d_weight mkldnn_reorder_conv3d_weight mm mode moveaxis movedim mse_loss msort mul mul_ multi_margin_loss multilabel_margin_loss multilabel_margin_loss_forward multinomial multiply multiply_ mv mvlgamma mvlgamma_ nan_to_num nan_to_num_ nanmean nanmedian nanquantile nansum narrow narrow_copy native_channel_shuffle native_norm ne ne_ neg neg_ negative negative_ nested_to_padded_tensor new_empty new_empty_strided new_full new_ones new_zeros nextafter nextafter_ nll_loss nll_loss2d nll_loss2d_forward nll_loss_forward nll_loss_nd nonzero nonzero_numpy nonzero_static norm normal_ normal_functional not_equal not_equal_ nuclear_norm numel numpy_T one_hot ones_like orgqr ormqr outer output_nr pad pdist permute permute_copy pin_memory pinverse pixel_shuffle pixel_unshuffle poisson polygamma_ positive pow pow_ prelu prod put put_ q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point quantile quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d rad2deg rad2deg_ rand_like randint_like randn_like random random_ ravel real reciprocal reciprocal_ reflection_pad1d reflection_pad2d reflection_pad3d relu relu6 relu6_ relu_ remainder remainder_ renorm renorm_ repeat repeat_interleave replication_pad1d replication_pad2d replication_pad3d reshape reshape_as resize resize_ resize_as resize_as_ resize_as_sparse resize_as_sparse_ resolve_conj resolve_neg retains_grad roll rot90 round round_ row_indices row_indices_copy rrelu rrelu_ rrelu_with_noise rrelu_with_noise_ rrelu_with_noise_functional rsqrt rsqrt_ rsub scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_ select select_copy select_scatter selu selu_ set sgn sgn_ sigmoid sigmoid_ sign sign_ signbit silu silu_ sin sin_ sinc sinc_ sinh sinh_ size slice slice_copy slice_inverse slice_scatter slogdet slow_conv3d slow_conv3d_forward slow_conv_dilated2d slow_conv_dilated3d slow_conv_transpose2d slow_conv_transpose3d smm smooth_l1_loss soft_margin_loss softmax softplus softshrink sort sparse_dim sparse_mask sparse_resize sparse_resize_ sparse_resize_and_clear sparse_resize_and_clear_ sparse_sampled_addmm special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_digamma special_entr special_erf special_erfc special_erfcx special_erfinv special_exp2 special_expit special_expm1 special_gammainc special_gammaincc special_gammaln special_i0 special_i0e special_i1 special_i1e special_log1p special_log_ndtr special_log_softmax special_logit special_logsumexp special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 special_multigammaln special_ndtr special_ndtri special_psi special_round special_sinc special_softmax special_xlog1py special_xlogy special_zeta split split_copy split_with_sizes split_with_sizes_copy sqrt sqrt_ square square_ squeeze squeeze_ squeeze_copy sspaddmm std std_mean stft storage_offset stride sub sub_ subtract subtract_ sum sum_to_size svd swapaxes swapaxes_ swapdims swapdims_ t t_ t_copy take take_along_dim tan tan_ tanh tanh_ tensor_split tensordot thnn_conv2d threshold threshold_ tile to to_dense to_mkldnn to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr to_sparse_csc to_sparse_csr topk trace transpose transpose_ transpose_copy triangular_solve tril tril_ triu triu_ true_divide true_divide_ trunc trunc_ type_as unbind unbind_copy unflatten unfold unfold_copy uniform uniform_ unique_consecutive unique_dim unique_dim_consecutive unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_ unsqueeze_copy upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d values values_copy var var_mean vdot view view_as view_as_complex view_as_complex_copy view_as_real view_as_real_copy view_copy vsplit xlogy xlogy_ zero zero_ zeros_like";

/** Names of functions that libtorch 1.13 lacks, by the version that they came with. */
export const newerFunctions = [
  ["2.0", "max_pool2d_backward mkldnn_rnn_layer mkldnn_rnn_layer_backward scaled_dot_product_attention"],
  ["2.1", "empty_permuted nonzero_static quantized_max_pool3d"],
  ["2.2", "masked_scatter_backward"],
  ["2.3", "slice_inverse"],
  ["2.4", "batch_norm_backward rms_norm"],
  ["2.6", "rrelu_with_noise_functional"],
  ["2.9", "hash_tensor"],
  ["2.11", "linalg__powsum"],
  ["2.12", "dim get_device is_contiguous numel storage_offset"],
  ["2.14", "linalg_matrix_sqrth linalg_polar"],
] as const;
