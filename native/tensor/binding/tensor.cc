#include "binding/tensor.h"

#include <utility>

#include "binding/arguments.h"
#include "libtorch/allocator.h"
#include "libtorch/dtype.h"

namespace {

/**
 * Tells V8 how much memory the objects hold, so that it collects garbage in time. Changes below 64 KiB are not
 * reported, because small tensors come and go often.
 */
void ReportMemory(napi_env env, Environment& environment) {
  constexpr int64_t step = 64 << 10;
  const int64_t change = environment.counted - environment.reported;
  if (change > -step && change < step) return;
  environment.reported = environment.counted;
  int64_t now = 0;
  napi_adjust_external_memory(env, change, &now);
}

/** Counts the storage of a box. A storage that several boxes share is counted once. */
void CountStorage(napi_env env, Environment& environment, Box& box) {
  if (!box.tensor.has_storage() || !box.tensor.device().is_cpu()) return;
  box.storage = box.tensor.storage().unsafeGetStorageImpl();
  auto& counted = environment.storages[box.storage];
  if (counted.boxes++ > 0) return;
  counted.bytes = static_cast<int64_t>(box.tensor.storage().nbytes());
  environment.counted += counted.bytes;
  ReportMemory(env, environment);
}

/** Removes a box from the counts and deletes it. */
void ReleaseBox(napi_env env, Environment& environment, Box* box) {
  if (box->storage != nullptr) {
    const auto found = environment.storages.find(box->storage);
    if (found != environment.storages.end() && --found->second.boxes == 0) {
      environment.counted -= found->second.bytes;
      environment.storages.erase(found);
      ReportMemory(env, environment);
    }
  }
  environment.boxes.erase(box);
  delete box;
}

void Collected(napi_env env, void* data, void*) {
  auto box = static_cast<Box*>(data);
  void* instance = nullptr;
  // When an environment ends, its data can be deleted before its objects.
  if (napi_get_instance_data(env, &instance) == napi_ok && instance != nullptr) {
    ReleaseBox(env, *static_cast<Environment*>(instance), box);
  } else {
    delete box;
  }
}

Napi::Array NumberArray(Napi::Env env, c10::IntArrayRef values) {
  auto array = Napi::Array::New(env, values.size());
  for (uint32_t i = 0; i < values.size(); i++) array.Set(i, Napi::Number::New(env, static_cast<double>(values[i])));
  return array;
}

/** Creates an instance of the class of tensors without a box, which counts as disposed of. */
Napi::Object Instance(Napi::Env env, Environment& environment) {
  if (environment.tensorClass.IsEmpty()) throw Napi::Error::New(env, "cannot make a tensor: initialize was not called");
  napi_value made = nullptr;
  if (napi_new_instance(env, environment.tensorClass.Value(), 0, nullptr, &made) != napi_ok) throw Ending{};
  return {env, made};
}

void Wrap(Napi::Env env, Environment& environment, napi_value object, at::Tensor tensor) {
  auto box = new Box{std::move(tensor)};
  if (napi_wrap(env, object, box, Collected, nullptr, nullptr) != napi_ok) {
    delete box;
    throw Napi::Error::New(env, "cannot make a tensor: the object wraps something else");
  }
  environment.boxes.insert(box);
  CountStorage(env, environment, *box);
}

/**
 * Removes the box from an object. The garbage collector then has nothing left to do for the object, which saves half of
 * the costs of a small tensor.
 */
at::Tensor Unwrap(Napi::Env env, Environment& environment, napi_value object) {
  void* data = nullptr;
  if (napi_remove_wrap(env, object, &data) != napi_ok) throw Ending{};
  auto box = static_cast<Box*>(data);
  at::Tensor tensor = std::move(box->tensor);
  ReleaseBox(env, environment, box);
  return tensor;
}

/** Returns whether a value is an instance of the class of tensors, also if the tensor has been disposed of. */
bool IsInstance(Napi::Env env, napi_value value) {
  bool is = false;
  const auto& tensors = Environment::Of(env).tensorClass;
  return !tensors.IsEmpty() && napi_instanceof(env, value, tensors.Value(), &is) == napi_ok && is;
}

Napi::Error NoTensorError(const Napi::CallbackInfo& info, napi_value value, const char* name, const char* expected) {
  if (!IsInstance(info.Env(), value)) return InvalidArgument(info, name, expected);
  return Napi::Error::New(info.Env(), "cannot use a tensor that has been disposed of");
}

}  // namespace

Napi::Value NewTensor(Napi::Env env, at::Tensor tensor) {
  if (!tensor.defined()) return env.Null();
  auto& environment = Environment::Of(env);
  const Napi::Object object = Instance(env, environment);
  Wrap(env, environment, object, std::move(tensor));
  return object;
}

Box* BoxOf(Napi::Env env, napi_value value) {
  void* data = nullptr;
  napi_valuetype type = napi_undefined;
  if (napi_typeof(env, value, &type) != napi_ok || type != napi_object) return nullptr;
  if (napi_unwrap(env, value, &data) != napi_ok) return nullptr;
  // Objects of other addons are wrapped, too.
  return Environment::Of(env).boxes.count(data) > 0 ? static_cast<Box*>(data) : nullptr;
}

bool IsDisposedTensor(Napi::Env env, napi_value value) {
  return BoxOf(env, value) == nullptr && IsInstance(env, value);
}

const at::Tensor& TensorOf(const Napi::CallbackInfo& info, size_t index, const char* name) {
  const Box* box = BoxOf(info.Env(), info[index]);
  if (box == nullptr) throw NoTensorError(info, info[index], name, "a tensor");
  return box->tensor;
}

std::vector<at::Tensor> TensorsOf(const Napi::CallbackInfo& info, size_t index, const char* name) {
  if (!info[index].IsArray()) throw InvalidArgument(info, name, "an array of tensors");
  auto array = info[index].As<Napi::Array>();
  std::vector<at::Tensor> tensors;
  for (uint32_t i = 0; i < array.Length(); i++) {
    const Napi::Value value = array[i];
    const Box* box = BoxOf(info.Env(), value);
    if (box == nullptr) throw NoTensorError(info, value, name, "an array of tensors");
    tensors.push_back(box->tensor);
  }
  return tensors;
}

Napi::Value Initialize(const Napi::CallbackInfo& info) {
  auto& environment = Environment::Of(info.Env());
  if (!info[0].IsFunction()) throw InvalidArgument(info, "class", "a class");
  if (!info[1].IsFunction()) throw InvalidArgument(info, "site", "a function");
  if (!info[2].IsFunction()) throw InvalidArgument(info, "noteRecorded", "a function");
  environment.tensorClass = Napi::Persistent(info[0].As<Napi::Function>());
  environment.site = Napi::Persistent(info[1].As<Napi::Function>());
  environment.noteRecorded = Napi::Persistent(info[2].As<Napi::Function>());
  if (info[3].IsUndefined()) return info.Env().Undefined();
  if (!info[3].IsExternal()) throw InvalidArgument(info, "sampler", "the sampler of the addon `stack`");
  if (!info[4].IsFunction()) throw InvalidArgument(info, "locateSite", "a function");
  const auto sampler = info[3].As<Napi::External<const StackSampler>>().Data();
  // A stack addon that was built with other sources has another structure.
  if (sampler->layout != kStackSamplerLayout) return info.Env().Undefined();
  environment.callSites.Use(sampler);
  environment.locateSite = Napi::Persistent(info[4].As<Napi::Function>());
  return info.Env().Undefined();
}

Napi::Value AddSite(const Napi::CallbackInfo& info) {
  auto& sites = Environment::Of(info.Env()).sites;
  sites.push_back(TextOf(info, 0, "site"));
  return Napi::Number::New(info.Env(), static_cast<double>(sites.size() - 1));
}

Napi::Value EmptyTensor(const Napi::CallbackInfo& info) {
  return Instance(info.Env(), Environment::Of(info.Env()));
}

Napi::Value MoveTensor(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  auto& environment = Environment::Of(env);
  TensorOf(info, 0, "from");
  if (!IsDisposedTensor(env, info[1])) throw InvalidArgument(info, "to", "a tensor that is disposed of");
  Wrap(env, environment, info[1], Unwrap(env, environment, info[0]));
  return env.Undefined();
}

Napi::Value Dispose(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (BoxOf(env, info[0]) != nullptr) {
    Unwrap(env, Environment::Of(env), info[0]);
  } else if (!IsInstance(env, info[0])) {
    throw InvalidArgument(info, "tensor", "a tensor");
  }
  return env.Undefined();
}

Napi::Value IsDisposed(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (BoxOf(env, info[0]) != nullptr) return Napi::Boolean::New(env, false);
  if (!IsInstance(env, info[0])) throw InvalidArgument(info, "tensor", "a tensor");
  return Napi::Boolean::New(env, true);
}

Napi::Value Shape(const Napi::CallbackInfo& info) {
  return NumberArray(info.Env(), TensorOf(info, 0, "tensor").sizes());
}

Napi::Value Strides(const Napi::CallbackInfo& info) {
  return NumberArray(info.Env(), TensorOf(info, 0, "tensor").strides());
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
