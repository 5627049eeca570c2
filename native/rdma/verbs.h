/**
 * RDMA devices for JavaScript. runtime/rdma/verbs/native.ts declares what is here. Calls that go to the kernel run in the pool and
 * return promises of a number: 0, or what the call gives, above 0; below 0 an errno. They do not reject.
 */
#pragma once
#include <napi.h>

/** `verbsMissing() -> string | undefined`: why libibverbs cannot be used. */
Napi::Value VerbsMissing(const Napi::CallbackInfo& info);
/** The class `VerbsDevice`: `new VerbsDevice(name, port, gidIndex)`. */
Napi::Function DefineVerbsDevice(Napi::Env env);
