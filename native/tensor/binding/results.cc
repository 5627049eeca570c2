/** Converts results of operations to values of JavaScript, and describes values in messages. */
#include "binding/convert.h"
#include "binding/tensor.h"

namespace {

Napi::Value ScalarOf(Napi::Env env, const at::Scalar& scalar) {
  if (scalar.isBoolean()) return Napi::Boolean::New(env, scalar.toBool());
  if (scalar.isIntegral(false)) {
    const int64_t integer = scalar.toLong();
    if (integer > -(int64_t{1} << 53) && integer < (int64_t{1} << 53))
      return Napi::Number::New(env, static_cast<double>(integer));
    return Napi::BigInt::New(env, integer);
  }
  if (scalar.isFloatingPoint()) return Napi::Number::New(env, scalar.toDouble());
  throw std::runtime_error("complex numbers cannot be converted to JavaScript: use data()");
}

}  // namespace

Napi::Value ResultOf(Napi::Env env, const c10::IValue& value) {
  if (value.isTensor()) return NewTensor(env, value.toTensor());
  if (value.isScalar()) return ScalarOf(env, value.toScalar());
  if (value.isBool()) return Napi::Boolean::New(env, value.toBool());
  if (value.isNone()) return env.Null();
  if (value.isString()) return Napi::String::New(env, value.toStringRef());
  if (value.isList()) {
    const auto list = value.toList();
    auto array = Napi::Array::New(env, list.size());
    for (uint32_t i = 0; i < list.size(); i++) array.Set(i, ResultOf(env, list.get(i)));
    return array;
  }
  throw std::runtime_error("a result of type " + value.tagKind() + " cannot be converted to JavaScript");
}

Napi::Value ResultsOf(Napi::Env env, const torch::jit::Stack& results) {
  if (results.empty()) return env.Undefined();
  if (results.size() == 1) return ResultOf(env, results[0]);
  auto array = Napi::Array::New(env, results.size());
  for (uint32_t i = 0; i < results.size(); i++) array.Set(i, ResultOf(env, results[i]));
  return array;
}

std::string Describe(Napi::Env env, napi_value value) {
  const Napi::Value given(env, value);
  if (given.IsUndefined()) return "nothing";
  if (given.IsNull()) return "null";
  if (given.IsString()) {
    std::string text = given.As<Napi::String>().Utf8Value();
    if (text.size() > 40) text = text.substr(0, 40) + "…";
    return "\"" + text + "\"";
  }
  if (given.IsNumber() || given.IsBigInt() || given.IsBoolean()) return given.ToString().Utf8Value();
  if (given.IsFunction()) return "a function";
  if (given.IsArray()) {
    auto array = given.As<Napi::Array>();
    std::string text = "[";
    for (uint32_t i = 0; i < array.Length() && i < 8; i++) {
      const Napi::Value entry = array[i];
      text += (i > 0 ? ", " : "") + (entry.IsArray() ? std::string("[…]") : Describe(env, entry));
    }
    return text + (array.Length() > 8 ? ", …]" : "]");
  }
  if (BoxOf(env, value) != nullptr || IsDisposedTensor(env, value)) return "a tensor";
  return given.IsSymbol() ? "a symbol" : "an object";
}
