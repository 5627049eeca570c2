#include "libtorch/op.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <sstream>
#include <unordered_map>

namespace {

Kind KindOf(const c10::TypePtr& type, const c10::TypePtr& declared) {
  // Types that are numbers internally, such as dtypes, have different declared types.
  const std::string text = declared->str();
  switch (type->kind()) {
    case c10::TypeKind::TensorType:
      return Kind::tensor;
    case c10::TypeKind::IntType:
      if (text == "ScalarType") return Kind::dtype;
      if (text == "Layout") return Kind::layout;
      if (text == "MemoryFormat") return Kind::memoryFormat;
      return text == "QScheme" ? Kind::other : Kind::integer;
    case c10::TypeKind::SymIntType:
      return Kind::integer;
    case c10::TypeKind::FloatType:
      return Kind::real;
    case c10::TypeKind::BoolType:
      return Kind::boolean;
    case c10::TypeKind::StringType:
      return Kind::text;
    case c10::TypeKind::NumberType:
      return Kind::scalar;
    case c10::TypeKind::DeviceObjType:
      return Kind::device;
    case c10::TypeKind::GeneratorType:
      return Kind::generator;
    default:
      return Kind::other;
  }
}

/**
 * Replaces an Optional or a List by the type that it contains.
 * @returns whether the type was of that kind
 */
bool Unwrap(c10::TypeKind kind, c10::TypePtr& type, c10::TypePtr& declared) {
  if (type->kind() != kind) return false;
  type = type->containedTypes().at(0);
  if (declared->kind() == kind) declared = declared->containedTypes().at(0);
  return true;
}

Parameter ParameterOf(const c10::Argument& argument) {
  Parameter parameter{};
  parameter.name = argument.name();
  c10::TypePtr type = argument.type();
  c10::TypePtr declared = argument.real_type() ? argument.real_type() : type;
  parameter.optional = Unwrap(c10::TypeKind::OptionalType, type, declared);
  parameter.list = Unwrap(c10::TypeKind::ListType, type, declared);
  if (parameter.list) parameter.optionalElements = Unwrap(c10::TypeKind::OptionalType, type, declared);
  parameter.kind = KindOf(type, declared);
  parameter.single = parameter.list && argument.N().has_value();
  parameter.named = argument.kwarg_only();
  parameter.hasDefault = argument.default_value().has_value();
  if (parameter.hasDefault) parameter.defaultValue = *argument.default_value();
  parameter.written = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
  return parameter;
}

bool IsTensors(const c10::Argument& result) {
  c10::TypePtr type = result.type();
  c10::TypePtr declared = type;
  Unwrap(c10::TypeKind::ListType, type, declared);
  return type->kind() == c10::TypeKind::TensorType;
}

std::string FullName(const c10::OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

class OpTable {
 public:
  const Op* Find(const c10::OperatorName& name) {
    std::lock_guard<std::mutex> lock(mutex_);
    return FindLocked(name);
  }

  bool Has(const std::string& name) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (names_.empty()) Index();
    return names_.count(name) > 0;
  }

  size_t Number(const std::string& name) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto known = numbers_.find(name);
    if (known != numbers_.end()) return known->second;
    if (names_.empty()) Index();
    operations_.push_back({name, OverloadsLocked(name)});
    return numbers_[name] = operations_.size() - 1;
  }

  const Operation* At(size_t number) {
    std::lock_guard<std::mutex> lock(mutex_);
    return number < operations_.size() ? &operations_[number] : nullptr;
  }

 private:
  std::vector<const Op*> OverloadsLocked(const std::string& name) {
    std::vector<const Op*> overloads;
    const size_t dot = name.find('.');
    if (dot != std::string::npos) {
      if (const Op* op = FindLocked({name.substr(0, dot), name.substr(dot + 1)})) overloads.push_back(op);
      return overloads;
    }
    const auto found = names_.find(name);
    if (found == names_.end()) return overloads;
    for (const auto& overload : found->second) {
      const Op* op = FindLocked({name, overload});
      if (op != nullptr && !op->hasOut && IsCallable(*op)) overloads.push_back(op);
    }
    return overloads;
  }

  /**
   * Schemas print the type of named dimensions as a string, which is wrong. Such overloads are recognized by their
   * names.
   */
  static bool NamesDimensions(const Op& op) {
    return op.name.find("imname") != std::string::npos || op.name.find(".names") != std::string::npos;
  }

  static bool IsCallable(const Op& op) {
    if (NamesDimensions(op)) return false;
    return std::none_of(op.parameters.begin(), op.parameters.end(), [](const Parameter& parameter) {
      return parameter.kind == Kind::other && !parameter.hasDefault && !parameter.optional;
    });
  }

  const Op* FindLocked(const c10::OperatorName& name) {
    const std::string full = FullName(name);
    const auto known = byName_.find(full);
    if (known != byName_.end()) return known->second;
    const auto handle = c10::Dispatcher::singleton().findSchema(name);
    if (!handle) return nullptr;
    Op op{*handle, full, {}, false, true};
    for (const auto& argument : handle->schema().arguments()) op.parameters.push_back(ParameterOf(argument));
    for (const auto& parameter : op.parameters) op.hasOut |= parameter.named && parameter.written;
    for (const auto& result : handle->schema().returns()) op.returnsTensors &= IsTensors(result);
    ops_.push_back(std::move(op));
    return byName_[full] = &ops_.back();
  }

  void Index() {
    for (const auto& name : c10::Dispatcher::singleton().getAllOpNames())
      names_[name.name].push_back(name.overload_name);
    for (auto& entry : names_) std::sort(entry.second.begin(), entry.second.end());
  }

  std::mutex mutex_;
  /** A deque, because pointers to its elements must stay valid. */
  std::deque<Op> ops_;
  std::unordered_map<std::string, const Op*> byName_;
  /** A deque for the same reason. */
  std::deque<Operation> operations_;
  std::unordered_map<std::string, size_t> numbers_;
  std::map<std::string, std::vector<std::string>> names_;
};

OpTable& GlobalOpTable() {
  static auto table = new OpTable;
  return *table;
}

}  // namespace

const std::vector<const Op*>& OverloadsOf(const std::string& name) {
  return OperationAt(NumberOf(name))->overloads;
}

size_t NumberOf(const std::string& name) {
  return GlobalOpTable().Number(name);
}

const Operation* OperationAt(size_t number) {
  return GlobalOpTable().At(number);
}

const Op* FindOp(const std::string& name, const std::string& overload) {
  return GlobalOpTable().Find({name, overload});
}

bool HasOp(const std::string& name) {
  return GlobalOpTable().Has(name);
}

std::vector<std::string> AllSchemas() {
  std::vector<std::string> schemas;
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name.rfind("aten::", 0) != 0) continue;
    const auto handle = c10::Dispatcher::singleton().findSchema(name);
    if (!handle) continue;
    std::ostringstream text;
    text << handle->schema();
    schemas.push_back(text.str());
  }
  std::sort(schemas.begin(), schemas.end());
  return schemas;
}

std::string SchemaText(const Op& op) {
  std::ostringstream text;
  text << op.handle.schema();
  const std::string schema = text.str();
  const size_t colons = schema.find("::");
  return colons == std::string::npos ? schema : schema.substr(colons + 2);
}
