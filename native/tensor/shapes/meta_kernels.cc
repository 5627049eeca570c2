/**
 * Registers the kernels of device Meta that libtorch lacks, which in 1.13 are many, so that recording computes no
 * elements to find a shape. Kernels of libtorch take precedence. An operation that has no kernel cannot be recorded.
 */
#include "shapes/meta_kernels.h"

#include <sstream>
#include <unordered_set>

#include "libtorch/op.h"
#include "shapes/rules.h"

namespace {

/**
 * Returns whether a list of names contains an operation. A name without a dot stands for all overloads without output
 * parameters, and a name with a dot for one overload. Each name also stands for the in-place variant.
 */
bool ContainsOperation(const std::unordered_set<std::string>& names, const c10::OperatorName& name) {
  std::string base = name.name.substr(6);
  const std::string dot = name.overload_name.empty() ? "" : "." + name.overload_name;
  if (names.count(base + dot) > 0 || names.count(base) > 0) return true;
  if (base.back() != '_') return false;
  base.pop_back();
  return names.count(base + dot) > 0 || names.count(base) > 0;
}

std::unordered_set<std::string> SplitWords(const char* text) {
  std::unordered_set<std::string> words;
  std::istringstream all(text);
  for (std::string word; all >> word;) words.insert(word);
  return words;
}

}  // namespace

void RunRule(const c10::OperatorHandle& op, torch::jit::Stack* stack, Rule rule) {
  const auto& schema = op.schema();
  const Arguments arguments = torch::jit::pop(*stack, schema.arguments().size());
  const auto& returns = schema.returns();
  const auto written = [&](const c10::Argument& result) -> const c10::IValue* {
    if (result.alias_info() == nullptr) return nullptr;
    for (size_t i = 0; i < arguments.size(); i++) {
      const auto* alias = schema.arguments()[i].alias_info();
      if (alias != nullptr && alias->isWrite() && alias->beforeSets() == result.alias_info()->beforeSets())
        return &arguments[i];
    }
    return nullptr;
  };
  if (!returns.empty() && written(returns[0]) != nullptr) {
    for (const auto& result : returns) stack->push_back(*written(result));
    return;
  }
  if (returns.empty()) return;
  const Results results = rule(arguments);
  if (returns.size() == 1 && returns[0].type()->kind() == c10::TypeKind::ListType) {
    stack->push_back(c10::List<at::Tensor>(results));
    return;
  }
  TORCH_CHECK(results.size() == returns.size(), "a shape rule returns the wrong number of results for ",
              op.operator_name().name);
  for (const auto& result : results) stack->push_back(result);
}

void RegisterMetaKernels() {
  static torch::Library meta(torch::Library::IMPL, "aten", c10::DispatchKey::Meta, __FILE__, __LINE__);
  std::vector<std::pair<std::unordered_set<std::string>, torch::CppFunction (*)()>> rules;
  for (const auto* part : {&ElementRules(), &LayerRules(), &LookupRules()}) {
    for (const auto& rule : *part) rules.emplace_back(SplitWords(rule.names), rule.kernel);
  }
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name.rfind("aten::", 0) != 0) continue;
    const Op* op = FindOp(name.name, name.overload_name);
    if (op == nullptr || op->hasOut || op->handle.hasKernelForDispatchKey(c10::DispatchKey::Meta)) continue;
    if (op->handle.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd)) continue;
    const std::string full = op->name.substr(6);
    if (full.rfind("_foreach_", 0) == 0) {
      meta.impl(full.c_str(), KernelFor<LikeFirstList>());
      continue;
    }
    // A rule for one overload takes precedence over a rule for all overloads.
    torch::CppFunction (*kernel)() = nullptr;
    for (const auto& [names, candidate] : rules) {
      if (names.count(full) > 0 || (kernel == nullptr && ContainsOperation(names, name))) kernel = candidate;
    }
    if (kernel != nullptr) meta.impl(full.c_str(), kernel());
  }
}
