/** The elements of tensors as typed arrays, and the other way round; without copies. */
#pragma once
#include <napi.h>

#include "environment.h"

/**
 * (view, shape, dtype) → a tensor over the memory of a typed array, which stays alive as long as the tensor, or views of it, and must
 * be neither detached nor resized.
 */
Napi::Value FromMemory(const Napi::CallbackInfo& info);
/** (tensor) → an ArrayBuffer with its elements in order: its own memory where it is contiguous, otherwise a copy. */
Napi::Value ToMemory(const Napi::CallbackInfo& info);
/** Sizes of a tensor, and how many bytes it takes. @throws TypeError, RangeError */
struct Extent {
  std::vector<int64_t> shape;
  size_t bytes;
};
Extent ExtentOf(const Napi::CallbackInfo& info, size_t index, c10::ScalarType dtype);
c10::ScalarType DtypeArgument(const Napi::CallbackInfo& info, size_t index);
