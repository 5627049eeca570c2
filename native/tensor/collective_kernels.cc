/** Operations between processes as a worker executes them (collectives.h): which elements go where, and how they are combined. */
#include <ATen/ops/zeros.h>

#include <cstring>

#include "collectives.h"
#include "moving.h"

namespace {

using at::IntArrayRef;
using c10::string_view;

/** What each process of a group combines at a time. */
constexpr size_t kBlock = 512 << 10;

uint8_t* BytesIn(const at::Tensor& tensor) {
  return static_cast<uint8_t*>(tensor.data_ptr());
}

/** Of no bytes, neither is asked where it is: tensors without elements are nowhere. */
void CopyBytes(uint8_t* to, const uint8_t* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

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
  at::Tensor in;
  at::Tensor out;
  Reduction reduction{};
  together.Begin(Signature().Add("all_reduce").Add(along).Add(text).Add(self).value(), [&] {
    reduction = ReductionOf(text, self.scalar_type());
    in = self.contiguous();
    out = at::empty(self.sizes(), self.options());
  });
  const Group& group = together.group();
  // Within a machine what has been combined is passed on while the processor's caches have it; the network is given all at once.
  const size_t block = together.lines().shares(group.members) ? kBlock * group.size() : std::max<size_t>(in.nbytes(), 1);
  for (size_t at = 0; at < in.nbytes(); at += block) {
    const Parts parts = Parts::Aligned(std::min(block, in.nbytes() - at), group.size());
    CombineParts(together, reduction, self.scalar_type(), BytesIn(in) + at, parts, BytesIn(out) + at + parts.Begin(group.index));
    SpreadParts(together, parts, BytesIn(out) + at);
  }
  return out;
}

at::Tensor AllGather(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t dim) {
  const Together together(along, ranks);
  at::Tensor in;
  at::Tensor out;
  together.Begin(Signature().Add("all_gather").Add(along).Add(dim).Add(self).value(), [&] {
    in = Outermost(self, dim);
    out = EmptyOf(in, in.size(0) * ranks);
  });
  const Parts parts = Parts::Equal(out.nbytes(), together.group().size());
  CopyBytes(BytesIn(out) + parts.Begin(together.group().index), BytesIn(in), in.nbytes());
  SpreadParts(together, parts, BytesIn(out));
  return Back(out, dim);
}

at::Tensor ReduceScatter(const at::Tensor& self, IntArrayRef along, int64_t ranks, string_view name, int64_t dim) {
  const Together together(along, ranks);
  const std::string text(name);
  at::Tensor in;
  at::Tensor out;
  Reduction reduction{};
  together.Begin(Signature().Add("reduce_scatter").Add(along).Add(text).Add(dim).Add(self).value(), [&] {
    reduction = ReductionOf(text, self.scalar_type());
    in = Outermost(self, dim);
    out = EmptyOf(in, PartOf(self, dim, ranks));
  });
  CombineParts(together, reduction, self.scalar_type(), BytesIn(in), Parts::Equal(in.nbytes(), together.group().size()), BytesIn(out));
  return Back(out, dim);
}

at::Tensor AllToAll(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t dim) {
  const Together together(along, ranks);
  at::Tensor in;
  at::Tensor out;
  together.Begin(Signature().Add("all_to_all").Add(along).Add(dim).Add(self).value(), [&] {
    PartOf(self, dim, ranks);
    in = Outermost(self, dim);
    out = at::empty_like(in);
  });
  const Group& group = together.group();
  const Parts parts = Parts::Equal(in.nbytes(), group.size());
  CopyBytes(BytesIn(out) + parts.Begin(group.index), BytesIn(in) + parts.Begin(group.index), parts.Length(group.index));
  std::vector<Departure> departures;
  std::vector<Arrival> arrivals;
  for (size_t i = 0; i < group.size(); i++) {
    if (i == group.index) continue;
    departures.push_back({group.members[i], BytesIn(in) + parts.Begin(i), parts.Length(i)});
    arrivals.push_back({group.members[i], BytesIn(out) + parts.Begin(i), parts.Length(i)});
  }
  together.lines().Exchange(departures, arrivals);
  return Back(out, dim);
}

at::Tensor Broadcast(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t index) {
  const Together together(along, ranks);
  at::Tensor in;
  at::Tensor out;
  together.Begin(Signature().Add("broadcast").Add(along).Add(index).Add(self).value(), [&] {
    CheckIndex(index, ranks);
    in = self.contiguous();
    out = at::empty(self.sizes(), self.options());
  });
  const Group& group = together.group();
  const auto from = static_cast<size_t>(index);
  if (group.index != from) {
    together.lines().Exchange({}, {{group.members[from], BytesIn(out), out.nbytes()}});
    return out;
  }
  std::vector<Departure> departures;
  for (size_t i = 0; i < group.size(); i++) {
    if (i != from) departures.push_back({group.members[i], BytesIn(in), in.nbytes()});
  }
  together.lines().Exchange(departures, {});
  out.copy_(in);
  return out;
}

at::Tensor ReduceTo(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t index) {
  const Together together(along, ranks);
  at::Tensor in;
  at::Tensor out;
  together.Begin(Signature().Add("reduce_to").Add(along).Add(index).Add(self).value(), [&] {
    CheckIndex(index, ranks);
    ReductionOf("sum", self.scalar_type());
    in = self.contiguous();
    out = at::zeros(self.sizes(), self.options());
  });
  // One part has everything, others nothing.
  const Group& group = together.group();
  const auto to = static_cast<size_t>(index);
  if (group.index != to) {
    together.lines().Exchange({{group.members[to], BytesIn(in), in.nbytes()}}, {});
    return out;
  }
  Combined(together, {}, Reduction::sum, self.scalar_type(), BytesIn(in), in.nbytes(), BytesIn(out));
  return out;
}

at::Tensor Permute(const at::Tensor& self, IntArrayRef along, int64_t ranks, IntArrayRef to) {
  const Together together(along, ranks);
  at::Tensor in;
  at::Tensor out;
  together.Begin(Signature().Add("permute").Add(along).Add(to).Add(self).value(), [&] {
    CheckPermutation(to, ranks);
    in = self.contiguous();
    out = at::empty(self.sizes(), self.options()).zero_();
  });
  const Group& group = together.group();
  std::vector<Departure> departures;
  std::vector<Arrival> arrivals;
  const auto own = static_cast<int64_t>(group.index);
  for (size_t i = 0; i < group.size(); i++) {
    const auto other = static_cast<int64_t>(i);
    if (to[i] == own && other == own) out.copy_(in);
    if (to[i] == own && other != own) arrivals.push_back({group.members[i], BytesIn(out), out.nbytes()});
    if (to[group.index] == other && other != own) departures.push_back({group.members[i], BytesIn(in), in.nbytes()});
  }
  together.lines().Exchange(departures, arrivals);
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(viceroy, CPU, library) {
  library.impl("all_reduce", &AllReduce);
  library.impl("all_gather", &AllGather);
  library.impl("reduce_scatter", &ReduceScatter);
  library.impl("all_to_all", &AllToAll);
  library.impl("broadcast", &Broadcast);
  library.impl("reduce_to", &ReduceTo);
  library.impl("permute", &Permute);
}
