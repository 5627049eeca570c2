#include "call.h"

#include <algorithm>

#include "arguments.h"
#include "convert.h"
#include "near.h"
#include "recorded.h"
#include "recorder.h"
#include "tensor.h"

namespace {

/** What was passed. */
struct Given {
  Napi::Env env;
  c10::SmallVector<Passed, 6> positional;
  /** Empty if there are no options. */
  Napi::Object options;
  std::vector<std::string> names;
};

/** Why an overload is not the one that is meant. */
struct Mismatch {
  /** How many arguments have fitted. */
  size_t fitted = 0;
  /** Whether anybody wants to know why: to say it takes longer than to look at the next overload. */
  bool explained = false;
  std::string why;
};

std::string Named(const Op& op) {
  return op.name.substr(op.name.find("::") + 2);
}

/** The arguments in the order of the schema. @returns whether they fit */
bool Bind(const Given& given, const Op& op, torch::jit::Stack& stack, Mismatch& mismatch) {
  stack.clear();
  stack.reserve(op.parameters.size());
  size_t used = 0;
  size_t taken = 0;
  const size_t count = given.positional.size();
  for (const auto& parameter : op.parameters) {
    Passed value;
    if (!parameter.named && taken < count) {
      value = given.positional[taken++];
    } else if (std::find(given.names.begin(), given.names.end(), parameter.name) != given.names.end()) {
      napi_value named = nullptr;
      napi_get_named_property(given.env, given.options, parameter.name.c_str(), &named);
      value = PassedOf(given.env, named);
      used++;
    }
    if (value.type == napi_undefined) {
      if (!parameter.hasDefault) {
        if (mismatch.explained) mismatch.why = "argument '" + parameter.name + "' is missing";
        return false;
      }
      stack.push_back(parameter.defaultValue);
      continue;
    }
    std::string expected;
    c10::IValue converted;
    if (!Convert(given.env, value, parameter, converted, mismatch.explained ? &expected : nullptr)) {
      if (mismatch.explained) {
        mismatch.why = "argument '" + parameter.name + "' must be " + expected + ", got " + Describe(given.env, value.value);
      }
      return false;
    }
    stack.push_back(std::move(converted));
    mismatch.fitted++;
  }
  if (taken < count) {
    if (mismatch.explained) {
      mismatch.why = "it takes " + std::to_string(taken) + " arguments in order, got " + std::to_string(count);
    }
    return false;
  }
  if (used == given.names.size()) return true;
  for (const auto& name : given.names) {
    const bool known = std::any_of(op.parameters.begin(), op.parameters.end(),
                                   [&](const Parameter& parameter) { return parameter.name == name; });
    mismatch.why = known ? "argument '" + name + "' is given twice" : "it has no argument '" + name + "'";
    if (!known) return false;
  }
  return false;
}

/** The first overload that takes the arguments; null: none does. */
const Op* Choose(const Given& given, const std::vector<const Op*>& overloads, torch::jit::Stack& stack) {
  for (const Op* op : overloads) {
    Mismatch mismatch;
    if (Bind(given, *op, stack, mismatch)) return op;
  }
  return nullptr;
}

/** Why none does: what is wrong with the one that takes most of them. */
Mismatch NearestOf(const Given& given, const std::vector<const Op*>& overloads) {
  torch::jit::Stack stack;
  Mismatch nearest;
  for (const Op* op : overloads) {
    Mismatch mismatch;
    mismatch.explained = true;
    Bind(given, *op, stack, mismatch);
    if (nearest.why.empty() || mismatch.fitted > nearest.fitted) nearest = std::move(mismatch);
  }
  return nearest;
}

Napi::TypeError NoneFits(Napi::Env env, const std::string& name, const std::vector<const Op*>& overloads,
                         const Mismatch& nearest) {
  std::string text = "cannot call " + name.substr(name.find("::") + 2) + ": " + nearest.why;
  if (overloads.size() > 1) {
    text += ". It can be called as";
    for (const Op* op : overloads) text += "\n  " + SchemaText(*op);
  }
  return Napi::TypeError::New(env, text);
}

/** Options, or undefined, and arguments in order: from `first` on. */
Given GivenBy(const Napi::CallbackInfo& info, size_t first) {
  Given given{info.Env(), {}, {}, {}};
  for (size_t i = first + 1; i < info.Length(); i++) given.positional.push_back(PassedOf(given.env, info[i]));
  if (!info[first].IsObject()) return given;
  given.options = info[first].As<Napi::Object>();
  const Napi::Array names = given.options.GetPropertyNames();
  for (uint32_t i = 0; i < names.Length(); i++) {
    std::string name = static_cast<Napi::Value>(names[i]).ToString().Utf8Value();
    if (!given.options.Get(name).IsUndefined()) given.names.push_back(std::move(name));
  }
  return given;
}

/** Who records this call; null: it is run here. @throws c10::Error when tensors are of several meshes */
std::shared_ptr<Recorder> RecorderOf(Environment& environment, const torch::jit::Stack& stack) {
  std::shared_ptr<Recorder> found;
  bool tensors = false;
  for (const auto& value : stack) {
    ForEachTensor(value, [&](const at::Tensor& tensor) {
      tensors = true;
      const Recorded* recorded = RecordedOf(tensor);
      if (recorded == nullptr) return;
      if (found && found != recorded->recorder()) throw std::runtime_error("its tensors are of different meshes");
      found = recorded->recorder();
    });
  }
  return tensors ? found : environment.recorder;
}

/** What makes tensors makes them where everything else is recorded. */
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
                                               TORCH_VERSION + " has no such operation" + NearOperations(name));
  }
  return Napi::Number::New(info.Env(), static_cast<double>(number));
}

Napi::Value Call(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Operation* operation = OperationAt(CountOf(info, 0, "operation"));
  if (operation == nullptr) throw Wrong(info, "operation", "a number that operation() has answered");
  const auto& [name, overloads] = *operation;
  const Given given = GivenBy(info, 1);
  torch::jit::Stack stack;
  const Op* chosen = Choose(given, overloads, stack);
  if (chosen == nullptr) throw NoneFits(env, name, overloads, NearestOf(given, overloads));
  const auto verb = [&] { return "run " + Named(*chosen); };
  return GuardedAs(env, verb, [&]() -> Napi::Value {
    auto& environment = Environment::Of(env);
    const auto recorder = RecorderOf(environment, stack);
    if (!recorder) {
      chosen->handle.callBoxed(stack);
      return ResultsOf(env, stack);
    }
    bool tensors = false;
    for (const auto& value : stack) ForEachTensor(value, [&](const at::Tensor&) { tensors = true; });
    if (!tensors) ChooseDevice(*chosen, stack);
    const Recording recording(recorder, environment.sites, environment.Site(env));
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
  if (!info[0].IsArray()) throw Wrong(info, "names", "an array");
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
