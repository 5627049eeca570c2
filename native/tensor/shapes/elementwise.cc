/** Shape rules (rules.h) for elementwise operations, reductions and losses. */
#include <ATen/ExpandUtils.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/sum.h>

#include "shapes/rules.h"

namespace {

c10::ScalarType RealType(c10::ScalarType dtype) {
  return c10::isComplexType(dtype) ? c10::toRealValueType(dtype) : dtype;
}

c10::ScalarType FloatingType(c10::ScalarType dtype) {
  return c10::isIntegralType(dtype, true) ? c10::typeMetaToScalarType(c10::get_default_dtype()) : dtype;
}

const at::Tensor& First(const Arguments& arguments) {
  return arguments.at(0).toTensor();
}

Results LikeFirst(const Arguments& arguments) {
  return {Like(First(arguments))};
}

Results LikeSecond(const Arguments& arguments) {
  return {Like(arguments.at(1).toTensor())};
}

/** Returns the sizes to which all tensor arguments broadcast. */
std::vector<int64_t> Broadcast(const Arguments& arguments) {
  std::vector<int64_t> sizes;
  for (const auto& argument : arguments) {
    if (argument.isTensor() && argument.toTensor().defined())
      sizes = at::infer_size(sizes, argument.toTensor().sizes());
  }
  return sizes;
}

/** Returns a tensor of the broadcast sizes with the type of argument `at`. */
template <size_t at>
Results CombinedLike(const Arguments& arguments) {
  return {Shaped(Broadcast(arguments), TensorAt(arguments, at).scalar_type())};
}

Results ComplexOfTwo(const Arguments& arguments) {
  return {Shaped(Broadcast(arguments), c10::toComplexType(First(arguments).scalar_type()))};
}

/** Returns the mantissas and the exponents. */
Results Mantissas(const Arguments& arguments) {
  return {Like(First(arguments)), Like(First(arguments), c10::kInt)};
}

Results RealLikeFirst(const Arguments& arguments) {
  return {Like(First(arguments), RealType(First(arguments).scalar_type()))};
}

Results FloatingLikeFirst(const Arguments& arguments) {
  return {Like(First(arguments), FloatingType(First(arguments).scalar_type()))};
}

Results BooleanLikeFirst(const Arguments& arguments) {
  return {Like(First(arguments), c10::kBool)};
}

Results LongLikeFirst(const Arguments& arguments) {
  return {Like(First(arguments), c10::kLong)};
}

/** Returns the values and their indices. */
Results LikeFirstWithPlaces(const Arguments& arguments) {
  return {Like(First(arguments)), Like(First(arguments), c10::kLong)};
}

Results LikeFirstWithMask(const Arguments& arguments) {
  return {Like(First(arguments)), Like(First(arguments), c10::kBool)};
}

/** The second result is used for the gradient. */
Results LikeFirstTwice(const Arguments& arguments) {
  return {Like(First(arguments)), Like(First(arguments))};
}

Results LikeFirstTwo(const Arguments& arguments) {
  return {Like(First(arguments)), Like(arguments.at(1).toTensor())};
}

/**
 * Gradients of the input and of the weight, which was broadcast to the input and is summed later. Both follow the
 * gradient of the output.
 */
Results LikeNextTwice(const Arguments& arguments) {
  return {Like(arguments.at(1).toTensor()), Like(arguments.at(1).toTensor())};
}

/** Gradients of two inputs, which follow the gradient of the output. */
Results LikeNextTwo(const Arguments& arguments) {
  return {Like(arguments.at(1).toTensor()), Like(arguments.at(2).toTensor())};
}

/** Returns a result for each tensor of the first list. */
Results LikeFirstList(const Arguments& arguments) {
  Results results;
  for (const at::Tensor& tensor : arguments.at(0).toTensorVector()) results.push_back(Like(tensor));
  return results;
}

/** Returns the type to which two adjacent arguments promote. Each argument is a tensor or a number. */
c10::ScalarType ResultType(const Arguments& arguments, size_t from) {
  const auto& one = arguments.at(from);
  const auto& other = arguments.at(from + 1);
  if (!one.isTensor()) return at::result_type(one.toScalar(), other.toTensor());
  return other.isTensor() ? at::result_type(one.toTensor(), other.toTensor())
                          : at::result_type(one.toTensor(), other.toScalar());
}

Results Combined(const Arguments& arguments) {
  return {Shaped(Broadcast(arguments), ResultType(arguments, 0))};
}

Results WhereResult(const Arguments& arguments) {
  return {Shaped(Broadcast(arguments), ResultType(arguments, 1))};
}

Results Compared(const Arguments& arguments) {
  return {Shaped(Broadcast(arguments), c10::kBool)};
}

Results OfFirstType(const Arguments& arguments) {
  return {Shaped({}, First(arguments).scalar_type())};
}

/** Sums of integers have type int64, unless another type is given. */
Results Summed(const Arguments& arguments) {
  const auto dtype = First(arguments).scalar_type();
  if (arguments.size() > 1 && arguments.back().isInt()) return {Shaped({}, arguments.back().toScalarType())};
  return {Shaped({}, c10::isIntegralType(dtype, true) ? c10::kLong : dtype)};
}

/** `at` is the index of the parameter `reduction`: none, mean or sum. */
template <size_t at>
Results Loss(const Arguments& arguments) {
  const at::Tensor& input = First(arguments);
  if (arguments.at(at).toInt() != 0) return {Shaped({}, input.scalar_type())};
  return {Shaped(Broadcast(arguments), input.scalar_type())};
}

/** Computes the shape of a reduction `(self, dimensions?, …, keepdim)` by the Meta kernel of `sum`. */
at::Tensor Reduced(const at::Tensor& tensor, const c10::IValue& dimensions, bool keep) {
  const std::vector<int64_t> all = dimensions.isNone()  ? std::vector<int64_t>{}
                                   : dimensions.isInt() ? std::vector<int64_t>{dimensions.toInt()}
                                                        : dimensions.toIntVector();
  return at::sum(Like(tensor), all, keep, tensor.scalar_type());
}

template <size_t count>
Results Deviations(const Arguments& arguments) {
  const at::Tensor one = Reduced(First(arguments), arguments.at(1), arguments.back().toBool());
  Results results(count, Like(one));
  results[0] = Like(one, RealType(one.scalar_type()));
  return results;
}

Results NanSum(const Arguments& arguments) {
  const at::Tensor sum = Reduced(First(arguments), arguments.at(1), arguments.at(2).toBool());
  return {arguments.at(3).isInt() ? Like(sum, arguments.at(3).toScalarType()) : sum};
}

Results CountedNonzero(const Arguments& arguments) {
  return {Like(Reduced(First(arguments), arguments.at(1), false), c10::kLong)};
}

template <size_t at>
Results ValuesOf(const Arguments& arguments) {
  const at::Tensor values = Reduced(First(arguments), arguments.at(at), arguments.at(at + 1).toBool());
  return {values, Like(values, c10::kLong)};
}

/** `(self, dim, dtype)` */
Results SafeSoftmax(const Arguments& arguments) {
  const c10::IValue& dtype = arguments.at(2);
  const auto wanted = dtype.isInt() ? Optional<c10::ScalarType>(dtype.toScalarType()) : Optional<c10::ScalarType>();
  return {at::softmax(TensorAt(arguments, 0), arguments.at(1).toInt(), wanted)};
}

/** `(gradient, mask, sizes)` */
Results MaskedSource(const Arguments& arguments) {
  return {Shaped(arguments.at(2).toIntVector(), TensorAt(arguments, 0).scalar_type())};
}

}  // namespace

const std::vector<RuleEntry>& ElementRules() {
  static const std::vector<RuleEntry> rules = {
      {"relu hardtanh hardswish flip roll prelu rrelu_with_noise linalg_matrix_exp poisson "
       "_standard_gamma _logcumsumexp logcumsumexp channel_shuffle bernoulli native_dropout_backward "
       "_fft_c2c sgn conj_physical zero celu selu square _softmax_backward_data _conj_physical normal.Tensor_float "
       "normal.Tensor_Tensor masked_scatter masked_fill index_fill index_copy put fill bernoulli.p bernoulli.Tensor "
       "nan_to_num _prelu_kernel",
       KernelFor<LikeFirst>},
      {"binomial", KernelFor<CombinedLike<0>>},
      {"mse_loss_backward smooth_l1_loss_backward huber_loss_backward hardswish_backward hardtanh_backward",
       KernelFor<CombinedLike<1>>},
      {"complex polar", KernelFor<ComplexOfTwo>},
      {"frexp", KernelFor<Mantissas>},
      {"binary_cross_entropy_backward log_sigmoid_backward rrelu_with_noise_backward _adaptive_avg_pool2d_backward "
       "_adaptive_avg_pool3d_backward max_pool3d_with_indices_backward nll_loss2d_backward multi_margin_loss_backward "
       "_pdist_backward soft_margin_loss_backward glu_backward "
       "reflection_pad2d_backward replication_pad2d_backward replication_pad3d_backward normal.float_Tensor "
       "multilabel_margin_loss_backward",
       KernelFor<LikeSecond>},
      {"abs", KernelFor<RealLikeFirst>},
      {"angle logit", KernelFor<FloatingLikeFirst>},
      {"isnan logical_not", KernelFor<BooleanLikeFirst>},
      {"argsort", KernelFor<LongLikeFirst>},
      {"cummax cummin", KernelFor<LikeFirstWithPlaces>},
      {"native_dropout", KernelFor<LikeFirstWithMask>},
      {"log_sigmoid_forward", KernelFor<LikeFirstTwice>},
      {"_weight_norm_interface", KernelFor<LikeFirstTwo>},
      {"_prelu_kernel_backward", KernelFor<LikeNextTwice>},
      {"prelu_backward grid_sampler_2d_backward grid_sampler_3d_backward", KernelFor<LikeNextTwo>},
      {"floor_divide rsub.Tensor remainder.Scalar_Tensor _add_relu.Tensor __lshift__.Tensor __rshift__.Tensor "
       "__lshift__.Scalar "
       "__rshift__.Scalar",
       KernelFor<Combined>},
      {"where.self", KernelFor<WhereResult>},
      {"logical_and logical_or logical_xor", KernelFor<Compared>},
      {"dot vdot max min median nanmedian", KernelFor<OfFirstType>},
      {"prod trace", KernelFor<Summed>},
      {"huber_loss soft_margin_loss", KernelFor<Loss<2>>},
      {"binary_cross_entropy", KernelFor<Loss<3>>},
      {"std.correction var.correction", KernelFor<Deviations<1>>},
      {"std_mean.correction var_mean.correction", KernelFor<Deviations<2>>},
      {"nansum", KernelFor<NanSum>},
      {"count_nonzero.dim_IntList", KernelFor<CountedNonzero>},
      {"max.dim min.dim median.dim nanmedian.dim mode", KernelFor<ValuesOf<1>>},
      {"kthvalue", KernelFor<ValuesOf<2>>},
      {"_safe_softmax", KernelFor<SafeSoftmax>},
      {"masked_scatter_backward", KernelFor<MaskedSource>},
  };
  return rules;
}
