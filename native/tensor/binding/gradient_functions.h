/** Functions for JavaScript that use libtorch's autograd. */
#pragma once
#include <napi.h>

/** `requiresGrad(tensor) -> boolean` */
Napi::Value RequiresGrad(const Napi::CallbackInfo& info);
/** `setRequiresGrad(tensor, required)` */
Napi::Value SetRequiresGrad(const Napi::CallbackInfo& info);
/** `gradOf(tensor) -> tensor | null` */
Napi::Value GradOf(const Napi::CallbackInfo& info);
/** `setGrad(tensor, gradient | null)` */
Napi::Value SetGrad(const Napi::CallbackInfo& info);
/**
 * `backward(outputs, gradients | null, retainGraph, createGraph)`: adds the gradients of the outputs to the gradients
 * of the leaves.
 */
Napi::Value Backward(const Napi::CallbackInfo& info);
/**
 * `grad(outputs, inputs, gradients | null, retainGraph, createGraph) -> (tensor | null)[]`: returns the gradients of
 * the inputs. The gradient of an input that the outputs do not depend on is null.
 */
Napi::Value Grad(const Napi::CallbackInfo& info);
/**
 * `setGradMode(enabled) -> boolean`: enables or disables the recording of gradients on this thread. Returns the
 * previous mode.
 */
Napi::Value SetGradMode(const Napi::CallbackInfo& info);
