#include "binding/gradient_functions.h"

#include "binding/arguments.h"
#include "binding/tensor.h"
#include "recorder/recorded_tensor.h"
#include "recorder/recorder.h"

namespace {

std::vector<at::Tensor> GradientsOf(const Napi::CallbackInfo& info, size_t index) {
  if (info[index].IsNull() || info[index].IsUndefined()) return {};
  return TensorsOf(info, index, "gradients");
}

bool Flag(const Napi::CallbackInfo& info, size_t index) {
  return info[index].ToBoolean();
}

/**
 * Runs libtorch's autograd engine. Operations of the engine on recorded tensors are recorded, on whichever thread they
 * run.
 */
template <class Run>
Napi::Value WithEngine(const Napi::CallbackInfo& info, const std::vector<at::Tensor>& outputs, const Run& run) {
  const Napi::Env env = info.Env();
  return Guarded(env, "compute gradients", [&]() -> Napi::Value {
    if (outputs.empty()) throw std::runtime_error("there are no outputs");
    const RecordedTensor* recorded = RecordedOf(outputs.front());
    if (recorded == nullptr) return run();
    auto& environment = Environment::Of(env);
    const auto& recorder = recorded->recorder();
    const RecordingScope recording(recorder, environment.sites, environment.BeginRecording(env, *recorder));
    const EngineRecordingScope everywhere(recorder);
    for (const at::Tensor& output : outputs) Recorder::NoteUse(output, false);
    return run();
  });
}

}  // namespace

Napi::Value RequiresGrad(const Napi::CallbackInfo& info) {
  const at::Tensor& tensor = TensorOf(info, 0, "tensor");
  Recorder::NoteUse(tensor, false);
  return Napi::Boolean::New(info.Env(), tensor.requires_grad());
}

Napi::Value SetRequiresGrad(const Napi::CallbackInfo& info) {
  const at::Tensor& tensor = TensorOf(info, 0, "tensor");
  return Guarded(info.Env(), "require gradients", [&] {
    Recorder::NoteUse(tensor, false);
    tensor.set_requires_grad(Flag(info, 1));
    return info.Env().Undefined();
  });
}

Napi::Value GradOf(const Napi::CallbackInfo& info) {
  const at::Tensor& tensor = TensorOf(info, 0, "tensor");
  return Guarded(info.Env(), "read a gradient", [&] {
    Recorder::NoteUse(tensor, true);
    return NewTensor(info.Env(), tensor.grad());
  });
}

Napi::Value SetGrad(const Napi::CallbackInfo& info) {
  const at::Tensor& tensor = TensorOf(info, 0, "tensor");
  const at::Tensor gradient = info[1].IsNull() ? at::Tensor() : TensorOf(info, 1, "gradient");
  return Guarded(info.Env(), "set a gradient", [&] {
    Recorder::NoteUse(tensor, true);
    TORCH_CHECK(
        !gradient.defined() || (gradient.sizes() == tensor.sizes() && gradient.options().type_equal(tensor.options())),
        "it must have the shape, dtype and mesh of its tensor");
    tensor.mutable_grad() = gradient;
    return info.Env().Undefined();
  });
}

Napi::Value Backward(const Napi::CallbackInfo& info) {
  const auto outputs = TensorsOf(info, 0, "outputs");
  const auto gradients = GradientsOf(info, 1);
  return WithEngine(info, outputs, [&]() -> Napi::Value {
    torch::autograd::backward(outputs, gradients, Flag(info, 2), Flag(info, 3));
    return info.Env().Undefined();
  });
}

Napi::Value Grad(const Napi::CallbackInfo& info) {
  const auto outputs = TensorsOf(info, 0, "outputs");
  const auto inputs = TensorsOf(info, 1, "inputs");
  const auto gradients = GradientsOf(info, 2);
  return WithEngine(info, outputs, [&]() -> Napi::Value {
    const auto results = torch::autograd::grad(outputs, inputs, gradients, Flag(info, 3), Flag(info, 4), true);
    auto array = Napi::Array::New(info.Env(), results.size());
    for (uint32_t i = 0; i < results.size(); i++) array.Set(i, NewTensor(info.Env(), results[i]));
    return array;
  });
}

Napi::Value SetGradMode(const Napi::CallbackInfo& info) {
  const bool before = c10::GradMode::is_enabled();
  c10::GradMode::set_enabled(Flag(info, 0));
  return Napi::Boolean::New(info.Env(), before);
}
