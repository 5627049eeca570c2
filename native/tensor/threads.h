/** How many processors operations may use, and what libtorch says of itself. */
#pragma once
#include <napi.h>

/** (count): for what this thread runs. → nothing */
Napi::Value SetThreads(const Napi::CallbackInfo& info);
/** () → for what this thread runs */
Napi::Value GetThreads(const Napi::CallbackInfo& info);
/** () → { torch, file, parallel } */
Napi::Value Versions(const Napi::CallbackInfo& info);
/** (): gives memory that is kept for tensors back to the system. */
Napi::Value GiveBackMemory(const Napi::CallbackInfo& info);
/** (seed): of random numbers in this process. */
Napi::Value Seed(const Napi::CallbackInfo& info);
