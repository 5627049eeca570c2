#include "moving.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>

#include <cstring>

namespace {

at::Tensor Over(const uint8_t* data, size_t bytes, c10::ScalarType dtype) {
  // What is only read is not written to.
  return at::from_blob(const_cast<uint8_t*>(data), {static_cast<int64_t>(bytes / c10::elementSize(dtype))}, at::TensorOptions().dtype(dtype));
}

}  // namespace

void Combine(Reduction reduction, c10::ScalarType dtype, uint8_t* into, const uint8_t* data, size_t bytes) {
  at::Tensor result = Over(into, bytes, dtype);
  const at::Tensor other = Over(data, bytes, dtype);
  switch (reduction) {
    case Reduction::sum:
    case Reduction::avg:
      result.add_(other);
      break;
    case Reduction::prod:
      result.mul_(other);
      break;
    case Reduction::max:
      at::maximum_out(result, result, other);
      break;
    case Reduction::min:
      at::minimum_out(result, result, other);
      break;
  }
}

void CombineParts(const Together& together, Reduction reduction, c10::ScalarType dtype, const uint8_t* in, const Parts& parts, uint8_t* out) {
  const Group& group = together.group();
  std::vector<Departure> departures;
  std::vector<Arrival> arrivals;
  const size_t bytes = parts.Length(group.index);
  for (size_t i = 0; i < group.size(); i++) {
    const bool own = i == group.index;
    arrivals.push_back({group.members[i], bytes, nullptr, own ? in + parts.Begin(i) : nullptr});
    if (!own) departures.push_back({group.members[i], in + parts.Begin(i), parts.Length(i)});
  }
  together.lines().Fold(departures, arrivals, [&](size_t index, size_t offset, const uint8_t* data, size_t length) {
    if (index == 0) {
      std::memcpy(out + offset, data, length);
    } else {
      Combine(reduction, dtype, out + offset, data, length);
    }
  });
  if (reduction == Reduction::avg && bytes > 0) Over(out, bytes, dtype).div_(static_cast<double>(group.size()));
}

void SpreadParts(const Together& together, const Parts& parts, uint8_t* out) {
  const Group& group = together.group();
  std::vector<Departure> departures;
  std::vector<Arrival> arrivals;
  for (size_t i = 0; i < group.size(); i++) {
    if (i == group.index) continue;
    departures.push_back({group.members[i], out + parts.Begin(group.index), parts.Length(group.index)});
    arrivals.push_back({group.members[i], parts.Length(i), out + parts.Begin(i), nullptr});
  }
  together.lines().Exchange(departures, arrivals);
}
