/** A hash of a collective operation and its arguments, by which the processes of a group check that all of them execute
 * the same operation. */
#pragma once
#include <string>

#include "libtorch/torch.h"

/** Computes the hash (FNV-1a, 64 bits) of the data that is added. */
class Signature {
 public:
  Signature& Add(const void* data, size_t length) {
    for (size_t i = 0; i < length; i++) value_ = (value_ ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001b3;
    return *this;
  }
  Signature& Add(const std::string& text) {
    return Add(text.data(), text.size()).Add(static_cast<int64_t>(text.size()));
  }
  Signature& Add(int64_t number) { return Add(&number, sizeof number); }
  Signature& Add(at::IntArrayRef numbers) {
    return Add(numbers.data(), numbers.size() * sizeof(int64_t)).Add(static_cast<int64_t>(numbers.size()));
  }
  /** Adds the shape and the type of the elements. */
  Signature& Add(const at::Tensor& tensor) {
    return Add(tensor.sizes()).Add(static_cast<int64_t>(tensor.scalar_type()));
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};
