/**
 * Tensors in JavaScript: objects of a class of the runtime, each of which wraps a Box. An object loses its box through
 * `dispose`. The garbage collector frees the boxes of objects that were not disposed of.
 */
#pragma once
#include <napi.h>

#include "binding/environment.h"
#include "libtorch/torch.h"

struct Box {
  at::Tensor tensor;
  /** The storage that was counted for this box, or null. */
  const void* storage = nullptr;
};

/** Returns an instance of the class that `initialize` received, or null for an undefined tensor. */
Napi::Value NewTensor(Napi::Env env, at::Tensor tensor);
/** Returns the box of a tensor, or null if the value is not a tensor or has been disposed of. */
Box* BoxOf(Napi::Env env, napi_value value);
/** Returns whether a value is a tensor without a box. */
bool IsDisposedTensor(Napi::Env env, napi_value value);
/**
 * Returns the tensor in an argument.
 * @throws TypeError if the value is not a tensor, Error if it has been disposed of
 */
const at::Tensor& TensorOf(const Napi::CallbackInfo& info, size_t index, const char* name);
/**
 * Returns the tensors in an argument that is an array.
 * @throws like `TensorOf`
 */
std::vector<at::Tensor> TensorsOf(const Napi::CallbackInfo& info, size_t index, const char* name);

/**
 * `initialize(class, site, noteRecorded, sampler?, locateSite?)`: sets the class of tensors and the functions that the
 * addon calls. runtime/native/tensor-addon.ts describes them.
 */
Napi::Value Initialize(const Napi::CallbackInfo& info);
/** `addCallSite(site) -> number`: registers a call site as text. Returns the number by which `site` refers to it. */
Napi::Value AddSite(const Napi::CallbackInfo& info);
/** `emptyTensor() -> tensor`: returns a tensor that counts as disposed of until another tensor is moved into it. */
Napi::Value EmptyTensor(const Napi::CallbackInfo& info);
/**
 * `moveTensor(from, to)`: moves the content of `from` into `to`, which must be disposed of. Afterwards `from` is
 * disposed of.
 */
Napi::Value MoveTensor(const Napi::CallbackInfo& info);
/** `dispose(tensor)`: releases the memory unless other tensors share it. Idempotent. */
Napi::Value Dispose(const Napi::CallbackInfo& info);
/** `isDisposed(tensor) -> boolean` */
Napi::Value IsDisposed(const Napi::CallbackInfo& info);
/** `shape(tensor) -> number[]` */
Napi::Value Shape(const Napi::CallbackInfo& info);
/** `strides(tensor) -> number[]`: returns the strides in elements. */
Napi::Value Strides(const Napi::CallbackInfo& info);
/** `dtype(tensor) -> string` */
Napi::Value Dtype(const Napi::CallbackInfo& info);
/** `stats() -> { live, peak, cached, tensors, counted }`: returns numbers of bytes and of objects. */
Napi::Value Stats(const Napi::CallbackInfo& info);
