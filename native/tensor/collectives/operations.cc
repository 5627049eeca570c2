/** The schemas of the collective operations, the checks of their arguments, and the shapes of their results. */
#include "collectives/operations.h"

#include <algorithm>

#include "shapes/rules.h"

using at::IntArrayRef;
using c10::string_view;

TORCH_LIBRARY(viceroy, library) {
  library.def("all_reduce(Tensor self, int[] along, int ranks, str reduction) -> Tensor");
  library.def("all_gather(Tensor self, int[] along, int ranks, int dim) -> Tensor");
  library.def("reduce_scatter(Tensor self, int[] along, int ranks, str reduction, int dim) -> Tensor");
  library.def("all_to_all(Tensor self, int[] along, int ranks, int dim) -> Tensor");
  library.def("broadcast(Tensor self, int[] along, int ranks, int index) -> Tensor");
  library.def("reduce_to(Tensor self, int[] along, int ranks, int index) -> Tensor");
  library.def("permute(Tensor self, int[] along, int ranks, int[] to) -> Tensor");
}

bool IsCollective(const std::string& name) {
  return name.rfind("viceroy::", 0) == 0;
}

Reduction ReductionOf(const std::string& name, c10::ScalarType dtype) {
  static const std::pair<const char*, Reduction> all[] = {{"sum", Reduction::sum},
                                                          {"avg", Reduction::avg},
                                                          {"max", Reduction::max},
                                                          {"min", Reduction::min},
                                                          {"prod", Reduction::prod}};
  for (const auto& [text, reduction] : all) {
    if (name != text) continue;
    const bool orders = reduction == Reduction::max || reduction == Reduction::min;
    TORCH_CHECK(!orders || !c10::isComplexType(dtype), name, " is not defined for complex numbers");
    TORCH_CHECK(orders || dtype != c10::kBool, name, " is not defined for booleans: convert them to numbers");
    TORCH_CHECK(reduction != Reduction::avg || !c10::isIntegralType(dtype, true),
                "avg is not defined for integers: convert them, or use sum");
    return reduction;
  }
  TORCH_CHECK(false, "unknown reduction \"", name, "\": expected sum, avg, max, min or prod");
}

int64_t DimOf(const at::Tensor& tensor, int64_t dim) {
  const int64_t dims = tensor.dim();
  TORCH_CHECK(dim >= -dims && dim < dims, "a tensor of shape ", tensor.sizes(), " has no dimension ", dim);
  return dim < 0 ? dim + dims : dim;
}

int64_t PartSize(const at::Tensor& tensor, int64_t dim, int64_t ranks) {
  const int64_t size = tensor.size(DimOf(tensor, dim));
  TORCH_CHECK(ranks > 0, "a group has ", ranks, " processes");
  TORCH_CHECK(size % ranks == 0, "dimension ", dim, " of shape ", tensor.sizes(), " cannot be cut into ", ranks,
              " equal parts");
  return size / ranks;
}

void CheckIndex(int64_t index, int64_t ranks) {
  TORCH_CHECK(index >= 0 && index < ranks, "there is no process ", index, " among ", ranks);
}

void CheckPermutation(IntArrayRef to, int64_t ranks) {
  TORCH_CHECK(static_cast<int64_t>(to.size()) == ranks, "it says where to for ", to.size(), " of ", ranks,
              " processes");
  for (const int64_t index : to) {
    if (index == -1) continue;
    CheckIndex(index, ranks);
    TORCH_CHECK(std::count(to.begin(), to.end(), index) == 1, "process ", index, " would be sent more than one tensor");
  }
}

namespace {

at::Tensor Resized(const at::Tensor& self, int64_t dim, int64_t size) {
  Sizes sizes = self.sizes().vec();
  sizes[static_cast<size_t>(DimOf(self, dim))] = size;
  return Shaped(sizes, self.scalar_type());
}

at::Tensor SameShape(const at::Tensor& self) {
  return Shaped(self.sizes(), self.scalar_type());
}

at::Tensor AllReduceShape(const at::Tensor& self, IntArrayRef, int64_t, string_view reduction) {
  ReductionOf(std::string(reduction), self.scalar_type());
  return SameShape(self);
}

at::Tensor AllGatherShape(const at::Tensor& self, IntArrayRef, int64_t ranks, int64_t dim) {
  return Resized(self, dim, self.size(DimOf(self, dim)) * ranks);
}

at::Tensor ReduceScatterShape(const at::Tensor& self, IntArrayRef, int64_t ranks, string_view reduction, int64_t dim) {
  ReductionOf(std::string(reduction), self.scalar_type());
  return Resized(self, dim, PartSize(self, dim, ranks));
}

at::Tensor AllToAllShape(const at::Tensor& self, IntArrayRef, int64_t ranks, int64_t dim) {
  PartSize(self, dim, ranks);
  return SameShape(self);
}

at::Tensor SameShapeWithIndex(const at::Tensor& self, IntArrayRef, int64_t ranks, int64_t index) {
  CheckIndex(index, ranks);
  return SameShape(self);
}

at::Tensor PermuteShape(const at::Tensor& self, IntArrayRef, int64_t ranks, IntArrayRef to) {
  CheckPermutation(to, ranks);
  return SameShape(self);
}

/** Returns the handle of an operation. */
template <class Signature>
c10::TypedOperatorHandle<Signature> FindOperation(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

}  // namespace

TORCH_LIBRARY_IMPL(viceroy, Meta, library) {
  library.impl("all_reduce", &AllReduceShape);
  library.impl("all_gather", &AllGatherShape);
  library.impl("reduce_scatter", &ReduceScatterShape);
  library.impl("all_to_all", &AllToAllShape);
  library.impl("broadcast", &SameShapeWithIndex);
  library.impl("reduce_to", &SameShapeWithIndex);
  library.impl("permute", &PermuteShape);
}

at::Tensor CallAllReduce(const at::Tensor& self, IntArrayRef along, int64_t ranks, const std::string& reduction) {
  static const auto op =
      FindOperation<at::Tensor(const at::Tensor&, IntArrayRef, int64_t, string_view)>("viceroy::all_reduce");
  return op.call(self, along, ranks, reduction);
}

at::Tensor CallAllGather(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t dim) {
  static const auto op =
      FindOperation<at::Tensor(const at::Tensor&, IntArrayRef, int64_t, int64_t)>("viceroy::all_gather");
  return op.call(self, along, ranks, dim);
}

at::Tensor CallReduceScatter(const at::Tensor& self, IntArrayRef along, int64_t ranks, const std::string& reduction,
                             int64_t dim) {
  static const auto op = FindOperation<at::Tensor(const at::Tensor&, IntArrayRef, int64_t, string_view, int64_t)>(
      "viceroy::reduce_scatter");
  return op.call(self, along, ranks, reduction, dim);
}

at::Tensor CallAllToAll(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t dim) {
  static const auto op =
      FindOperation<at::Tensor(const at::Tensor&, IntArrayRef, int64_t, int64_t)>("viceroy::all_to_all");
  return op.call(self, along, ranks, dim);
}

at::Tensor CallBroadcast(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t index) {
  static const auto op =
      FindOperation<at::Tensor(const at::Tensor&, IntArrayRef, int64_t, int64_t)>("viceroy::broadcast");
  return op.call(self, along, ranks, index);
}

at::Tensor CallReduceTo(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t index) {
  static const auto op =
      FindOperation<at::Tensor(const at::Tensor&, IntArrayRef, int64_t, int64_t)>("viceroy::reduce_to");
  return op.call(self, along, ranks, index);
}

at::Tensor CallPermute(const at::Tensor& self, IntArrayRef along, int64_t ranks, IntArrayRef to) {
  static const auto op =
      FindOperation<at::Tensor(const at::Tensor&, IntArrayRef, int64_t, IntArrayRef)>("viceroy::permute");
  return op.call(self, along, ranks, to);
}
