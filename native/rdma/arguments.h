/**
 * Reading the arguments of a call. The caller is the runtime and not a user, so what is wrong is a mistake of ours: it throws a
 * TypeError that names the argument, and never trusts it.
 */
#pragma once
#include <napi.h>

#include <cstdint>
#include <string>

struct Bytes {
  uint8_t* data;
  size_t length;
};

/** The memory of a typed array, also of one over a SharedArrayBuffer. */
Bytes BytesOf(const Napi::CallbackInfo& info, size_t index, const char* name);
/** A number of bytes, an offset, a descriptor: an integer from 0 to 2^53 - 1. */
uint64_t CountOf(const Napi::CallbackInfo& info, size_t index, const char* name);
/** An address: a bigint of 64 bits. */
uint64_t AddressOf(const Napi::CallbackInfo& info, size_t index, const char* name);
std::string TextOf(const Napi::CallbackInfo& info, size_t index, const char* name);

/** An Error with the code of the system, such as ENOMEM, and a text that says what could not be done. */
Napi::Error SystemError(Napi::Env env, const std::string& what, int number);
