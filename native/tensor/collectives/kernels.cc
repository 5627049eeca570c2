/**
 * The kernels with which a worker executes collective operations (operations.h). They compute the inputs and outputs; a
 * backend (backend.h) transfers the elements.
 */
#include <ATen/ops/zeros.h>

#include "collectives/backend.h"
#include "collectives/operations.h"
#include "collectives/signature.h"

namespace {

using at::IntArrayRef;
using c10::string_view;

/** Moves the dimension that is split to the front, so that the parts are contiguous. `MoveDimBack` is the inverse. */
at::Tensor MoveDimFirst(const at::Tensor& self, int64_t dim) {
  return self.movedim(DimOf(self, dim), 0).contiguous();
}

at::Tensor MoveDimBack(const at::Tensor& moved, int64_t dim) {
  return moved.movedim(0, dim < 0 ? dim + moved.dim() : dim).contiguous();
}

at::Tensor EmptyWithSize(const at::Tensor& moved, int64_t size) {
  auto sizes = moved.sizes().vec();
  sizes[0] = size;
  return at::empty(sizes, moved.options());
}

at::Tensor AllReduce(const at::Tensor& self, IntArrayRef along, int64_t ranks, string_view name) {
  const CollectiveAgreement agreement(along, ranks);
  const std::string text(name);
  at::Tensor out;
  std::unique_ptr<CollectiveBackend> backend;
  Reduction reduction{};
  agreement.Begin(Signature().Add("all_reduce").Add(along).Add(text).Add(self).value(), [&] {
    reduction = ReductionOf(text, self.scalar_type());
    out = at::empty(self.sizes(), self.options());
    backend = ChooseBackend(agreement, self.contiguous(), out, true);
  });
  backend->AllReduce(reduction);
  return out;
}

at::Tensor AllGather(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t dim) {
  const CollectiveAgreement agreement(along, ranks);
  at::Tensor out;
  std::unique_ptr<CollectiveBackend> backend;
  agreement.Begin(Signature().Add("all_gather").Add(along).Add(dim).Add(self).value(), [&] {
    const at::Tensor in = MoveDimFirst(self, dim);
    out = EmptyWithSize(in, in.size(0) * ranks);
    backend = ChooseBackend(agreement, in, out, false);
  });
  backend->AllGather();
  return MoveDimBack(out, dim);
}

at::Tensor ReduceScatter(const at::Tensor& self, IntArrayRef along, int64_t ranks, string_view name, int64_t dim) {
  const CollectiveAgreement agreement(along, ranks);
  const std::string text(name);
  at::Tensor out;
  std::unique_ptr<CollectiveBackend> backend;
  Reduction reduction{};
  agreement.Begin(Signature().Add("reduce_scatter").Add(along).Add(text).Add(dim).Add(self).value(), [&] {
    reduction = ReductionOf(text, self.scalar_type());
    const at::Tensor in = MoveDimFirst(self, dim);
    out = EmptyWithSize(in, PartSize(self, dim, ranks));
    backend = ChooseBackend(agreement, in, out, true);
  });
  backend->ReduceScatter(reduction);
  return MoveDimBack(out, dim);
}

at::Tensor AllToAll(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t dim) {
  const CollectiveAgreement agreement(along, ranks);
  at::Tensor out;
  std::unique_ptr<CollectiveBackend> backend;
  agreement.Begin(Signature().Add("all_to_all").Add(along).Add(dim).Add(self).value(), [&] {
    PartSize(self, dim, ranks);
    const at::Tensor in = MoveDimFirst(self, dim);
    out = at::empty_like(in);
    backend = ChooseBackend(agreement, in, out, false);
  });
  backend->AllToAll();
  return MoveDimBack(out, dim);
}

at::Tensor Broadcast(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t index) {
  const CollectiveAgreement agreement(along, ranks);
  at::Tensor out;
  std::unique_ptr<CollectiveBackend> backend;
  agreement.Begin(Signature().Add("broadcast").Add(along).Add(index).Add(self).value(), [&] {
    CheckIndex(index, ranks);
    out = at::empty(self.sizes(), self.options());
    backend = ChooseBackend(agreement, self.contiguous(), out, false);
  });
  backend->Broadcast(static_cast<size_t>(index));
  return out;
}

at::Tensor ReduceTo(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t index) {
  const CollectiveAgreement agreement(along, ranks);
  at::Tensor out;
  std::unique_ptr<CollectiveBackend> backend;
  agreement.Begin(Signature().Add("reduce_to").Add(along).Add(index).Add(self).value(), [&] {
    CheckIndex(index, ranks);
    ReductionOf("sum", self.scalar_type());
    out = at::zeros(self.sizes(), self.options());
    backend = ChooseBackend(agreement, self.contiguous(), out, true);
  });
  backend->ReduceTo(static_cast<size_t>(index));
  return out;
}

at::Tensor Permute(const at::Tensor& self, IntArrayRef along, int64_t ranks, IntArrayRef to) {
  const CollectiveAgreement agreement(along, ranks);
  at::Tensor out;
  std::unique_ptr<CollectiveBackend> backend;
  agreement.Begin(Signature().Add("permute").Add(along).Add(to).Add(self).value(), [&] {
    CheckPermutation(to, ranks);
    out = at::empty(self.sizes(), self.options()).zero_();
    backend = ChooseBackend(agreement, self.contiguous(), out, false);
  });
  backend->Permute(to);
  return out;
}

void AddKernels(torch::Library& library) {
  library.impl("all_reduce", &AllReduce);
  library.impl("all_gather", &AllGather);
  library.impl("reduce_scatter", &ReduceScatter);
  library.impl("all_to_all", &AllToAll);
  library.impl("broadcast", &Broadcast);
  library.impl("reduce_to", &ReduceTo);
  library.impl("permute", &Permute);
}

}  // namespace

TORCH_LIBRARY_IMPL(viceroy, CPU, library) {
  AddKernels(library);
}

// Registered also if this libtorch has no CUDA. The dispatch key exists, but is not used then.
TORCH_LIBRARY_IMPL(viceroy, CUDA, library) {
  AddKernels(library);
}
