/** Rules for shapes (shapes.h) of what neural networks are made of: lookups, convolutions, normalisation, pooling, transforms. */
#include <ATen/ExpandUtils.h>

#include "shapes.h"

namespace {

using Sizes = std::vector<int64_t>;

const at::Tensor& TensorAt(const Arguments& arguments, size_t index) {
  return arguments.at(index).toTensor();
}

Results IndexSelect(const Arguments& arguments) {
  const at::Tensor& self = TensorAt(arguments, 0);
  Sizes sizes = self.sizes().vec();
  if (!sizes.empty()) sizes.at(static_cast<size_t>(c10::maybe_wrap_dim(arguments.at(1).toInt(), self.dim()))) = TensorAt(arguments, 2).numel();
  return {Shaped(sizes, self.scalar_type())};
}

Results Take(const Arguments& arguments) {
  return {Shaped(TensorAt(arguments, 1).sizes(), TensorAt(arguments, 0).scalar_type())};
}

Results Embedding(const Arguments& arguments) {
  const at::Tensor& weight = TensorAt(arguments, 0);
  TORCH_CHECK(weight.dim() == 2, "the weight of an embedding must have 2 dimensions, got ", weight.dim());
  Sizes sizes = TensorAt(arguments, 1).sizes().vec();
  sizes.push_back(weight.size(1));
  return {Shaped(sizes, weight.scalar_type())};
}

Results EmbeddingBackward(const Arguments& arguments) {
  const at::Tensor& gradient = TensorAt(arguments, 0);
  return {Shaped({arguments.at(2).toInt(), gradient.size(-1)}, gradient.scalar_type())};
}

/** Positions in a sorted sequence; `out_int32` is the third argument. */
template <size_t values>
Results Searched(const Arguments& arguments) {
  const bool narrow = arguments.at(2).toBool();
  const auto& value = arguments.at(values);
  const Sizes sizes = value.isTensor() ? value.toTensor().sizes().vec() : Sizes{};
  return {Shaped(sizes, narrow ? c10::kInt : c10::kLong)};
}

Results Permutation(const Arguments& arguments) {
  const c10::IValue& dtype = arguments.at(arguments.size() - 4);
  return {Shaped({arguments.at(0).toInt()}, dtype.isInt() ? dtype.toScalarType() : c10::kLong)};
}

Results Multinomial(const Arguments& arguments) {
  Sizes sizes = TensorAt(arguments, 0).sizes().vec();
  TORCH_CHECK(!sizes.empty() && sizes.size() <= 2, "multinomial takes 1 or 2 dimensions, got ", sizes.size());
  sizes.back() = arguments.at(1).toInt();
  return {Shaped(sizes, c10::kLong)};
}

Results Histogram(const Arguments& arguments) {
  return {Shaped({arguments.at(1).toInt()}, TensorAt(arguments, 0).scalar_type())};
}

Results LayerNorm(const Arguments& arguments) {
  const at::Tensor& input = TensorAt(arguments, 0);
  const Sizes normalized = arguments.at(1).toIntVector();
  Sizes sizes = input.sizes().vec();
  TORCH_CHECK(sizes.size() >= normalized.size() && std::equal(normalized.rbegin(), normalized.rend(), sizes.rbegin()),
              "an input of sizes ", input.sizes(), " does not end with the normalized shape ", normalized);
  std::fill(sizes.end() - static_cast<std::ptrdiff_t>(normalized.size()), sizes.end(), 1);
  const at::Tensor statistics = Shaped(sizes, input.scalar_type());
  return {Like(input), statistics, Like(statistics)};
}

Results GroupNorm(const Arguments& arguments) {
  const at::Tensor& input = TensorAt(arguments, 0);
  const Sizes sizes{arguments.at(3).toInt(), arguments.at(6).toInt()};
  return {Like(input), Shaped(sizes, input.scalar_type()), Shaped(sizes, input.scalar_type())};
}

Results BatchNorm(const Arguments& arguments) {
  const at::Tensor& input = TensorAt(arguments, 0);
  const Sizes sizes{arguments.at(5).toBool() ? input.size(1) : 0};
  return {Like(input), Shaped(sizes, input.scalar_type()), Shaped(sizes, input.scalar_type())};
}

/** Gradients of an input and of two more, as far as the mask at the end asks for them. */
Results Masked(const Arguments& arguments, const std::vector<c10::IValue>& parts, const Sizes& otherwise) {
  const auto mask = arguments.back().toBoolList();
  const auto dtype = parts[0].toTensor().scalar_type();
  Results results;
  for (size_t i = 0; i < parts.size(); i++) {
    if (!mask.get(i)) {
      results.emplace_back();
    } else if (parts[i].isTensor() && parts[i].toTensor().defined()) {
      results.push_back(Like(parts[i].toTensor()));
    } else {
      results.push_back(Shaped(otherwise, dtype));
    }
  }
  return results;
}

Results LayerNormBackward(const Arguments& arguments) {
  return Masked(arguments, {arguments.at(1), arguments.at(5), arguments.at(6)}, arguments.at(2).toIntVector());
}

Results GroupNormBackward(const Arguments& arguments) {
  return Masked(arguments, {arguments.at(1), arguments.at(4), c10::IValue()}, {arguments.at(6).toInt()});
}

Results BatchNormBackward(const Arguments& arguments) {
  return Masked(arguments, {arguments.at(1), arguments.at(2), c10::IValue()}, {TensorAt(arguments, 1).size(1)});
}

Results ConvolutionBackward(const Arguments& arguments) {
  const Sizes bias = arguments.at(3).isNone() ? Sizes{TensorAt(arguments, 0).size(1)} : arguments.at(3).toIntVector();
  return Masked(arguments, {arguments.at(1), arguments.at(2), c10::IValue()}, bias);
}

int64_t Nth(const Sizes& sizes, size_t index) {
  return sizes.size() == 1 ? sizes[0] : sizes.at(index);
}

Results Convolution(const Arguments& arguments) {
  const at::Tensor& input = TensorAt(arguments, 0);
  const at::Tensor& weight = TensorAt(arguments, 1);
  const Sizes stride = arguments.at(3).toIntVector();
  const Sizes padding = arguments.at(4).toIntVector();
  const Sizes dilation = arguments.at(5).toIntVector();
  const bool transposed = arguments.at(6).toBool();
  const Sizes added = arguments.at(7).toIntVector();
  const int64_t groups = arguments.at(8).toInt();
  TORCH_CHECK(input.dim() == weight.dim() && input.dim() > 2, "a convolution takes an input with as many dimensions as its weight, got ",
              input.sizes(), " and ", weight.sizes());
  TORCH_CHECK(input.size(1) == (transposed ? weight.size(0) : weight.size(1) * groups), "a weight of sizes ", weight.sizes(),
              " does not fit to an input of ", input.size(1), " channels in ", groups, " groups");
  Sizes sizes{input.size(0), transposed ? weight.size(1) * groups : weight.size(0)};
  for (size_t i = 0; i + 2 < static_cast<size_t>(input.dim()); i++) {
    const auto axis = static_cast<int64_t>(i) + 2;
    const int64_t kernel = Nth(dilation, i) * (weight.size(axis) - 1) + 1;
    sizes.push_back(transposed ? (input.size(axis) - 1) * Nth(stride, i) - 2 * Nth(padding, i) + kernel + Nth(added, i)
                               : (input.size(axis) + 2 * Nth(padding, i) - kernel) / Nth(stride, i) + 1);
    TORCH_CHECK(sizes.back() > 0, "a convolution of ", input.sizes(), " with ", weight.sizes(), " leaves nothing");
  }
  return {Shaped(sizes, input.scalar_type())};
}

/** The last dimensions are those that are asked for. */
Results AdaptivePool(const Arguments& arguments) {
  const at::Tensor& input = TensorAt(arguments, 0);
  Sizes sizes = input.sizes().vec();
  const Sizes last = arguments.at(1).toIntVector();
  TORCH_CHECK(sizes.size() > last.size(), "an adaptive pooling takes more dimensions than ", sizes.size());
  std::copy(last.begin(), last.end(), sizes.end() - static_cast<std::ptrdiff_t>(last.size()));
  return {Shaped(sizes, input.scalar_type())};
}

Results GridSampler(const Arguments& arguments) {
  const at::Tensor& input = TensorAt(arguments, 0);
  const auto grid = TensorAt(arguments, 1).sizes();
  Sizes sizes{input.size(0), input.size(1)};
  sizes.insert(sizes.end(), grid.begin() + 1, grid.end() - 1);
  return {Shaped(sizes, input.scalar_type())};
}

Results Nll2d(const Arguments& arguments) {
  const at::Tensor& input = TensorAt(arguments, 0);
  const bool whole = arguments.at(3).toInt() != 0;
  const Sizes sizes = whole ? Sizes{} : TensorAt(arguments, 1).sizes().vec();
  return {Shaped(sizes, input.scalar_type()), Shaped({}, input.scalar_type())};
}

Results Distances(const Arguments& arguments) {
  const at::Tensor& one = TensorAt(arguments, 0);
  const at::Tensor& other = TensorAt(arguments, 1);
  Sizes sizes = at::infer_size(one.sizes().slice(0, static_cast<size_t>(one.dim()) - 2), other.sizes().slice(0, static_cast<size_t>(other.dim()) - 2));
  sizes.push_back(one.size(-2));
  sizes.push_back(other.size(-2));
  return {Shaped(sizes, one.scalar_type())};
}

Results RealToComplex(const Arguments& arguments) {
  const at::Tensor& self = TensorAt(arguments, 0);
  Sizes sizes = self.sizes().vec();
  const Sizes dimensions = arguments.at(1).toIntVector();
  if (arguments.at(3).toBool()) {
    int64_t& last = sizes.at(static_cast<size_t>(c10::maybe_wrap_dim(dimensions.back(), self.dim())));
    last = last / 2 + 1;
  }
  return {Shaped(sizes, c10::toComplexType(self.scalar_type()))};
}

Results ComplexToReal(const Arguments& arguments) {
  const at::Tensor& self = TensorAt(arguments, 0);
  Sizes sizes = self.sizes().vec();
  sizes.at(static_cast<size_t>(c10::maybe_wrap_dim(arguments.at(1).toIntVector().back(), self.dim()))) = arguments.at(3).toInt();
  return {Shaped(sizes, c10::toRealValueType(self.scalar_type()))};
}

/** A matrix with a diagonal, or the diagonal of one. */
Results Diagonal(const Arguments& arguments) {
  const at::Tensor& self = TensorAt(arguments, 0);
  const int64_t offset = arguments.at(1).toInt();
  if (self.dim() == 1) {
    const int64_t size = self.size(0) + std::abs(offset);
    return {Shaped({size, size}, self.scalar_type())};
  }
  TORCH_CHECK(self.dim() == 2, "diag takes 1 or 2 dimensions, got ", self.dim());
  const int64_t length = offset >= 0 ? std::min(self.size(0), self.size(1) - offset) : std::min(self.size(0) + offset, self.size(1));
  return {Shaped({std::max<int64_t>(length, 0)}, self.scalar_type())};
}

/** `(A, B, *, upper, left, unitriangular)`: batches broadcast. */
Results SolveTriangular(const Arguments& arguments) {
  const at::Tensor& matrix = TensorAt(arguments, 0);
  const at::Tensor& right = TensorAt(arguments, 1);
  const auto batch = [](const at::Tensor& tensor) { return tensor.sizes().slice(0, static_cast<size_t>(tensor.dim()) - 2); };
  Sizes sizes = at::infer_size(batch(matrix), batch(right));
  sizes.push_back(right.size(-2));
  sizes.push_back(right.size(-1));
  return {Shaped(sizes, right.scalar_type())};
}

Results Unfolded(const Arguments& arguments) {
  return {Shaped(arguments.at(1).toIntVector(), TensorAt(arguments, 0).scalar_type())};
}

/** `(gradient, …)` of two inputs. */
Results CdistBackward(const Arguments& arguments) {
  return {Like(TensorAt(arguments, 1))};
}

}  // namespace

const std::vector<Ruled>& LayerRules() {
  static const std::vector<Ruled> rules = {
      {"index_select", Follow<IndexSelect>},
      {"take", Follow<Take>},
      {"embedding", Follow<Embedding>},
      {"embedding_dense_backward", Follow<EmbeddingBackward>},
      {"bucketize", Follow<Searched<0>>},
      {"searchsorted", Follow<Searched<1>>},
      {"randperm", Follow<Permutation>},
      {"multinomial", Follow<Multinomial>},
      {"histc", Follow<Histogram>},
      {"native_layer_norm", Follow<LayerNorm>},
      {"native_layer_norm_backward", Follow<LayerNormBackward>},
      {"native_group_norm", Follow<GroupNorm>},
      {"native_group_norm_backward", Follow<GroupNormBackward>},
      {"native_batch_norm", Follow<BatchNorm>},
      {"native_batch_norm_backward", Follow<BatchNormBackward>},
      {"convolution", Follow<Convolution>},
      {"convolution_backward", Follow<ConvolutionBackward>},
      {"_adaptive_avg_pool2d _adaptive_avg_pool3d", Follow<AdaptivePool>},
      {"grid_sampler_2d grid_sampler_3d", Follow<GridSampler>},
      {"nll_loss2d_forward", Follow<Nll2d>},
      {"_cdist_forward", Follow<Distances>},
      {"_cdist_backward", Follow<CdistBackward>},
      {"diag", Follow<Diagonal>},
      {"linalg_solve_triangular", Follow<SolveTriangular>},
      {"_fft_r2c", Follow<RealToComplex>},
      {"_fft_c2r", Follow<ComplexToReal>},
      {"unfold_backward", Follow<Unfolded>},
  };
  return rules;
}
