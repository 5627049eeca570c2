#include "binding/arguments.h"

Napi::TypeError InvalidArgument(const Napi::CallbackInfo& info, const char* name, const std::string& expected) {
  return Napi::TypeError::New(info.Env(), std::string("invalid ") + name + ": expected " + expected);
}

Bytes BytesOf(const Napi::CallbackInfo& info, size_t index, const char* name) {
  if (!info[index].IsTypedArray()) throw InvalidArgument(info, name, "a typed array");
  napi_typedarray_type type;
  size_t length = 0;
  void* data = nullptr;
  if (napi_get_typedarray_info(info.Env(), info[index], &type, &length, &data, nullptr, nullptr) != napi_ok) {
    throw InvalidArgument(info, name, "a typed array");
  }
  auto array = info[index].As<Napi::TypedArray>();
  return {static_cast<uint8_t*>(data), length * array.ElementSize()};
}

uint64_t CountOf(const Napi::CallbackInfo& info, size_t index, const char* name) {
  const double limit = 9007199254740992.0;
  double value = info[index].IsNumber() ? info[index].As<Napi::Number>().DoubleValue() : -1;
  if (!(value >= 0 && value < limit) || value != static_cast<double>(static_cast<uint64_t>(value))) {
    throw InvalidArgument(info, name, "an integer from 0 to 2^53 - 1");
  }
  return static_cast<uint64_t>(value);
}

std::string TextOf(const Napi::CallbackInfo& info, size_t index, const char* name) {
  if (!info[index].IsString()) throw InvalidArgument(info, name, "a string");
  return info[index].As<Napi::String>().Utf8Value();
}

std::string CannotText(const std::string& verb, const std::string& what) {
  const std::string full = verb.substr(verb.rfind(' ') + 1);
  const std::string name = full.substr(0, full.find('.')) + ": ";
  return "cannot " + verb + ": " + (what.rfind(name, 0) == 0 ? what.substr(name.size()) : what);
}

Napi::Value Guarded(Napi::Env env, const std::string& verb, const std::function<Napi::Value()>& call) {
  return GuardedAs(env, [&] { return verb; }, call);
}
