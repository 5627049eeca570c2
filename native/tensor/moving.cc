#include "moving.h"

#include <ATen/ops/add.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/mul.h>

#include <cstring>

namespace {

at::Tensor Over(const uint8_t* data, size_t bytes, c10::ScalarType dtype) {
  // What is only read is not written to.
  return at::from_blob(const_cast<uint8_t*>(data), {static_cast<int64_t>(bytes / c10::elementSize(dtype))}, at::TensorOptions().dtype(dtype));
}

/** `into` may be one of the others. */
void Combine(Reduction reduction, c10::ScalarType dtype, uint8_t* into, const uint8_t* a, const uint8_t* b, size_t bytes) {
  at::Tensor result = Over(into, bytes, dtype);
  const at::Tensor left = Over(a, bytes, dtype);
  const at::Tensor right = Over(b, bytes, dtype);
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

void Combined(const Together& together, const std::vector<Departure>& departures, Reduction reduction, c10::ScalarType dtype,
              const uint8_t* own, size_t bytes, uint8_t* out) {
  const Group& group = together.group();
  std::vector<Arrival> arrivals;
  for (size_t i = 1; i < group.size(); i++) arrivals.push_back({group.members[(group.index + i) % group.size()], nullptr, bytes});
  if (arrivals.empty()) std::memcpy(out, own, bytes);
  together.lines().Fold(departures, arrivals, [&](size_t index, size_t offset, const uint8_t* data, size_t length) {
    Combine(reduction, dtype, out + offset, (index == 0 ? own : out) + offset, data, length);
  });
  if (reduction == Reduction::avg && bytes > 0) Over(out, bytes, dtype).div_(static_cast<double>(group.size()));
}

void CombineParts(const Together& together, Reduction reduction, c10::ScalarType dtype, const uint8_t* in, const Parts& parts, uint8_t* out) {
  const Group& group = together.group();
  std::vector<Departure> departures;
  for (size_t i = 0; i < group.size(); i++) {
    if (i != group.index) departures.push_back({group.members[i], in + parts.Begin(i), parts.Length(i)});
  }
  Combined(together, departures, reduction, dtype, in + parts.Begin(group.index), parts.Length(group.index), out);
}

void SpreadParts(const Together& together, const Parts& parts, uint8_t* out) {
  const Group& group = together.group();
  std::vector<Departure> departures;
  std::vector<Arrival> arrivals;
  for (size_t i = 0; i < group.size(); i++) {
    if (i == group.index) continue;
    departures.push_back({group.members[i], out + parts.Begin(group.index), parts.Length(group.index)});
    arrivals.push_back({group.members[i], out + parts.Begin(i), parts.Length(i)});
  }
  together.lines().Exchange(departures, arrivals);
}
