#include "collectives/partition.h"

#include <ATen/ops/add.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/mul.h>

#include <cstring>

namespace {

at::Tensor ElementsAt(const uint8_t* data, size_t bytes, c10::ScalarType dtype) {
  // The tensor is not written to if the caller passed constant memory.
  return at::from_blob(const_cast<uint8_t*>(data), {static_cast<int64_t>(bytes / c10::elementSize(dtype))},
                       at::TensorOptions().dtype(dtype));
}

/** Reduces two arrays of elements into a third one. `into` may be equal to `a` or `b`. */
void ReduceElements(Reduction reduction, c10::ScalarType dtype, uint8_t* into, const uint8_t* a, const uint8_t* b,
                    size_t bytes) {
  at::Tensor result = ElementsAt(into, bytes, dtype);
  const at::Tensor left = ElementsAt(a, bytes, dtype);
  const at::Tensor right = ElementsAt(b, bytes, dtype);
  switch (reduction) {
    case Reduction::sum:
    case Reduction::avg:
      at::add_out(result, left, right);
      break;
    case Reduction::prod:
      at::mul_out(result, left, right);
      break;
    case Reduction::max:
      at::maximum_out(result, left, right);
      break;
    case Reduction::min:
      at::minimum_out(result, left, right);
      break;
  }
}

}  // namespace

void ReduceFromPeers(const CollectiveAgreement& agreement, const std::vector<Send>& sends, Reduction reduction,
                     c10::ScalarType dtype, const uint8_t* own, size_t bytes, uint8_t* out) {
  const Group& group = agreement.group();
  std::vector<Receive> receives;
  for (size_t i = 1; i < group.size(); i++)
    receives.push_back({group.members[(group.index + i) % group.size()], nullptr, bytes});
  if (receives.empty()) std::memcpy(out, own, bytes);
  agreement.communicator().ExchangeInPieces(
      sends, receives, [&](size_t index, size_t offset, const uint8_t* data, size_t length) {
        ReduceElements(reduction, dtype, out + offset, (index == 0 ? own : out) + offset, data, length);
      });
  if (reduction == Reduction::avg && bytes > 0) ElementsAt(out, bytes, dtype).div_(static_cast<double>(group.size()));
}

void ReduceScatterParts(const CollectiveAgreement& agreement, Reduction reduction, c10::ScalarType dtype,
                        const uint8_t* in, const Partition& partition, uint8_t* out) {
  const Group& group = agreement.group();
  std::vector<Send> sends;
  for (size_t i = 0; i < group.size(); i++) {
    if (i != group.index) sends.push_back({group.members[i], in + partition.Begin(i), partition.Length(i)});
  }
  ReduceFromPeers(agreement, sends, reduction, dtype, in + partition.Begin(group.index), partition.Length(group.index),
                  out);
}

void AllGatherParts(const CollectiveAgreement& agreement, const Partition& partition, uint8_t* out) {
  const Group& group = agreement.group();
  std::vector<Send> sends;
  std::vector<Receive> receives;
  for (size_t i = 0; i < group.size(); i++) {
    if (i == group.index) continue;
    sends.push_back({group.members[i], out + partition.Begin(group.index), partition.Length(group.index)});
    receives.push_back({group.members[i], out + partition.Begin(i), partition.Length(i)});
  }
  agreement.communicator().Exchange(sends, receives);
}
