#include "operand_types.h"

#include <string>
#include <unordered_map>

#include "dtype.h"

namespace {

using Asked = TypeRule::Asked;

struct NamedRule {
  Asked asked;
  std::vector<const char*> parameters;
};

/** By the name of the operation, without the `_` of those in place. What kernels of processors refuse, in all versions that were tried. */
const std::unordered_map<std::string, std::vector<NamedRule>>& NamedRules() {
  static const std::unordered_map<std::string, std::vector<NamedRule>> rules = {
      // Products.
      {"mm", {{Asked::same, {"self", "mat2"}}}},
      {"bmm", {{Asked::same, {"self", "mat2"}}}},
      {"mv", {{Asked::same, {"self", "vec"}}}},
      {"dot", {{Asked::same, {"self", "tensor"}}}},
      {"vdot", {{Asked::same, {"self", "other"}}}},
      {"addmm", {{Asked::same, {"self", "mat1", "mat2"}}}},
      {"addmv", {{Asked::same, {"self", "mat", "vec"}}}},
      {"baddbmm", {{Asked::same, {"batch1", "batch2"}}}},
      {"addbmm", {{Asked::same, {"batch1", "batch2"}}}},
      {"linear", {{Asked::same, {"input", "weight"}}}},
      {"convolution", {{Asked::same, {"input", "weight"}}}},
      {"convolution_overrideable", {{Asked::same, {"input", "weight"}}}},
      {"_trilinear", {{Asked::same, {"i1", "i2", "i3"}}}},
      {"linalg_cross", {{Asked::same, {"self", "other"}}}},
      {"linalg_solve_triangular", {{Asked::same, {"self", "B"}}}},
      {"cholesky_solve", {{Asked::same, {"self", "input2"}}}},
      {"_cdist_forward", {{Asked::same, {"x1", "x2"}}}},
      {"grid_sampler_2d", {{Asked::same, {"input", "grid"}}}},
      {"grid_sampler_3d", {{Asked::same, {"input", "grid"}}}},
      {"polar", {{Asked::same, {"abs", "angle"}}}},
      {"complex", {{Asked::same, {"real", "imag"}}}},
      // Elements by their indices.
      {"embedding", {{Asked::anyIndex, {"indices"}}}},
      {"index_select", {{Asked::anyIndex, {"index"}}}},
      {"index_fill", {{Asked::index, {"index"}}}},
      {"take", {{Asked::index, {"index"}}}},
      {"put", {{Asked::index, {"index"}}, {Asked::same, {"self", "source"}}}},
      {"index_put", {{Asked::same, {"self", "values"}}}},
      {"_index_put_impl", {{Asked::same, {"self", "values"}}}},
      {"masked_scatter", {{Asked::same, {"self", "source"}}}},
      {"nll_loss_forward", {{Asked::index, {"target"}}}},
      {"nll_loss2d_forward", {{Asked::index, {"target"}}}},
      {"where", {{Asked::condition, {"condition"}}}},
      // Bits.
      {"bitwise_and", {{Asked::whole, {"self", "other"}}}},
      {"bitwise_or", {{Asked::whole, {"self", "other"}}}},
      {"bitwise_xor", {{Asked::whole, {"self", "other"}}}},
      {"bitwise_not", {{Asked::whole, {"self"}}}},
      {"bitwise_left_shift", {{Asked::whole, {"self", "other"}}}},
      {"bitwise_right_shift", {{Asked::whole, {"self", "other"}}}},
      {"gcd", {{Asked::whole, {"self", "other"}}}},
      {"lcm", {{Asked::whole, {"self", "other"}}}},
      // What has no meaning for whole numbers.
      {"_softmax", {{Asked::floating, {"self"}}}},
      {"_log_softmax", {{Asked::floating, {"self"}}}},
      {"std", {{Asked::floating, {"self"}}}},
      {"var", {{Asked::floating, {"self"}}}},
      {"gelu", {{Asked::floating, {"self"}}}},
      {"silu", {{Asked::floating, {"self"}}}},
      {"glu", {{Asked::floating, {"self"}}}},
      {"native_layer_norm", {{Asked::floating, {"input"}}, {Asked::sameOrWider, {"input", "weight", "bias"}}}},
      {"native_group_norm", {{Asked::floating, {"input"}}, {Asked::sameOrWider, {"input", "weight", "bias"}}}},
      {"native_batch_norm", {{Asked::floating, {"input"}}, {Asked::sameOrWider, {"input", "weight", "bias"}}}},
      {"binary_cross_entropy", {{Asked::same, {"self", "target"}}}},
      {"normal", {{Asked::floating, {"self"}}}},
      {"bernoulli", {{Asked::floating, {"self"}}}},
      {"multinomial", {{Asked::floating, {"self"}}}},
      {"logaddexp", {{Asked::floating, {"self", "other"}}}},
      {"prelu", {{Asked::same, {"self", "weight"}}}},
      {"linalg_vector_norm", {{Asked::floating, {"self"}}}},
      {"logcumsumexp", {{Asked::floating, {"self"}}}},
      {"linalg_eigh", {{Asked::floating, {"self"}}}},
      {"_linalg_eigh", {{Asked::floating, {"A"}}}},
      {"linalg_lu_factor_ex", {{Asked::floating, {"A"}}}},
  };
  return rules;
}

bool HasFraction(c10::ScalarType type) { return c10::isFloatingType(type) || c10::isComplexType(type); }

bool HasHalfWidth(c10::ScalarType type) { return type == c10::ScalarType::Half || type == c10::ScalarType::BFloat16; }

bool TypeFits(Asked asked, c10::ScalarType type) {
  switch (asked) {
    case Asked::same:
    case Asked::sameOrWider:
      return true;
    case Asked::floating:
      return HasFraction(type);
    case Asked::whole:
      return !HasFraction(type);
    case Asked::condition:
      return type == c10::ScalarType::Bool || type == c10::ScalarType::Byte;
    case Asked::index:
      return type == c10::ScalarType::Long || type == c10::ScalarType::Byte;
    case Asked::anyIndex:
      return type == c10::ScalarType::Long || type == c10::ScalarType::Int;
  }
  return true;
}

const char* TypesWanted(Asked asked) {
  switch (asked) {
    case Asked::same:
    case Asked::sameOrWider:
      return "one type of elements";
    case Asked::floating:
      return "floating-point or complex numbers";
    case Asked::whole:
      return "integers or truth values";
    case Asked::condition:
      return "truth values";
    case Asked::index:
      return "int64";
    case Asked::anyIndex:
      return "int64 or int32";
  }
  return "";
}

/** Null for what is no tensor, or none that is there. */
const at::Tensor* ThereIs(const c10::IValue& value) {
  if (!value.isTensor()) return nullptr;
  const at::Tensor& tensor = value.toTensor();
  return tensor.defined() ? &tensor : nullptr;
}

void CheckSameType(const c10::OperatorHandle& op, const TypeRule& rule, const std::vector<c10::IValue>& arguments) {
  const auto& [asked, parameters] = rule;
  const at::Tensor* first = nullptr;
  size_t from = 0;
  for (const size_t i : parameters) {
    const at::Tensor* tensor = ThereIs(arguments[i]);
    if (tensor == nullptr) continue;
    if (first == nullptr) {
      first = tensor;
      from = i;
    }
    const bool wider = asked == Asked::sameOrWider && HasHalfWidth(first->scalar_type()) &&
                       tensor->scalar_type() == c10::ScalarType::Float;
    TORCH_CHECK(wider || tensor->scalar_type() == first->scalar_type(), "expected ", op.schema().arguments()[from].name(), " and ",
                op.schema().arguments()[i].name(), " of one type of elements, got ", DtypeName(first->scalar_type()), " and ",
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
    TypeRule rule{named.asked, {}};
    for (const char* name : named.parameters) {
      for (size_t i = 0; i < parameters.size(); i++) {
        if (parameters[i].name() == name) rule.parameters.push_back(i);
      }
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

void CheckTypes(const c10::OperatorHandle& op, const std::vector<TypeRule>& rules, const std::vector<c10::IValue>& arguments) {
  for (const TypeRule& rule : rules) {
    if (rule.asked == Asked::same || rule.asked == Asked::sameOrWider) CheckSameType(op, rule, arguments);
    for (const size_t i : rule.parameters) {
      const at::Tensor* tensor = ThereIs(arguments[i]);
      if (tensor == nullptr) continue;
      TORCH_CHECK(TypeFits(rule.asked, tensor->scalar_type()), "expected ", TypesWanted(rule.asked), " as ", op.schema().arguments()[i].name(),
                  ", got ", DtypeName(tensor->scalar_type()));
    }
  }
}
