/** Gradients: libtorch's own. */
#pragma once
#include <napi.h>

/** (tensor) → boolean */
Napi::Value RequiresGrad(const Napi::CallbackInfo& info);
/** (tensor, boolean) */
Napi::Value SetRequiresGrad(const Napi::CallbackInfo& info);
/** (tensor) → tensor or null */
Napi::Value GradOf(const Napi::CallbackInfo& info);
/** (tensor, tensor or null) */
Napi::Value SetGrad(const Napi::CallbackInfo& info);
/** (outputs, gradients of them or null, retainGraph, createGraph): adds to the gradients of the leaves. */
Napi::Value Backward(const Napi::CallbackInfo& info);
/** (outputs, inputs, gradients of outputs or null, retainGraph, createGraph) → gradients of the inputs; null for one that is not used */
Napi::Value Grad(const Napi::CallbackInfo& info);
/** (boolean): whether operations are remembered for gradients, on this thread. → how it was */
Napi::Value SetGradMode(const Napi::CallbackInfo& info);
