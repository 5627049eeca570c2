#include "shapes/operand_types.h"

#include <string>
#include <unordered_map>

#include "libtorch/dtype.h"

namespace {

using Requirement = TypeRule::Requirement;

struct NamedRule {
  Requirement requirement;
  std::vector<const char*> parameters;
};

/**
 * The types that CPU kernels require, in all tested versions, by the name of the operation without the `_` of in-place
 * variants.
 */
const std::unordered_map<std::string, std::vector<NamedRule>>& NamedRules() {
  static const std::unordered_map<std::string, std::vector<NamedRule>> rules = {
      // Matrix products and related functions.
      {"mm", {{Requirement::same, {"self", "mat2"}}}},
      {"bmm", {{Requirement::same, {"self", "mat2"}}}},
      {"mv", {{Requirement::same, {"self", "vec"}}}},
      {"dot", {{Requirement::same, {"self", "tensor"}}}},
      {"vdot", {{Requirement::same, {"self", "other"}}}},
      {"addmm", {{Requirement::same, {"self", "mat1", "mat2"}}}},
      {"addmv", {{Requirement::same, {"self", "mat", "vec"}}}},
      {"baddbmm", {{Requirement::same, {"batch1", "batch2"}}}},
      {"addbmm", {{Requirement::same, {"batch1", "batch2"}}}},
      {"linear", {{Requirement::same, {"input", "weight"}}}},
      {"convolution", {{Requirement::same, {"input", "weight"}}}},
      {"convolution_overrideable", {{Requirement::same, {"input", "weight"}}}},
      {"_trilinear", {{Requirement::same, {"i1", "i2", "i3"}}}},
      {"linalg_cross", {{Requirement::same, {"self", "other"}}}},
      {"linalg_solve_triangular", {{Requirement::same, {"self", "B"}}}},
      {"cholesky_solve", {{Requirement::same, {"self", "input2"}}}},
      {"_cdist_forward", {{Requirement::same, {"x1", "x2"}}}},
      {"grid_sampler_2d", {{Requirement::same, {"input", "grid"}}}},
      {"grid_sampler_3d", {{Requirement::same, {"input", "grid"}}}},
      {"polar", {{Requirement::same, {"abs", "angle"}}}},
      {"complex", {{Requirement::same, {"real", "imag"}}}},
      // Indexing.
      {"embedding", {{Requirement::anyIndex, {"indices"}}}},
      {"index_select", {{Requirement::anyIndex, {"index"}}}},
      {"index_fill", {{Requirement::index, {"index"}}}},
      {"take", {{Requirement::index, {"index"}}}},
      {"put", {{Requirement::index, {"index"}}, {Requirement::same, {"self", "source"}}}},
      {"index_put", {{Requirement::same, {"self", "values"}}}},
      {"_index_put_impl", {{Requirement::same, {"self", "values"}}}},
      {"masked_scatter", {{Requirement::same, {"self", "source"}}}},
      {"nll_loss_forward", {{Requirement::index, {"target"}}}},
      {"nll_loss2d_forward", {{Requirement::index, {"target"}}}},
      {"where", {{Requirement::condition, {"condition"}}}},
      // Bitwise functions.
      {"bitwise_and", {{Requirement::whole, {"self", "other"}}}},
      {"bitwise_or", {{Requirement::whole, {"self", "other"}}}},
      {"bitwise_xor", {{Requirement::whole, {"self", "other"}}}},
      {"bitwise_not", {{Requirement::whole, {"self"}}}},
      {"bitwise_left_shift", {{Requirement::whole, {"self", "other"}}}},
      {"bitwise_right_shift", {{Requirement::whole, {"self", "other"}}}},
      {"gcd", {{Requirement::whole, {"self", "other"}}}},
      {"lcm", {{Requirement::whole, {"self", "other"}}}},
      // Functions that are not defined for integers.
      {"_softmax", {{Requirement::floating, {"self"}}}},
      {"_log_softmax", {{Requirement::floating, {"self"}}}},
      {"std", {{Requirement::floating, {"self"}}}},
      {"var", {{Requirement::floating, {"self"}}}},
      {"gelu", {{Requirement::floating, {"self"}}}},
      {"silu", {{Requirement::floating, {"self"}}}},
      {"glu", {{Requirement::floating, {"self"}}}},
      {"native_layer_norm",
       {{Requirement::floating, {"input"}}, {Requirement::sameOrWider, {"input", "weight", "bias"}}}},
      {"native_group_norm",
       {{Requirement::floating, {"input"}}, {Requirement::sameOrWider, {"input", "weight", "bias"}}}},
      {"native_batch_norm",
       {{Requirement::floating, {"input"}}, {Requirement::sameOrWider, {"input", "weight", "bias"}}}},
      {"binary_cross_entropy", {{Requirement::same, {"self", "target"}}}},
      {"normal", {{Requirement::floating, {"self"}}}},
      {"bernoulli", {{Requirement::floating, {"self"}}}},
      {"multinomial", {{Requirement::floating, {"self"}}}},
      {"logaddexp", {{Requirement::floating, {"self", "other"}}}},
      {"prelu", {{Requirement::same, {"self", "weight"}}}},
      {"linalg_vector_norm", {{Requirement::floating, {"self"}}}},
      {"logcumsumexp", {{Requirement::floating, {"self"}}}},
      {"linalg_eigh", {{Requirement::floating, {"self"}}}},
      {"_linalg_eigh", {{Requirement::floating, {"A"}}}},
      {"linalg_lu_factor_ex", {{Requirement::floating, {"A"}}}},
  };
  return rules;
}

bool HasFraction(c10::ScalarType type) {
  return c10::isFloatingType(type) || c10::isComplexType(type);
}

bool HasHalfWidth(c10::ScalarType type) {
  return type == c10::ScalarType::Half || type == c10::ScalarType::BFloat16;
}

bool TypeFits(Requirement requirement, c10::ScalarType type) {
  switch (requirement) {
    case Requirement::same:
    case Requirement::sameOrWider:
      return true;
    case Requirement::floating:
      return HasFraction(type);
    case Requirement::whole:
      return !HasFraction(type);
    case Requirement::condition:
      return type == c10::ScalarType::Bool || type == c10::ScalarType::Byte;
    case Requirement::index:
      return type == c10::ScalarType::Long || type == c10::ScalarType::Byte;
    case Requirement::anyIndex:
      return type == c10::ScalarType::Long || type == c10::ScalarType::Int;
  }
  return true;
}

const char* TypesText(Requirement requirement) {
  switch (requirement) {
    case Requirement::same:
    case Requirement::sameOrWider:
      return "one type of elements";
    case Requirement::floating:
      return "floating-point or complex numbers";
    case Requirement::whole:
      return "integers or truth values";
    case Requirement::condition:
      return "truth values";
    case Requirement::index:
      return "int64";
    case Requirement::anyIndex:
      return "int64 or int32";
  }
  return "";
}

/** Returns the tensor in a value, or null if the value is not a tensor or the tensor is undefined. */
const at::Tensor* DefinedTensor(const c10::IValue& value) {
  if (!value.isTensor()) return nullptr;
  const at::Tensor& tensor = value.toTensor();
  return tensor.defined() ? &tensor : nullptr;
}

void CheckSameType(const c10::OperatorHandle& op, const TypeRule& rule, const std::vector<c10::IValue>& arguments) {
  const auto& [requirement, parameters] = rule;
  const at::Tensor* first = nullptr;
  size_t from = 0;
  for (const size_t i : parameters) {
    const at::Tensor* tensor = DefinedTensor(arguments[i]);
    if (tensor == nullptr) continue;
    if (first == nullptr) {
      first = tensor;
      from = i;
    }
    const bool wider = requirement == Requirement::sameOrWider && HasHalfWidth(first->scalar_type()) &&
                       tensor->scalar_type() == c10::ScalarType::Float;
    TORCH_CHECK(wider || tensor->scalar_type() == first->scalar_type(), "expected ",
                op.schema().arguments()[from].name(), " and ", op.schema().arguments()[i].name(),
                " of one type of elements, got ", DtypeName(first->scalar_type()), " and ",
                DtypeName(tensor->scalar_type()));
  }
}

}  // namespace

std::string NameInPlace(const c10::OperatorHandle& op) {
  std::string name = op.operator_name().name.substr(op.operator_name().name.find("::") + 2);
  if (name.size() > 1 && name.back() == '_' && name[name.size() - 2] != '_') name.pop_back();
  return name;
}

std::vector<TypeRule> TypeRulesOf(const c10::OperatorHandle& op) {
  std::vector<TypeRule> rules;
  const auto found = NamedRules().find(NameInPlace(op));
  if (found == NamedRules().end()) return rules;
  const auto& parameters = op.schema().arguments();
  for (const NamedRule& named : found->second) {
    TypeRule rule{named.requirement, {}};
    for (const char* name : named.parameters) {
      for (size_t i = 0; i < parameters.size(); i++) {
        if (parameters[i].name() == name) rule.parameters.push_back(i);
      }
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

void CheckTypes(const c10::OperatorHandle& op, const std::vector<TypeRule>& rules,
                const std::vector<c10::IValue>& arguments) {
  for (const TypeRule& rule : rules) {
    if (rule.requirement == Requirement::same || rule.requirement == Requirement::sameOrWider)
      CheckSameType(op, rule, arguments);
    for (const size_t i : rule.parameters) {
      const at::Tensor* tensor = DefinedTensor(arguments[i]);
      if (tensor == nullptr) continue;
      TORCH_CHECK(TypeFits(rule.requirement, tensor->scalar_type()), "expected ", TypesText(rule.requirement), " as ",
                  op.schema().arguments()[i].name(), ", got ", DtypeName(tensor->scalar_type()));
    }
  }
}
