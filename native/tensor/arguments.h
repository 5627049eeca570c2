/**
 * Reading the arguments of a call that the runtime makes. What is wrong is a mistake of ours: it throws a TypeError that names the
 * argument, and never trusts it. Arguments of operations come from users: convert.h.
 */
#pragma once
#include <napi.h>

#include <cstdint>
#include <functional>
#include <string>

#include "environment.h"

struct Bytes {
  uint8_t* data;
  size_t length;
};

Napi::TypeError Wrong(const Napi::CallbackInfo& info, const char* name, const std::string& expected);
/** The memory of a typed array, also of one over a SharedArrayBuffer. */
Bytes BytesOf(const Napi::CallbackInfo& info, size_t index, const char* name);
/** An integer from 0 to 2^53 - 1. */
uint64_t CountOf(const Napi::CallbackInfo& info, size_t index, const char* name);
std::string TextOf(const Napi::CallbackInfo& info, size_t index, const char* name);

/** What libtorch says is wrong, without where in its code. */
std::string WhatOf(const std::exception& error);
/** `cannot <verb>: <what>`; where the verb ends with an operation that the text begins with, as some of libtorch's do, it is named once. */
std::string Cannot(const std::string& verb, const std::string& what);
/** What libtorch throws becomes an Error of JavaScript: `cannot <verb>: <why>`. Nothing is answered to an environment that is being ended. */
Napi::Value Guarded(Napi::Env env, const std::string& verb, const std::function<Napi::Value()>& call);

/** The same for what is called often: `verb()` is asked for only where something is wrong. */
template <class Verb, class Run>
Napi::Value GuardedAs(Napi::Env env, const Verb& verb, const Run& run) {
  try {
    return run();
  } catch (const Napi::Error&) {
    throw;
  } catch (const Ending&) {
    return {};
  } catch (const std::exception& error) {
    throw Napi::Error::New(env, Cannot(verb(), WhatOf(error)));
  }
}
