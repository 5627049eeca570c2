/**
 * Reads the arguments of calls from JavaScript. The caller is Viceroy's runtime, never a user, so an invalid argument
 * is a bug in Viceroy. Each function checks its argument and throws a TypeError that names it.
 */
#pragma once
#include <napi.h>

#include <cstdint>
#include <string>

struct Bytes {
  uint8_t* data;
  size_t length;
};

/** Returns the memory of a typed array, which may be a view of a SharedArrayBuffer. */
Bytes BytesOf(const Napi::CallbackInfo& info, size_t index, const char* name);
/** Returns a number of bytes, an offset or a descriptor: an integer from 0 to 2^53 - 1. */
uint64_t CountOf(const Napi::CallbackInfo& info, size_t index, const char* name);
/** Returns an address, which JavaScript passes as a bigint of 64 bits. */
uint64_t AddressOf(const Napi::CallbackInfo& info, size_t index, const char* name);
std::string TextOf(const Napi::CallbackInfo& info, size_t index, const char* name);

/** Returns an Error with the text "cannot <what>: <why>" and the system's error number in `errno`. */
Napi::Error SystemError(Napi::Env env, const std::string& what, int number);
