#include "binding/step_functions.h"

#include "binding/arguments.h"
#include "binding/recorder_functions.h"
#include "binding/tensor.h"
#include "recorder/recorded_tensor.h"
#include "recorder/recorder.h"
#include "recorder/step_program.h"

namespace {

const napi_type_tag kStepProgram = {0x76696365726f7931, 0x73746570732d3121};

StepProgram& ProgramArgument(const Napi::CallbackInfo& info) {
  bool is = false;
  void* data = nullptr;
  if (!info[0].IsObject() || napi_check_object_type_tag(info.Env(), info[0], &kStepProgram, &is) != napi_ok || !is ||
      napi_unwrap(info.Env(), info[0], &data) != napi_ok) {
    throw InvalidArgument(info, "program", "a program of a step");
  }
  return *static_cast<StepProgram*>(data);
}

}  // namespace

Napi::Value NewStepProgram(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto& recorder = RecorderArgument(info, 0);
  const auto arguments = TensorsOf(info, 1, "arguments");
  return Guarded(env, "record a step", [&]() -> Napi::Value {
    auto object = Napi::Object::New(env);
    auto program = new StepProgram(recorder, arguments);
    const auto end = [](napi_env, void* data, void*) { delete static_cast<StepProgram*>(data); };
    napi_wrap(env, object, program, end, nullptr, nullptr);
    napi_type_tag_object(env, object, &kStepProgram);
    return object;
  });
}

Napi::Value MatchesStep(const Napi::CallbackInfo& info) {
  const auto& program = ProgramArgument(info);
  const auto arguments = TensorsOf(info, 1, "arguments");
  return Guarded(info.Env(), "replay a step",
                 [&] { return Napi::Boolean::New(info.Env(), program.Matches(arguments)); });
}

Napi::Value BeginCapture(const Napi::CallbackInfo& info) {
  auto& program = ProgramArgument(info);
  const auto arguments = TensorsOf(info, 1, "arguments");
  return Guarded(info.Env(), "record a step", [&] {
    program.BeginCapture(arguments);
    return info.Env().Undefined();
  });
}

Napi::Value EndCapture(const Napi::CallbackInfo& info) {
  auto& program = ProgramArgument(info);
  const auto results = TensorsOf(info, 1, "results");
  const size_t numbers = CountOf(info, 2, "numbers");
  const std::string refusal = TextOf(info, 3, "refusal");
  return Guarded(info.Env(), "record a step", [&]() -> Napi::Value {
    const auto [compared, why] = program.EndCapture(results, numbers, refusal);
    auto comparison = Napi::Object::New(info.Env());
    comparison.Set("compared", Napi::Boolean::New(info.Env(), compared));
    comparison.Set("why", Napi::String::New(info.Env(), why));
    return comparison;
  });
}

Napi::Value CancelCapture(const Napi::CallbackInfo& info) {
  ProgramArgument(info).CancelCapture();
  return info.Env().Undefined();
}

Napi::Value DetachResult(const Napi::CallbackInfo& info) {
  const at::Tensor& tensor = TensorOf(info, 0, "tensor");
  const size_t site = CountOf(info, 1, "site");
  return Guarded(info.Env(), "return a tensor", [&] {
    const RecordedTensor* recorded = RecordedOf(tensor);
    if (recorded == nullptr) return NewTensor(info.Env(), tensor.detach());
    auto& environment = Environment::Of(info.Env());
    environment.NoteRecording(info.Env(), *recorded->recorder());
    const RecordingScope recording(recorded->recorder(), environment.sites, site);
    return NewTensor(info.Env(), tensor.detach());
  });
}

Napi::Value MarkNumbers(const Napi::CallbackInfo& info) {
  if (Recorder* recorder = Recorder::Capturing()) recorder->MarkNumbers(info[0].ToBoolean());
  return info.Env().Undefined();
}

Napi::Value WhyNotReplayed(const Napi::CallbackInfo& info) {
  const auto& program = ProgramArgument(info);
  const auto arguments = TensorsOf(info, 1, "arguments");
  return Guarded(info.Env(), "replay a step",
                 [&] { return Napi::String::New(info.Env(), program.WhyNotReplayed(arguments)); });
}

Napi::Value ReplayStep(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  auto& program = ProgramArgument(info);
  const auto arguments = TensorsOf(info, 1, "arguments");
  const Bytes bytes = BytesOf(info, 2, "numbers");
  std::vector<double> numbers(bytes.length / sizeof(double));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data, numbers.size() * sizeof(double));
  return Guarded(env, "replay a step", [&]() -> Napi::Value {
    auto results = program.Replay(arguments, numbers);
    auto array = Napi::Array::New(env, results.size());
    for (uint32_t i = 0; i < results.size(); i++) array.Set(i, NewTensor(env, std::move(results[i])));
    return array;
  });
}

Napi::Value ForgetStep(const Napi::CallbackInfo& info) {
  ProgramArgument(info).Forget();
  return info.Env().Undefined();
}
