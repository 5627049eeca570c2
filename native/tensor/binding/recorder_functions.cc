#include "binding/recorder_functions.h"

#include "binding/arguments.h"
#include "binding/data.h"
#include "binding/tensor.h"
#include "recorder/kernel.h"
#include "recorder/recorded_tensor.h"
#include "recorder/recorder.h"

namespace {

using RecorderHandle = std::shared_ptr<Recorder>;

const napi_type_tag kRecorder = {0x76696365726f7931, 0x7265636f72646572};

}  // namespace

const std::shared_ptr<Recorder>& RecorderArgument(const Napi::CallbackInfo& info, size_t index) {
  bool is = false;
  void* data = nullptr;
  if (!info[index].IsObject() || napi_check_object_type_tag(info.Env(), info[index], &kRecorder, &is) != napi_ok ||
      !is || napi_unwrap(info.Env(), info[index], &data) != napi_ok) {
    throw InvalidArgument(info, "recorder", "a recorder");
  }
  return *static_cast<RecorderHandle*>(data);
}

Napi::Value NewRecorder(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  return Guarded(env, "record operations", [&]() -> Napi::Value {
    RegisterKernels();
    auto object = Napi::Object::New(env);
    auto handle = new RecorderHandle(std::make_shared<Recorder>());
    const auto end = [](napi_env, void* data, void*) { delete static_cast<RecorderHandle*>(data); };
    napi_wrap(env, object, handle, end, nullptr, nullptr);
    napi_type_tag_object(env, object, &kRecorder);
    return object;
  });
}

Napi::Value UseRecorder(const Napi::CallbackInfo& info) {
  Environment::Of(info.Env()).recorder = info[0].IsNull() ? nullptr : RecorderArgument(info, 0);
  return info.Env().Undefined();
}

Napi::Value TakeCommands(const Napi::CallbackInfo& info) {
  const auto bytes = RecorderArgument(info, 0)->Take();
  return Napi::Buffer<uint8_t>::Copy(info.Env(), bytes.data(), bytes.size());
}

Napi::Value IsFull(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), RecorderArgument(info, 0)->IsFull());
}

Napi::Value SendTensor(const Napi::CallbackInfo& info) {
  const auto& recorder = RecorderArgument(info, 0);
  const at::Tensor& tensor = TensorOf(info, 1, "tensor");
  return Guarded(info.Env(), "send a tensor to a mesh", [&] { return NewTensor(info.Env(), recorder->Send(tensor)); });
}

Napi::Value SeedRanks(const Napi::CallbackInfo& info) {
  const auto& recorder = RecorderArgument(info, 0);
  recorder->Seed(CountOf(info, 1, "seed"), info[2].ToBoolean());
  return info.Env().Undefined();
}

Napi::Value DeclareTensor(const Napi::CallbackInfo& info) {
  const auto& recorder = RecorderArgument(info, 0);
  const c10::ScalarType dtype = DtypeArgument(info, 2);
  const Extent extent = ExtentOf(info, 1, dtype);
  return Guarded(info.Env(), "make a tensor of a mesh",
                 [&] { return NewTensor(info.Env(), recorder->Declare(extent.shape, dtype)); });
}

Napi::Value RecorderNumber(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(RecorderArgument(info, 0)->id()));
}

Napi::Value CloseRecorder(const Napi::CallbackInfo& info) {
  RecorderArgument(info, 0)->Close();
  return info.Env().Undefined();
}

Napi::Value RecordedReferenceOf(const Napi::CallbackInfo& info) {
  const RecordedTensor* recorded = RecordedOf(TensorOf(info, 0, "tensor"));
  if (recorded == nullptr) return info.Env().Null();
  auto place = Napi::Array::New(info.Env(), 2);
  place.Set(0u, Napi::Number::New(info.Env(), static_cast<double>(recorded->recorder()->id())));
  place.Set(1u, Napi::Number::New(info.Env(), static_cast<double>(recorded->reference())));
  return place;
}
