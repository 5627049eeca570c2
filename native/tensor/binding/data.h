/** Converts typed arrays to tensors and tensors to ArrayBuffers, without copies where possible. */
#pragma once
#include <napi.h>

#include "binding/environment.h"

/**
 * `fromMemory(view, shape, dtype) -> tensor`: creates a tensor that uses the memory of a typed array. The typed array
 * stays alive as long as the tensor and its views. It must not be detached or resized.
 */
Napi::Value FromMemory(const Napi::CallbackInfo& info);
/**
 * `toMemory(tensor) -> ArrayBuffer`: returns the elements in order. The buffer uses the memory of the tensor if the
 * tensor is contiguous, and otherwise contains a copy.
 */
Napi::Value ToMemory(const Napi::CallbackInfo& info);
/** The shape of a tensor and its size in bytes. */
struct Extent {
  std::vector<int64_t> shape;
  size_t bytes;
};
Extent ExtentOf(const Napi::CallbackInfo& info, size_t index, c10::ScalarType dtype);
c10::ScalarType DtypeArgument(const Napi::CallbackInfo& info, size_t index);
