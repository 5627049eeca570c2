#include "binding/call.h"

#include <algorithm>

#include "binding/arguments.h"
#include "binding/convert.h"
#include "binding/suggestions.h"
#include "binding/tensor.h"
#include "recorder/recorded_tensor.h"
#include "recorder/recorder.h"

namespace {

/** The arguments of a call from JavaScript. */
struct PassedArguments {
  Napi::Env env;
  c10::SmallVector<Passed, 6> positional;
  /** The named arguments, or empty if the call has none. */
  Napi::Object options;
  std::vector<std::string> names;
};

/** The reason why an overload does not match the arguments. */
struct Mismatch {
  /** The number of arguments that match. */
  size_t matched = 0;
  /** Whether the caller needs the reason. Formatting the reason takes longer than trying the next overload. */
  bool wants_reason = false;
  std::string reason;
};

std::string NameWithoutNamespace(const Op& op) {
  return op.name.substr(op.name.find("::") + 2);
}

/**
 * Converts the arguments into the order of the schema.
 * @returns whether they match the overload
 */
bool Bind(const PassedArguments& passed, const Op& op, torch::jit::Stack& stack, Mismatch& mismatch) {
  stack.clear();
  stack.reserve(op.parameters.size());
  size_t used = 0;
  size_t taken = 0;
  const size_t count = passed.positional.size();
  for (const auto& parameter : op.parameters) {
    Passed value;
    if (!parameter.named && taken < count) {
      value = passed.positional[taken++];
    } else if (std::find(passed.names.begin(), passed.names.end(), parameter.name) != passed.names.end()) {
      napi_value named = nullptr;
      napi_get_named_property(passed.env, passed.options, parameter.name.c_str(), &named);
      value = PassedOf(passed.env, named);
      used++;
    }
    if (value.type == napi_undefined) {
      if (!parameter.hasDefault) {
        if (mismatch.wants_reason) mismatch.reason = "argument '" + parameter.name + "' is missing";
        return false;
      }
      stack.push_back(parameter.defaultValue);
      continue;
    }
    std::string expected;
    c10::IValue converted;
    if (!Convert(passed.env, value, parameter, converted, mismatch.wants_reason ? &expected : nullptr)) {
      if (mismatch.wants_reason) {
        mismatch.reason =
            "argument '" + parameter.name + "' must be " + expected + ", got " + Describe(passed.env, value.value);
      }
      return false;
    }
    stack.push_back(std::move(converted));
    mismatch.matched++;
  }
  if (taken < count) {
    if (mismatch.wants_reason) {
      mismatch.reason = "it takes " + std::to_string(taken) + " arguments in order, got " + std::to_string(count);
    }
    return false;
  }
  if (used == passed.names.size()) return true;
  for (const auto& name : passed.names) {
    const bool known = std::any_of(op.parameters.begin(), op.parameters.end(),
                                   [&](const Parameter& parameter) { return parameter.name == name; });
    mismatch.reason = known ? "argument '" + name + "' is given twice" : "it has no argument '" + name + "'";
    if (!known) return false;
  }
  return false;
}

/** Returns the first overload that matches the arguments, or null. */
const Op* Choose(const PassedArguments& passed, const std::vector<const Op*>& overloads, torch::jit::Stack& stack) {
  for (const Op* op : overloads) {
    Mismatch mismatch;
    if (Bind(passed, *op, stack, mismatch)) return op;
  }
  return nullptr;
}

/** Returns the mismatch of the overload that matches the most arguments. */
Mismatch ClosestMismatch(const PassedArguments& passed, const std::vector<const Op*>& overloads) {
  torch::jit::Stack stack;
  Mismatch closest;
  for (const Op* op : overloads) {
    Mismatch mismatch;
    mismatch.wants_reason = true;
    Bind(passed, *op, stack, mismatch);
    if (closest.reason.empty() || mismatch.matched > closest.matched) closest = std::move(mismatch);
  }
  return closest;
}

Napi::TypeError NoOverloadError(Napi::Env env, const std::string& name, const std::vector<const Op*>& overloads,
                                const Mismatch& closest) {
  std::string text = "cannot call " + name.substr(name.find("::") + 2) + ": " + closest.reason;
  if (overloads.size() > 1) {
    text += ". It can be called as";
    for (const Op* op : overloads) text += "\n  " + SchemaText(*op);
  }
  return Napi::TypeError::New(env, text);
}

/**
 * Returns the arguments of a call. Argument `first` contains the named arguments or is undefined; the positional
 * arguments follow it.
 */
PassedArguments PassedBy(const Napi::CallbackInfo& info, size_t first) {
  PassedArguments passed{info.Env(), {}, {}, {}};
  for (size_t i = first + 1; i < info.Length(); i++) passed.positional.push_back(PassedOf(passed.env, info[i]));
  if (!info[first].IsObject()) return passed;
  passed.options = info[first].As<Napi::Object>();
  const Napi::Array names = passed.options.GetPropertyNames();
  for (uint32_t i = 0; i < names.Length(); i++) {
    std::string name = static_cast<Napi::Value>(names[i]).ToString().Utf8Value();
    if (!passed.options.Get(name).IsUndefined()) passed.names.push_back(std::move(name));
  }
  return passed;
}

/**
 * Returns the recorder that records a call, or null if the call runs in this process.
 * @param has_tensors set to true if an argument is or contains a tensor
 * @throws std::runtime_error if the tensors belong to different meshes
 */
std::shared_ptr<Recorder> RecorderOf(Environment& environment, const torch::jit::Stack& stack, bool& has_tensors) {
  std::shared_ptr<Recorder> found;
  for (const auto& value : stack) {
    ForEachTensor(value, [&](const at::Tensor& tensor) {
      has_tensors = true;
      const RecordedTensor* recorded = RecordedOf(tensor);
      if (recorded == nullptr) return;
      if (found && found != recorded->recorder()) throw std::runtime_error("its tensors are of different meshes");
      found = recorded->recorder();
    });
  }
  return has_tensors ? found : environment.recorder;
}

/** A replay of a step does not repeat what operations change in this process. */
void NoteLocalCall(const Op& op) {
  Recorder* capturing = Recorder::Capturing();
  if (capturing == nullptr) return;
  if (std::any_of(op.parameters.begin(), op.parameters.end(), [](const Parameter& one) { return one.written; }))
    capturing->RefuseCapture("it changes a tensor of this process");
}

/** Fills missing device arguments with the device of recorded tensors, for operations that create tensors. */
void ChooseDevice(const Op& op, torch::jit::Stack& stack) {
  for (size_t i = 0; i < op.parameters.size(); i++) {
    if (op.parameters[i].kind == Kind::device && stack[i].isNone()) stack[i] = RecordedDevice();
  }
}

}  // namespace

Napi::Value OperationNumber(const Napi::CallbackInfo& info) {
  const std::string name = TextOf(info, 0, "name");
  const size_t number = NumberOf(name);
  if (OperationAt(number)->overloads.empty()) {
    throw Napi::TypeError::New(info.Env(), "cannot call " + name.substr(name.find("::") + 2) + ": libtorch " +
                                               TORCH_VERSION + " has no such operation" + SimilarOperations(name));
  }
  return Napi::Number::New(info.Env(), static_cast<double>(number));
}

Napi::Value Call(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Operation* operation = OperationAt(CountOf(info, 0, "operation"));
  if (operation == nullptr) throw InvalidArgument(info, "operation", "a number from operationNumber");
  const auto& [name, overloads] = *operation;
  const PassedArguments passed = PassedBy(info, 1);
  torch::jit::Stack stack;
  const Op* chosen = Choose(passed, overloads, stack);
  if (chosen == nullptr) throw NoOverloadError(env, name, overloads, ClosestMismatch(passed, overloads));
  const auto verb = [&] { return "run " + NameWithoutNamespace(*chosen); };
  return GuardedAs(env, verb, [&]() -> Napi::Value {
    auto& environment = Environment::Of(env);
    bool has_tensors = false;
    const auto recorder = RecorderOf(environment, stack, has_tensors);
    if (!recorder) {
      NoteLocalCall(*chosen);
      chosen->handle.callBoxed(stack);
      return ResultsOf(env, stack);
    }
    if (!has_tensors) ChooseDevice(*chosen, stack);
    const RecordingScope recording(recorder, environment.sites, environment.BeginRecording(env, *recorder));
    chosen->handle.callBoxed(stack);
    return ResultsOf(env, stack);
  });
}

Napi::Value Overloads(const Napi::CallbackInfo& info) {
  const auto& overloads = OverloadsOf(TextOf(info, 0, "name"));
  auto array = Napi::Array::New(info.Env(), overloads.size());
  for (uint32_t i = 0; i < overloads.size(); i++) array.Set(i, SchemaText(*overloads[i]));
  return array;
}

Napi::Value Missing(const Napi::CallbackInfo& info) {
  if (!info[0].IsArray()) throw InvalidArgument(info, "names", "an array");
  auto names = info[0].As<Napi::Array>();
  auto missing = Napi::Array::New(info.Env());
  for (uint32_t i = 0; i < names.Length(); i++) {
    const Napi::Value name = names[i];
    if (!HasOp(name.ToString().Utf8Value())) missing.Set(missing.Length(), name);
  }
  return missing;
}

Napi::Value Schemas(const Napi::CallbackInfo& info) {
  const auto schemas = AllSchemas();
  auto array = Napi::Array::New(info.Env(), schemas.size());
  for (uint32_t i = 0; i < schemas.size(); i++) array.Set(i, schemas[i]);
  return array;
}
