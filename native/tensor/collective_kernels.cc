/** Operations between processes as a worker executes them (collectives.h): what takes part in each, and what it becomes. How elements move: carrier.h. */
#include <ATen/ops/zeros.h>

#include "carrier.h"
#include "moving.h"

namespace {

using at::IntArrayRef;
using c10::string_view;

/** Elements in the order in which parts of a dimension are cut, and back. */
at::Tensor Outermost(const at::Tensor& self, int64_t dim) {
  return self.movedim(DimOf(self, dim), 0).contiguous();
}

at::Tensor Back(const at::Tensor& outermost, int64_t dim) {
  return outermost.movedim(0, dim < 0 ? dim + outermost.dim() : dim).contiguous();
}

at::Tensor EmptyOf(const at::Tensor& outermost, int64_t size) {
  auto sizes = outermost.sizes().vec();
  sizes[0] = size;
  return at::empty(sizes, outermost.options());
}

at::Tensor AllReduce(const at::Tensor& self, IntArrayRef along, int64_t ranks, string_view name) {
  const Together together(along, ranks);
  const std::string text(name);
  at::Tensor out;
  std::unique_ptr<Carrier> carrier;
  Reduction reduction{};
  together.Begin(Signature().Add("all_reduce").Add(along).Add(text).Add(self).value(), [&] {
    reduction = ReductionOf(text, self.scalar_type());
    out = at::empty(self.sizes(), self.options());
    carrier = CarrierFor(together, self.contiguous(), out, true);
  });
  carrier->AllReduce(reduction);
  return out;
}

at::Tensor AllGather(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t dim) {
  const Together together(along, ranks);
  at::Tensor out;
  std::unique_ptr<Carrier> carrier;
  together.Begin(Signature().Add("all_gather").Add(along).Add(dim).Add(self).value(), [&] {
    const at::Tensor in = Outermost(self, dim);
    out = EmptyOf(in, in.size(0) * ranks);
    carrier = CarrierFor(together, in, out, false);
  });
  carrier->AllGather();
  return Back(out, dim);
}

at::Tensor ReduceScatter(const at::Tensor& self, IntArrayRef along, int64_t ranks, string_view name, int64_t dim) {
  const Together together(along, ranks);
  const std::string text(name);
  at::Tensor out;
  std::unique_ptr<Carrier> carrier;
  Reduction reduction{};
  together.Begin(Signature().Add("reduce_scatter").Add(along).Add(text).Add(dim).Add(self).value(), [&] {
    reduction = ReductionOf(text, self.scalar_type());
    const at::Tensor in = Outermost(self, dim);
    out = EmptyOf(in, PartOf(self, dim, ranks));
    carrier = CarrierFor(together, in, out, true);
  });
  carrier->ReduceScatter(reduction);
  return Back(out, dim);
}

at::Tensor AllToAll(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t dim) {
  const Together together(along, ranks);
  at::Tensor out;
  std::unique_ptr<Carrier> carrier;
  together.Begin(Signature().Add("all_to_all").Add(along).Add(dim).Add(self).value(), [&] {
    PartOf(self, dim, ranks);
    const at::Tensor in = Outermost(self, dim);
    out = at::empty_like(in);
    carrier = CarrierFor(together, in, out, false);
  });
  carrier->AllToAll();
  return Back(out, dim);
}

at::Tensor Broadcast(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t index) {
  const Together together(along, ranks);
  at::Tensor out;
  std::unique_ptr<Carrier> carrier;
  together.Begin(Signature().Add("broadcast").Add(along).Add(index).Add(self).value(), [&] {
    CheckIndex(index, ranks);
    out = at::empty(self.sizes(), self.options());
    carrier = CarrierFor(together, self.contiguous(), out, false);
  });
  carrier->Broadcast(static_cast<size_t>(index));
  return out;
}

at::Tensor ReduceTo(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t index) {
  const Together together(along, ranks);
  at::Tensor out;
  std::unique_ptr<Carrier> carrier;
  together.Begin(Signature().Add("reduce_to").Add(along).Add(index).Add(self).value(), [&] {
    CheckIndex(index, ranks);
    ReductionOf("sum", self.scalar_type());
    out = at::zeros(self.sizes(), self.options());
    carrier = CarrierFor(together, self.contiguous(), out, true);
  });
  carrier->ReduceTo(static_cast<size_t>(index));
  return out;
}

at::Tensor Permute(const at::Tensor& self, IntArrayRef along, int64_t ranks, IntArrayRef to) {
  const Together together(along, ranks);
  at::Tensor out;
  std::unique_ptr<Carrier> carrier;
  together.Begin(Signature().Add("permute").Add(along).Add(to).Add(self).value(), [&] {
    CheckPermutation(to, ranks);
    out = at::empty(self.sizes(), self.options()).zero_();
    carrier = CarrierFor(together, self.contiguous(), out, false);
  });
  carrier->Permute(to);
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

// Also where this libtorch has no CUDA: the key is there, and nothing asks for it.
TORCH_LIBRARY_IMPL(viceroy, CUDA, library) {
  AddKernels(library);
}
