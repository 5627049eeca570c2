/** libtorch as the addon uses it: its headers, its version, and what has another name in some of them. */
#pragma once
#include <ATen/Parallel.h>
#include <ATen/core/Generator.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/GradMode.h>
#include <c10/core/ScalarType.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/Exception.h>
#include <torch/csrc/api/include/torch/version.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/library.h>

/** 113 is 1.13, 206 is 2.6. */
#define VICEROY_TORCH (TORCH_VERSION_MAJOR * 100 + TORCH_VERSION_MINOR)

#if VICEROY_TORCH >= 201
#include <optional>
template <class T>
using Optional = std::optional<T>;
#else
template <class T>
using Optional = c10::optional<T>;
#endif

/** The same elements in order, as they are in memory: conjugates and negatives may be only noted until somebody looks. */
inline at::Tensor Plain(const at::Tensor& tensor) {
  return tensor.detach().resolve_conj().resolve_neg().contiguous();
}
