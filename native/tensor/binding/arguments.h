/**
 * Reads the arguments of calls from JavaScript. The caller is Viceroy's runtime, so an invalid argument is a bug in
 * Viceroy. Each function checks its argument and throws a TypeError that names it. convert.h reads the arguments of
 * tensor operations, which come from users.
 */
#pragma once
#include <napi.h>

#include <cstdint>
#include <functional>
#include <string>

#include "binding/environment.h"
#include "libtorch/error_text.h"

struct Bytes {
  uint8_t* data;
  size_t length;
};

Napi::TypeError InvalidArgument(const Napi::CallbackInfo& info, const char* name, const std::string& expected);
/** Returns the memory of a typed array, which may be a view of a SharedArrayBuffer. */
Bytes BytesOf(const Napi::CallbackInfo& info, size_t index, const char* name);
/** Returns an integer from 0 to 2^53 - 1. */
uint64_t CountOf(const Napi::CallbackInfo& info, size_t index, const char* name);
std::string TextOf(const Napi::CallbackInfo& info, size_t index, const char* name);

/**
 * Returns `cannot <verb>: <what>`. If the verb ends with the name of an operation and the text begins with that name,
 * as some messages of libtorch do, the name is written once.
 */
std::string CannotText(const std::string& verb, const std::string& what);
/**
 * Calls a function, and converts its C++ exceptions to an Error of JavaScript with the text `cannot <verb>: <why>`.
 * Returns an empty value if the environment is ending.
 */
Napi::Value Guarded(Napi::Env env, const std::string& verb, const std::function<Napi::Value()>& call);

/** Works like `Guarded` with less overhead, for functions that are called often. Calls `verb` only after an error. */
template <class Verb, class Run>
Napi::Value GuardedAs(Napi::Env env, const Verb& verb, const Run& run) {
  try {
    return run();
  } catch (const Napi::Error&) {
    throw;
  } catch (const Ending&) {
    return {};
  } catch (const std::exception& error) {
    throw Napi::Error::New(env, CannotText(verb(), ErrorText(error)));
  }
}
