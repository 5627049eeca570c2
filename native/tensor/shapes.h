/** What the kernels of device Meta are made of: a rule answers the results of an operation, without elements, by its arguments. */
#pragma once
#include <vector>

#include "torch.h"

using Arguments = std::vector<c10::IValue>;
using Results = std::vector<at::Tensor>;
using Sizes = std::vector<int64_t>;
using Rule = Results (*)(const Arguments& arguments);

inline const at::Tensor& TensorAt(const Arguments& arguments, size_t index) {
  return arguments.at(index).toTensor();
}

/** A tensor of device Meta. */
inline at::Tensor Shaped(c10::IntArrayRef sizes, c10::ScalarType dtype) {
  return at::empty(sizes, at::TensorOptions().dtype(dtype).device(c10::kMeta));
}
/** The same for matrices that are kept column by column, as LAPACK leaves them. */
inline at::Tensor ByColumns(c10::IntArrayRef sizes, c10::ScalarType dtype) {
  Sizes swapped = sizes.vec();
  std::swap(swapped.at(swapped.size() - 2), swapped.at(swapped.size() - 1));
  return Shaped(swapped, dtype).transpose(-2, -1);
}
inline at::Tensor Like(const at::Tensor& tensor) {
  return at::empty_like(tensor, at::TensorOptions().device(c10::kMeta));
}
inline at::Tensor Like(const at::Tensor& tensor, c10::ScalarType dtype) {
  return at::empty_like(tensor, at::TensorOptions().dtype(dtype).device(c10::kMeta));
}

void Answer(const c10::OperatorHandle& op, torch::jit::Stack* stack, Rule rule);

template <Rule rule>
void Boxed(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  Answer(op, stack, rule);
}

/** Operations, by their names with spaces between them, and the kernel that follows a rule. */
struct Ruled {
  const char* names;
  torch::CppFunction (*kernel)();
};

template <Rule rule>
torch::CppFunction Follow() {
  return torch::CppFunction::makeFromBoxedFunction<&Boxed<rule>>();
}

/** The rules of elementwise.cc, layers.cc and lookups.cc. */
const std::vector<Ruled>& ElementRules();
const std::vector<Ruled>& LayerRules();
const std::vector<Ruled>& LookupRules();
