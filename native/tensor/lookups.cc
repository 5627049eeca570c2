/** Rules for shapes (shapes.h) of lookups, random choices, distances, transforms and matrices. */
#include <ATen/ExpandUtils.h>

#include "shapes.h"

namespace {

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

const std::vector<Ruled>& LookupRules() {
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
