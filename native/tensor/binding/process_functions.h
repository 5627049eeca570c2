/** Functions for JavaScript that configure libtorch in this process, and describe it. */
#pragma once
#include <napi.h>

/** `setThreads(count)`: sets the number of threads of operations that this thread calls. */
Napi::Value SetThreads(const Napi::CallbackInfo& info);
/** `getThreads() -> number`: returns the number of threads of operations that this thread calls. */
Napi::Value GetThreads(const Napi::CallbackInfo& info);
/** `versions() -> { torch, file, gloo, parallel }` */
Napi::Value Versions(const Napi::CallbackInfo& info);
/** `emptyCache()`: returns the memory that is kept for later tensors to the system. */
Napi::Value EmptyMemoryCache(const Napi::CallbackInfo& info);
/** `seed(seed)`: seeds the random numbers of this process. */
Napi::Value SeedRandom(const Napi::CallbackInfo& info);
