/** Shape rules (rules.h) for lookups, random sampling, distances, transforms and linear algebra. */
#include <ATen/ExpandUtils.h>

#include "shapes/rules.h"

namespace {

Results IndexSelect(const Arguments& arguments) {
  const at::Tensor& self = TensorAt(arguments, 0);
  Sizes sizes = self.sizes().vec();
  if (!sizes.empty())
    sizes.at(static_cast<size_t>(c10::maybe_wrap_dim(arguments.at(1).toInt(), self.dim()))) =
        TensorAt(arguments, 2).numel();
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

/** Returns positions in a sorted sequence. `out_int32` is the third argument. */
template <size_t values>
Results SearchSorted(const Arguments& arguments) {
  const bool narrow = arguments.at(2).toBool();
  const auto& value = arguments.at(values);
  const Sizes sizes = value.isTensor() ? value.toTensor().sizes().vec() : Sizes{};
  return {Shaped(sizes, narrow ? c10::kInt : c10::kLong)};
}

Results Permutation(const Arguments& arguments) {
  const c10::IValue& dtype = arguments.at(arguments.size() - 4);
  return {Shaped({arguments.at(0).toInt()}, dtype.isInt() ? dtype.toScalarType() : c10::kLong)};
}

/** Returns the number of elements of a matrix on a diagonal and below it. */
int64_t CountBelow(int64_t rows, int64_t columns, int64_t offset) {
  int64_t count = 0;
  for (int64_t row = 0; row < rows; row++) count += std::min(std::max<int64_t>(row + offset + 1, 0), columns);
  return count;
}

/** `(row, col, offset, dtype, …)`: returns the row and the column of each element of a triangle. */
template <bool upper>
Results Triangle(const Arguments& arguments) {
  const int64_t rows = arguments.at(0).toInt();
  const int64_t columns = arguments.at(1).toInt();
  const int64_t offset = arguments.at(2).toInt();
  TORCH_CHECK(rows >= 0 && columns >= 0, "expected sizes of at least 0, got ", rows, " and ", columns);
  const int64_t count =
      upper ? rows * columns - CountBelow(rows, columns, offset - 1) : CountBelow(rows, columns, offset);
  const c10::IValue& dtype = arguments.at(3);
  return {Shaped({2, count}, dtype.isInt() ? dtype.toScalarType() : c10::kLong)};
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
  Sizes sizes = at::infer_size(one.sizes().slice(0, static_cast<size_t>(one.dim()) - 2),
                               other.sizes().slice(0, static_cast<size_t>(other.dim()) - 2));
  sizes.push_back(one.size(-2));
  sizes.push_back(other.size(-2));
  return {Shaped(sizes, one.scalar_type())};
}

/** Returns the distances of each row to all rows after it. */
Results PairwiseDistances(const Arguments& arguments) {
  const at::Tensor& self = TensorAt(arguments, 0);
  TORCH_CHECK(self.dim() == 2, "pdist takes 2 dimensions, got ", self.dim());
  return {Shaped({self.size(0) * (self.size(0) - 1) / 2}, self.scalar_type())};
}

/** Returns the counts and the edges of the bins. */
Results HistogramWithEdges(const Arguments& arguments) {
  const auto dtype = TensorAt(arguments, 0).scalar_type();
  const c10::IValue& bins = arguments.at(1);
  const int64_t edges = bins.isTensor() ? bins.toTensor().numel() : bins.toInt() + 1;
  return {Shaped({edges - 1}, dtype), Shaped({edges}, dtype)};
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
  sizes.at(static_cast<size_t>(c10::maybe_wrap_dim(arguments.at(1).toIntVector().back(), self.dim()))) =
      arguments.at(3).toInt();
  return {Shaped(sizes, c10::toRealValueType(self.scalar_type()))};
}

/** Returns a matrix with a given diagonal, or the diagonal of a matrix. */
Results Diagonal(const Arguments& arguments) {
  const at::Tensor& self = TensorAt(arguments, 0);
  const int64_t offset = arguments.at(1).toInt();
  if (self.dim() == 1) {
    const int64_t size = self.size(0) + std::abs(offset);
    return {Shaped({size, size}, self.scalar_type())};
  }
  TORCH_CHECK(self.dim() == 2, "diag takes 1 or 2 dimensions, got ", self.dim());
  const int64_t length =
      offset >= 0 ? std::min(self.size(0), self.size(1) - offset) : std::min(self.size(0) + offset, self.size(1));
  return {Shaped({std::max<int64_t>(length, 0)}, self.scalar_type())};
}

c10::IntArrayRef BatchOf(const at::Tensor& tensor) {
  return tensor.sizes().slice(0, static_cast<size_t>(tensor.dim()) - 2);
}

/** `(A, B, *, upper, left, unitriangular)`: the batch dimensions broadcast. */
Results SolveTriangular(const Arguments& arguments) {
  const at::Tensor& matrix = TensorAt(arguments, 0);
  const at::Tensor& right = TensorAt(arguments, 1);
  Sizes sizes = at::infer_size(BatchOf(matrix), BatchOf(right));
  sizes.push_back(right.size(-2));
  sizes.push_back(right.size(-1));
  return {ByColumns(sizes, right.scalar_type())};
}

/** `(B, L)`: the batch dimensions broadcast. */
Results CholeskySolve(const Arguments& arguments) {
  const at::Tensor& right = TensorAt(arguments, 0);
  Sizes sizes = at::infer_size(BatchOf(right), BatchOf(TensorAt(arguments, 1)));
  sizes.push_back(right.size(-2));
  sizes.push_back(right.size(-1));
  return {ByColumns(sizes, right.scalar_type())};
}

Results MatrixByColumns(const Arguments& arguments) {
  const at::Tensor& matrix = TensorAt(arguments, 0);
  TORCH_CHECK(matrix.dim() >= 2, "expected matrices, got ", matrix.dim(), " dimensions");
  return {ByColumns(matrix.sizes(), matrix.scalar_type())};
}

Results MatrixByRows(const Arguments& arguments) {
  const at::Tensor& matrix = TensorAt(arguments, 0);
  return {Shaped(matrix.sizes(), matrix.scalar_type())};
}

/** Returns the eigenvalues and the eigenvectors, which are complex also for real matrices. */
Results Eigen(const Arguments& arguments) {
  const at::Tensor& matrix = TensorAt(arguments, 0);
  const auto dtype = c10::toComplexType(matrix.scalar_type());
  return {Shaped(matrix.sizes().slice(0, static_cast<size_t>(matrix.dim()) - 1), dtype),
          ByColumns(matrix.sizes(), dtype)};
}

/** Returns a matrix, and the coefficient of each of its Householder reflections. */
Results Reflections(const Arguments& arguments) {
  const at::Tensor& matrix = TensorAt(arguments, 0);
  Sizes sizes = BatchOf(matrix).vec();
  sizes.push_back(std::min(matrix.size(-2), matrix.size(-1)));
  return {ByColumns(matrix.sizes(), matrix.scalar_type()), Shaped(sizes, matrix.scalar_type())};
}

/**
 * `(log_probs, targets, input_lengths, target_lengths, …)`: returns a loss for each sequence, and the data for its
 * gradient.
 */
Results CtcLoss(const Arguments& arguments) {
  const at::Tensor& input = TensorAt(arguments, 0);
  int64_t longest = 0;
  for (const int64_t length : arguments.at(3).toIntVector()) longest = std::max(longest, length);
  return {Shaped({input.size(1)}, input.scalar_type()),
          Shaped({input.size(1), input.size(0), 2 * longest + 1}, input.scalar_type())};
}

/** Returns the number of positions of a window along a dimension. */
int64_t Windows(int64_t size, int64_t kernel, int64_t dilation, int64_t padding, int64_t stride) {
  return (size + 2 * padding - (dilation * (kernel - 1) + 1)) / stride + 1;
}

/** `(self, kernel_size, dilation, padding, stride)`: returns a column with the elements of each window. */
Results Im2Col(const Arguments& arguments) {
  const at::Tensor& self = TensorAt(arguments, 0);
  const Sizes kernel = arguments.at(1).toIntVector();
  const Sizes dilation = arguments.at(2).toIntVector();
  const Sizes padding = arguments.at(3).toIntVector();
  const Sizes stride = arguments.at(4).toIntVector();
  int64_t places = 1;
  for (size_t i = 0; i < 2; i++) {
    places *=
        Windows(self.size(static_cast<int64_t>(i) - 2), kernel.at(i), dilation.at(i), padding.at(i), stride.at(i));
  }
  TORCH_CHECK(places > 0, "windows of ", kernel, " do not fit into ", self.sizes());
  Sizes sizes{self.size(-3) * kernel[0] * kernel[1], places};
  if (self.dim() == 4) sizes.insert(sizes.begin(), self.size(0));
  return {Shaped(sizes, self.scalar_type())};
}

/** `(self, output_size, kernel_size, …)`: returns the sums of the elements of all windows at each position. */
Results Col2Im(const Arguments& arguments) {
  const at::Tensor& self = TensorAt(arguments, 0);
  const Sizes output = arguments.at(1).toIntVector();
  const Sizes kernel = arguments.at(2).toIntVector();
  Sizes sizes{self.size(-2) / (kernel.at(0) * kernel.at(1)), output.at(0), output.at(1)};
  if (self.dim() == 3) sizes.insert(sizes.begin(), self.size(0));
  return {Shaped(sizes, self.scalar_type())};
}

Results UnfoldBackward(const Arguments& arguments) {
  return {Shaped(arguments.at(1).toIntVector(), TensorAt(arguments, 0).scalar_type())};
}

/** `(gradient, input, …)` */
Results GradientOfInput(const Arguments& arguments) {
  return {Like(TensorAt(arguments, 1))};
}

}  // namespace

const std::vector<RuleEntry>& LookupRules() {
  static const std::vector<RuleEntry> rules = {
      {"index_select", KernelFor<IndexSelect>},
      {"take", KernelFor<Take>},
      {"embedding", KernelFor<Embedding>},
      {"embedding_dense_backward", KernelFor<EmbeddingBackward>},
      {"bucketize", KernelFor<SearchSorted<0>>},
      {"searchsorted", KernelFor<SearchSorted<1>>},
      {"randperm", KernelFor<Permutation>},
      {"multinomial", KernelFor<Multinomial>},
      {"tril_indices", KernelFor<Triangle<false>>},
      {"triu_indices", KernelFor<Triangle<true>>},
      {"histc", KernelFor<Histogram>},
      {"histogram", KernelFor<HistogramWithEdges>},
      {"_pdist_forward", KernelFor<PairwiseDistances>},
      {"_cdist_forward", KernelFor<Distances>},
      {"_cdist_backward", KernelFor<GradientOfInput>},
      {"diag", KernelFor<Diagonal>},
      {"linalg_solve_triangular", KernelFor<SolveTriangular>},
      {"_fft_r2c", KernelFor<RealToComplex>},
      {"_fft_c2r", KernelFor<ComplexToReal>},
      {"cholesky_solve _cholesky_solve_helper", KernelFor<CholeskySolve>},
      {"cholesky cholesky_inverse linalg_householder_product", KernelFor<MatrixByColumns>},
      {"linalg_matrix_sqrth", KernelFor<MatrixByRows>},
      {"linalg_eig", KernelFor<Eigen>},
      {"geqrf", KernelFor<Reflections>},
      {"_ctc_loss", KernelFor<CtcLoss>},
      {"_ctc_loss_backward", KernelFor<GradientOfInput>},
      {"im2col", KernelFor<Im2Col>},
      {"col2im", KernelFor<Col2Im>},
      {"unfold_backward", KernelFor<UnfoldBackward>},
  };
  return rules;
}
