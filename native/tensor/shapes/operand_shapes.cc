#include "shapes/operand_shapes.h"

#include <ATen/ExpandUtils.h>
#include <c10/core/WrapDimMinimal.h>

#include <string>
#include <unordered_map>

#include "shapes/operand_types.h"

namespace {

using Arguments = std::vector<c10::IValue>;

/** `copy_(self, src, …)` */
void CheckCopy(const Arguments& arguments) {
  const at::Tensor& self = arguments.at(0).toTensor();
  const at::Tensor& from = arguments.at(1).toTensor();
  TORCH_CHECK(at::is_expandable_to(from.sizes(), self.sizes()), "a tensor of sizes ", from.sizes(),
              " cannot be expanded to ", self.sizes());
}

/** `flip(self, dims)`, `roll(self, shifts, dims)` */
template <size_t at>
void CheckDimensions(const Arguments& arguments) {
  const at::Tensor& self = arguments.at(0).toTensor();
  for (const int64_t dimension : arguments.at(at).toIntVector()) c10::maybe_wrap_dim(dimension, self.dim());
}

/** `tril(self, diagonal)` */
void CheckMatrix(const Arguments& arguments) {
  const at::Tensor& self = arguments.at(0).toTensor();
  TORCH_CHECK(self.dim() >= 2, "expected a tensor of at least 2 dimensions, got ", self.dim());
}

/** `kthvalue(self, k, dim, …)`, `topk(self, k, dim, …)` */
void CheckK(const Arguments& arguments) {
  const at::Tensor& self = arguments.at(0).toTensor();
  const int64_t k = arguments.at(1).toInt();
  const int64_t dimension = c10::maybe_wrap_dim(arguments.at(2).toInt(), self.dim());
  const int64_t size = self.dim() == 0 ? 1 : self.size(dimension);
  TORCH_CHECK(k >= 1 && k <= size, "expected k from 1 to ", size, ", the size of dimension ", dimension, ", got ", k);
}

}  // namespace

ShapeCheck ShapeCheckOf(const c10::OperatorHandle& op) {
  static const std::unordered_map<std::string, ShapeCheck> checks = {
      {"copy", CheckCopy},   {"flip", CheckDimensions<1>}, {"roll", CheckDimensions<2>},
      {"tril", CheckMatrix}, {"triu", CheckMatrix},        {"kthvalue", CheckK},
  };
  const auto found = checks.find(NameInPlace(op));
  return found == checks.end() ? nullptr : found->second;
}
