#include "binding/process_functions.h"

#include "binding/arguments.h"
#include "libtorch/allocator.h"
#include "libtorch/device.h"
#include "libtorch/random.h"
#include "libtorch/torch.h"

Napi::Value SetThreads(const Napi::CallbackInfo& info) {
  const uint64_t count = CountOf(info, 0, "count");
  if (count < 1 || count > 4096) throw InvalidArgument(info, "count", "an integer from 1 to 4096");
  at::set_num_threads(static_cast<int>(count));
  return info.Env().Undefined();
}

Napi::Value GetThreads(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), at::get_num_threads());
}

Napi::Value Versions(const Napi::CallbackInfo& info) {
  auto versions = Napi::Object::New(info.Env());
  versions.Set("torch", Napi::String::New(info.Env(), TORCH_VERSION));
  versions.Set("file", Napi::String::New(info.Env(), LibtorchFile()));
#ifdef VICEROY_GLOO
  versions.Set("gloo", Napi::Boolean::New(info.Env(), true));
#else
  versions.Set("gloo", Napi::Boolean::New(info.Env(), false));
#endif
  versions.Set("parallel", Napi::String::New(info.Env(), at::get_parallel_info()));
  return versions;
}

Napi::Value EmptyMemoryCache(const Napi::CallbackInfo& info) {
  EmptyCache();
  return info.Env().Undefined();
}

Napi::Value SeedRandom(const Napi::CallbackInfo& info) {
  const uint64_t seed = CountOf(info, 0, "seed");
  SeedProcess(seed, c10::Device(c10::DeviceType::CPU));
  return info.Env().Undefined();
}
