/**
 * RDMA devices for JavaScript, as runtime/native/verbs-addon.ts declares them. Calls that enter the kernel run in the
 * thread pool and return a promise of a number: 0 or a positive result, or a negative errno. The promises never reject.
 */
#pragma once
#include <napi.h>

/** `verbsMissing() -> string | undefined`: returns the reason why libibverbs cannot be used, or undefined if it can. */
Napi::Value VerbsMissing(const Napi::CallbackInfo& info);
/** Defines the class `VerbsDevice`: `new VerbsDevice(name, port, gidIndex)`. */
Napi::Function DefineVerbsDevice(Napi::Env env);
