/** Shape rules (rules.h) for the layers of neural networks: normalization, convolution and pooling. */
#include "shapes/rules.h"

namespace {

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

/** Returns the gradients of an input and two parameters, as far as the mask in the last argument selects them. */
Results MaskedGradients(const Arguments& arguments, const std::vector<c10::IValue>& parts, const Sizes& otherwise) {
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
  return MaskedGradients(arguments, {arguments.at(1), arguments.at(5), arguments.at(6)}, arguments.at(2).toIntVector());
}

Results GroupNormBackward(const Arguments& arguments) {
  return MaskedGradients(arguments, {arguments.at(1), arguments.at(4), c10::IValue()}, {arguments.at(6).toInt()});
}

Results BatchNormBackward(const Arguments& arguments) {
  return MaskedGradients(arguments, {arguments.at(1), arguments.at(2), c10::IValue()},
                         {TensorAt(arguments, 1).size(1)});
}

Results ConvolutionBackward(const Arguments& arguments) {
  const Sizes bias = arguments.at(3).isNone() ? Sizes{TensorAt(arguments, 0).size(1)} : arguments.at(3).toIntVector();
  return MaskedGradients(arguments, {arguments.at(1), arguments.at(2), c10::IValue()}, bias);
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
  TORCH_CHECK(input.dim() == weight.dim() && input.dim() > 2,
              "a convolution takes an input with as many dimensions as its weight, got ", input.sizes(), " and ",
              weight.sizes());
  TORCH_CHECK(input.size(1) == (transposed ? weight.size(0) : weight.size(1) * groups), "a weight of sizes ",
              weight.sizes(), " does not match an input of ", input.size(1), " channels in ", groups, " groups");
  Sizes sizes{input.size(0), transposed ? weight.size(1) * groups : weight.size(0)};
  for (size_t i = 0; i + 2 < static_cast<size_t>(input.dim()); i++) {
    const auto axis = static_cast<int64_t>(i) + 2;
    const int64_t kernel = Nth(dilation, i) * (weight.size(axis) - 1) + 1;
    sizes.push_back(transposed ? (input.size(axis) - 1) * Nth(stride, i) - 2 * Nth(padding, i) + kernel + Nth(added, i)
                               : (input.size(axis) + 2 * Nth(padding, i) - kernel) / Nth(stride, i) + 1);
    TORCH_CHECK(sizes.back() > 0, "a convolution of ", input.sizes(), " with ", weight.sizes(), " has an empty result");
  }
  return {Shaped(sizes, input.scalar_type())};
}

/** The last dimensions have the sizes that the argument gives. */
Results AdaptivePool(const Arguments& arguments) {
  const at::Tensor& input = TensorAt(arguments, 0);
  Sizes sizes = input.sizes().vec();
  const Sizes last = arguments.at(1).toIntVector();
  TORCH_CHECK(sizes.size() > last.size(), "adaptive pooling expects more dimensions than ", sizes.size());
  std::copy(last.begin(), last.end(), sizes.end() - static_cast<std::ptrdiff_t>(last.size()));
  return {Shaped(sizes, input.scalar_type())};
}

/** `(self, padding)`: contains the padding before and after each dimension, starting with the last dimension. */
template <size_t dimensions>
Results Padded(const Arguments& arguments) {
  const at::Tensor& input = TensorAt(arguments, 0);
  const Sizes padding = arguments.at(1).toIntVector();
  Sizes sizes = input.sizes().vec();
  TORCH_CHECK(sizes.size() > dimensions && padding.size() == 2 * dimensions, "a padding of ", dimensions,
              " dimensions expects more dimensions and two numbers for each, got ", input.sizes(), " and ", padding);
  for (size_t i = 0; i < dimensions; i++) sizes[sizes.size() - 1 - i] += padding[2 * i] + padding[2 * i + 1];
  return {Shaped(sizes, input.scalar_type())};
}

/** `(self, kernel_size, stride, padding, dilation, ceil_mode)`: returns the maximum of each window, and its index. */
Results MaxPool3d(const Arguments& arguments) {
  const at::Tensor& input = TensorAt(arguments, 0);
  const Sizes kernel = arguments.at(1).toIntVector();
  const Sizes given = arguments.at(2).toIntVector();
  const Sizes& stride = given.empty() ? kernel : given;
  const Sizes padding = arguments.at(3).toIntVector();
  const Sizes dilation = arguments.at(4).toIntVector();
  const bool ceil = arguments.at(5).toBool();
  Sizes sizes = input.sizes().vec();
  TORCH_CHECK(sizes.size() >= 4, "max_pool3d takes 4 or 5 dimensions, got ", sizes.size());
  for (size_t i = 0; i < 3; i++) {
    int64_t& size = sizes[sizes.size() - 3 + i];
    const int64_t step = Nth(stride, i);
    const int64_t beyond = size + 2 * Nth(padding, i) - Nth(dilation, i) * (Nth(kernel, i) - 1) - 1;
    int64_t places = (beyond + (ceil ? step - 1 : 0)) / step + 1;
    // The last window must begin within the input or its left padding.
    if (ceil && (places - 1) * step >= size + Nth(padding, i)) places--;
    TORCH_CHECK(beyond >= 0 && places > 0, "windows of ", kernel, " do not fit into ", input.sizes());
    size = places;
  }
  return {Shaped(sizes, input.scalar_type()), Shaped(sizes, c10::kLong)};
}

/** `(self, target, …, reduction)`: returns a loss for each row, or a single loss. */
template <size_t at>
Results MarginLoss(const Arguments& arguments) {
  const at::Tensor& input = TensorAt(arguments, 0);
  const bool whole = arguments.at(at).toInt() != 0 || input.dim() < 2;
  return {Shaped(whole ? Sizes{} : Sizes{input.size(0)}, input.scalar_type())};
}

Results MultilabelMarginLoss(const Arguments& arguments) {
  const at::Tensor& input = TensorAt(arguments, 0);
  return {MarginLoss<2>(arguments)[0], Shaped(TensorAt(arguments, 1).sizes(), input.scalar_type())};
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

}  // namespace

const std::vector<RuleEntry>& LayerRules() {
  static const std::vector<RuleEntry> rules = {
      {"native_layer_norm", KernelFor<LayerNorm>},
      {"native_layer_norm_backward", KernelFor<LayerNormBackward>},
      {"native_group_norm", KernelFor<GroupNorm>},
      {"native_group_norm_backward", KernelFor<GroupNormBackward>},
      {"native_batch_norm", KernelFor<BatchNorm>},
      {"native_batch_norm_backward", KernelFor<BatchNormBackward>},
      {"convolution", KernelFor<Convolution>},
      {"convolution_backward", KernelFor<ConvolutionBackward>},
      {"_adaptive_avg_pool2d _adaptive_avg_pool3d", KernelFor<AdaptivePool>},
      {"reflection_pad2d replication_pad2d", KernelFor<Padded<2>>},
      {"max_pool3d_with_indices", KernelFor<MaxPool3d>},
      {"multi_margin_loss", KernelFor<MarginLoss<5>>},
      {"multilabel_margin_loss_forward", KernelFor<MultilabelMarginLoss>},
      {"grid_sampler_2d grid_sampler_3d", KernelFor<GridSampler>},
      {"nll_loss2d_forward", KernelFor<Nll2d>},
  };
  return rules;
}
