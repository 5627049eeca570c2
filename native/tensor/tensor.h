/**
 * Tensors as JavaScript has them: objects of one class of the runtime, each wrapping a Box. An object loses its box by `dispose`, or
 * when the garbage collector takes it; the first is the rule, the second only what is left when it was forgotten.
 */
#pragma once
#include <napi.h>

#include "environment.h"
#include "torch.h"

struct Box {
  at::Tensor tensor;
  /** What was counted for it, if anything. */
  const void* storage = nullptr;
};

/** An instance of the class that `begin` was given; null for a tensor that is not defined. */
Napi::Value NewTensor(Napi::Env env, at::Tensor tensor);
/** The box of a tensor; null if the value is none, or has been disposed of. */
Box* BoxOf(Napi::Env env, napi_value value);
/** Whether it is a tensor without a box. */
bool IsDisposedTensor(Napi::Env env, napi_value value);
/** @throws TypeError if the value is no tensor, Error if it has been disposed of */
const at::Tensor& TensorOf(const Napi::CallbackInfo& info, size_t index, const char* name);
/** The same of an array of them. */
std::vector<at::Tensor> TensorsOf(const Napi::CallbackInfo& info, size_t index, const char* name);

/** (class): what tensors are instances of; (function): answers the number of the place where the code stands that records. */
Napi::Value BeginTensors(const Napi::CallbackInfo& info);
/** (place in a user's code, as text) → the number by which the function that begin was given answers it */
Napi::Value AddSite(const Napi::CallbackInfo& info);
/** () → a tensor that is disposed of, until one is moved into it */
Napi::Value EmptyTensor(const Napi::CallbackInfo& info);
/** (from, to): `to` must be disposed of, and `from` is, afterwards. */
Napi::Value MoveTensor(const Napi::CallbackInfo& info);
/** (tensor): frees what nobody else uses. Idempotent. */
Napi::Value Dispose(const Napi::CallbackInfo& info);
/** (tensor) → whether it has been disposed of */
Napi::Value IsDisposed(const Napi::CallbackInfo& info);
/** (tensor) → sizes */
Napi::Value Shape(const Napi::CallbackInfo& info);
/** (tensor) → in elements */
Napi::Value Strides(const Napi::CallbackInfo& info);
/** (tensor) → name */
Napi::Value Dtype(const Napi::CallbackInfo& info);
/** () → counts of bytes and objects */
Napi::Value Stats(const Napi::CallbackInfo& info);
