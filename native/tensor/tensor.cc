#include "tensor.h"

#include <utility>

#include "allocator.h"
#include "arguments.h"
#include "dtype.h"

namespace {

/** V8 is told of memory that an object holds, so that it collects garbage in time. Memory of several boxes is counted once. */
void Count(Napi::Env env, Environment& environment, Box& box) {
  if (!box.tensor.has_storage() || !box.tensor.device().is_cpu()) return;
  box.storage = box.tensor.storage().unsafeGetStorageImpl();
  auto& counted = environment.storages[box.storage];
  if (counted.boxes++ > 0) return;
  counted.bytes = static_cast<int64_t>(box.tensor.storage().nbytes());
  environment.counted += counted.bytes;
  Napi::MemoryManagement::AdjustExternalMemory(env, counted.bytes);
}

void Empty(napi_env env, Environment& environment, Box& box) {
  if (box.storage != nullptr) {
    const auto found = environment.storages.find(box.storage);
    if (found != environment.storages.end() && --found->second.boxes == 0) {
      environment.counted -= found->second.bytes;
      int64_t now = 0;
      napi_adjust_external_memory(env, -found->second.bytes, &now);
      environment.storages.erase(found);
    }
    box.storage = nullptr;
  }
  box.tensor.reset();
}

void Collected(napi_env env, void* data, void*) {
  auto box = static_cast<Box*>(data);
  void* instance = nullptr;
  // At the end of an environment its data can be gone before its objects.
  if (napi_get_instance_data(env, &instance) == napi_ok && instance != nullptr) {
    auto& environment = *static_cast<Environment*>(instance);
    Empty(env, environment, *box);
    environment.boxes.erase(box);
  }
  delete box;
}

Napi::Array Numbers(Napi::Env env, c10::IntArrayRef values) {
  auto array = Napi::Array::New(env, values.size());
  for (uint32_t i = 0; i < values.size(); i++) array.Set(i, Napi::Number::New(env, static_cast<double>(values[i])));
  return array;
}

/** @param tensor may be not defined */
Napi::Value Boxed(Napi::Env env, at::Tensor tensor) {
  auto& environment = Environment::Of(env);
  if (environment.tensorClass.IsEmpty()) throw Napi::Error::New(env, "cannot make a tensor: begin was not called");
  napi_value made = nullptr;
  if (napi_new_instance(env, environment.tensorClass.Value(), 0, nullptr, &made) != napi_ok) throw Ending{};
  const Napi::Object object(env, made);
  auto box = new Box{std::move(tensor)};
  if (napi_wrap(env, object, box, Collected, nullptr, nullptr) != napi_ok) {
    delete box;
    throw Napi::Error::New(env, "cannot make a tensor: the object is taken");
  }
  environment.boxes.insert(box);
  if (box->tensor.defined()) Count(env, environment, *box);
  return object;
}

}  // namespace

Napi::Value NewTensor(Napi::Env env, at::Tensor tensor) {
  if (!tensor.defined()) return env.Null();
  return Boxed(env, std::move(tensor));
}

Box* BoxOf(Napi::Env env, napi_value value) {
  void* data = nullptr;
  napi_valuetype type = napi_undefined;
  if (napi_typeof(env, value, &type) != napi_ok || type != napi_object) return nullptr;
  if (napi_unwrap(env, value, &data) != napi_ok) return nullptr;
  // Objects of other addons are wrapped as well.
  return Environment::Of(env).boxes.count(data) > 0 ? static_cast<Box*>(data) : nullptr;
}

Napi::Error Disposed(Napi::Env env) {
  return Napi::Error::New(env, "cannot use a tensor that has been disposed of");
}

const at::Tensor& TensorOf(const Napi::CallbackInfo& info, size_t index, const char* name) {
  Box* box = BoxOf(info.Env(), info[index]);
  if (box == nullptr) throw Wrong(info, name, "a tensor");
  if (!box->tensor.defined()) throw Disposed(info.Env());
  return box->tensor;
}

std::vector<at::Tensor> TensorsOf(const Napi::CallbackInfo& info, size_t index, const char* name) {
  if (!info[index].IsArray()) throw Wrong(info, name, "an array of tensors");
  auto array = info[index].As<Napi::Array>();
  std::vector<at::Tensor> tensors;
  for (uint32_t i = 0; i < array.Length(); i++) {
    Box* box = BoxOf(info.Env(), static_cast<Napi::Value>(array[i]));
    if (box == nullptr) throw Wrong(info, name, "an array of tensors");
    if (!box->tensor.defined()) throw Disposed(info.Env());
    tensors.push_back(box->tensor);
  }
  return tensors;
}

Napi::Value BeginTensors(const Napi::CallbackInfo& info) {
  auto& environment = Environment::Of(info.Env());
  if (!info[0].IsFunction()) throw Wrong(info, "class", "a class");
  if (!info[1].IsFunction()) throw Wrong(info, "site", "a function");
  environment.tensorClass = Napi::Persistent(info[0].As<Napi::Function>());
  environment.site = Napi::Persistent(info[1].As<Napi::Function>());
  return info.Env().Undefined();
}

Napi::Value AddSite(const Napi::CallbackInfo& info) {
  auto& sites = Environment::Of(info.Env()).sites;
  sites.push_back(TextOf(info, 0, "site"));
  return Napi::Number::New(info.Env(), static_cast<double>(sites.size() - 1));
}

Napi::Value EmptyTensor(const Napi::CallbackInfo& info) {
  return Boxed(info.Env(), at::Tensor());
}

Napi::Value MoveTensor(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  auto& environment = Environment::Of(env);
  at::Tensor tensor = TensorOf(info, 0, "from");
  Box* to = BoxOf(env, info[1]);
  if (to == nullptr || to->tensor.defined()) throw Wrong(info, "to", "a tensor that is disposed of");
  Empty(env, environment, *BoxOf(env, info[0]));
  to->tensor = std::move(tensor);
  Count(env, environment, *to);
  return env.Undefined();
}

Napi::Value Dispose(const Napi::CallbackInfo& info) {
  Box* box = BoxOf(info.Env(), info[0]);
  if (box == nullptr) throw Wrong(info, "tensor", "a tensor");
  Empty(info.Env(), Environment::Of(info.Env()), *box);
  return info.Env().Undefined();
}

Napi::Value IsDisposed(const Napi::CallbackInfo& info) {
  Box* box = BoxOf(info.Env(), info[0]);
  if (box == nullptr) throw Wrong(info, "tensor", "a tensor");
  return Napi::Boolean::New(info.Env(), !box->tensor.defined());
}

Napi::Value Shape(const Napi::CallbackInfo& info) {
  return Numbers(info.Env(), TensorOf(info, 0, "tensor").sizes());
}

Napi::Value Strides(const Napi::CallbackInfo& info) {
  return Numbers(info.Env(), TensorOf(info, 0, "tensor").strides());
}

Napi::Value Dtype(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), DtypeName(TensorOf(info, 0, "tensor").scalar_type()));
}

Napi::Value Stats(const Napi::CallbackInfo& info) {
  auto& environment = Environment::Of(info.Env());
  const AllocatorCounts counts = CountAllocations();
  auto stats = Napi::Object::New(info.Env());
  const auto set = [&](const char* name, double value) { stats.Set(name, Napi::Number::New(info.Env(), value)); };
  set("live", static_cast<double>(counts.live));
  set("peak", static_cast<double>(counts.peak));
  set("cached", static_cast<double>(counts.cached));
  set("tensors", static_cast<double>(environment.boxes.size()));
  set("counted", static_cast<double>(environment.counted));
  return stats;
}
