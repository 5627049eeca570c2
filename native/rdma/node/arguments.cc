#include "node/arguments.h"

#include <cstring>

namespace {

Napi::TypeError Wrong(const Napi::CallbackInfo& info, const char* name, const char* expected) {
  return Napi::TypeError::New(info.Env(), std::string("invalid ") + name + ": expected " + expected);
}

size_t ItemBytes(napi_typedarray_type type) {
  switch (type) {
    case napi_int16_array:
    case napi_uint16_array:
      return 2;
    case napi_int32_array:
    case napi_uint32_array:
    case napi_float32_array:
      return 4;
    case napi_float64_array:
    case napi_bigint64_array:
    case napi_biguint64_array:
      return 8;
    default:
      return 1;
  }
}

}  // namespace

Bytes BytesOf(const Napi::CallbackInfo& info, size_t index, const char* name) {
  // A single call, which fails if the argument is not a typed array: short transfers take less than a microsecond.
  napi_typedarray_type type;
  size_t length = 0;
  void* data = nullptr;
  if (napi_get_typedarray_info(info.Env(), info[index], &type, &length, &data, nullptr, nullptr) != napi_ok) {
    throw Wrong(info, name, "a typed array");
  }
  return {static_cast<uint8_t*>(data), length * ItemBytes(type)};
}

uint64_t CountOf(const Napi::CallbackInfo& info, size_t index, const char* name) {
  const double limit = 9007199254740992.0;
  double value = info[index].IsNumber() ? info[index].As<Napi::Number>().DoubleValue() : -1;
  if (!(value >= 0 && value < limit) || value != static_cast<double>(static_cast<uint64_t>(value))) {
    throw Wrong(info, name, "an integer from 0 to 2^53 - 1");
  }
  return static_cast<uint64_t>(value);
}

uint64_t AddressOf(const Napi::CallbackInfo& info, size_t index, const char* name) {
  if (!info[index].IsBigInt()) throw Wrong(info, name, "a bigint");
  bool lossless = false;
  uint64_t value = info[index].As<Napi::BigInt>().Uint64Value(&lossless);
  if (!lossless) throw Wrong(info, name, "an address of 64 bits");
  return value;
}

std::string TextOf(const Napi::CallbackInfo& info, size_t index, const char* name) {
  if (!info[index].IsString()) throw Wrong(info, name, "a string");
  return info[index].As<Napi::String>().Utf8Value();
}

Napi::Error SystemError(Napi::Env env, const std::string& what, int number) {
  // The GNU form of strerror_r is thread-safe, and may return text that is not in the buffer.
  char buffer[128];
  const char* why = strerror_r(number, buffer, sizeof buffer);
  Napi::Error error = Napi::Error::New(env, "cannot " + what + ": " + why);
  error.Set("errno", Napi::Number::New(env, number));
  return error;
}
