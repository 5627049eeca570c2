/**
 * The parts of the kernels of device Meta. A rule computes the results of an operation, without elements, from its
 * arguments.
 */
#pragma once
#include <vector>

#include "libtorch/torch.h"

using Arguments = std::vector<c10::IValue>;
using Results = std::vector<at::Tensor>;
using Sizes = std::vector<int64_t>;
using Rule = Results (*)(const Arguments& arguments);

inline const at::Tensor& TensorAt(const Arguments& arguments, size_t index) {
  return arguments.at(index).toTensor();
}

/** Returns a tensor of device Meta. */
inline at::Tensor Shaped(c10::IntArrayRef sizes, c10::ScalarType dtype) {
  return at::empty(sizes, at::TensorOptions().dtype(dtype).device(c10::kMeta));
}
/** Returns a tensor of device Meta for matrices in column-major order, in which LAPACK returns them. */
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

void RunRule(const c10::OperatorHandle& op, torch::jit::Stack* stack, Rule rule);

template <Rule rule>
void RuleKernel(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  RunRule(op, stack, rule);
}

/** The names of operations, separated by spaces, and the kernel that applies a rule to them. */
struct RuleEntry {
  const char* names;
  torch::CppFunction (*kernel)();
};

template <Rule rule>
torch::CppFunction KernelFor() {
  return torch::CppFunction::makeFromBoxedFunction<&RuleKernel<rule>>();
}

/** The rules of elementwise.cc, layers.cc and lookups.cc. */
const std::vector<RuleEntry>& ElementRules();
const std::vector<RuleEntry>& LayerRules();
const std::vector<RuleEntry>& LookupRules();
