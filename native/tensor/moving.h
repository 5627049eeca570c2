/** How elements move between the processes of a group, and become one: what operations between them have in common. */
#pragma once
#include <algorithm>
#include <string>

#include "collectives.h"
#include "together.h"

/** What all processes of a group have to say the same. */
class Signature {
 public:
  Signature& Add(const void* data, size_t length) {
    for (size_t i = 0; i < length; i++) value_ = (value_ ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001b3;
    return *this;
  }
  Signature& Add(const std::string& text) { return Add(text.data(), text.size()).Add(static_cast<int64_t>(text.size())); }
  Signature& Add(int64_t number) { return Add(&number, sizeof number); }
  Signature& Add(at::IntArrayRef numbers) { return Add(numbers.data(), numbers.size() * sizeof(int64_t)).Add(static_cast<int64_t>(numbers.size())); }
  /** Shape and type of elements. */
  Signature& Add(const at::Tensor& tensor) { return Add(tensor.sizes()).Add(static_cast<int64_t>(tensor.scalar_type())); }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

/** Where each process's part of some elements is, in bytes. Parts begin where the cache of a processor has lines. */
struct Parts {
  size_t bytes;
  size_t step;

  size_t Begin(size_t index) const { return std::min(index * step, bytes); }
  size_t Length(size_t index) const { return Begin(index + 1) - Begin(index); }
  /** Of one length each. */
  static Parts Equal(size_t bytes, size_t count) { return {bytes, bytes / count}; }
  static Parts Aligned(size_t bytes, size_t count) {
    const size_t step = (bytes + count - 1) / count;
    return {bytes, (step + SharedLines::kAlign - 1) / SharedLines::kAlign * SharedLines::kAlign};
  }
};

/**
 * What this process has, combined with as much from each other one: its own first, then theirs in the order of the group, from the next one on.
 * @param departures what goes to others meanwhile
 */
void Combined(const Together& together, const std::vector<Departure>& departures, Reduction reduction, c10::ScalarType dtype,
              const uint8_t* own, size_t bytes, uint8_t* out);
/** This process's part of what all have. */
void CombineParts(const Together& together, Reduction reduction, c10::ScalarType dtype, const uint8_t* in, const Parts& parts, uint8_t* out);
/** All get the parts of all. */
void SpreadParts(const Together& together, const Parts& parts, uint8_t* out);
