/**
 * Reads the parts of commands. Never reads beyond the end, and never allocates more memory than the input justifies.
 */
#pragma once
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtorch/torch.h"

class Reader {
 public:
  explicit Reader(const std::vector<uint8_t>& bytes) : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}

  bool done() const { return at_ == end_; }
  size_t position() const { return static_cast<size_t>(at_ - begin_); }

  template <class T>
  T Get() {
    T value;
    std::memcpy(&value, Skip(sizeof(T)), sizeof(T));
    return value;
  }
  bool Boolean() {
    const auto byte = Get<uint8_t>();
    if (byte > 1) throw std::runtime_error("a boolean is neither 0 nor 1");
    return byte == 1;
  }
  /** Reads a count of entries that have at least `bytes` bytes each. */
  uint32_t Count(size_t bytes) {
    const auto count = Get<uint32_t>();
    if (count > static_cast<size_t>(end_ - at_) / bytes)
      throw std::runtime_error("a count exceeds the remaining bytes");
    return count;
  }
  std::string Text() {
    const uint32_t length = Count(1);
    auto text = reinterpret_cast<const char*>(Skip(length));
    return {text, length};
  }
  template <class T>
  std::vector<T> List() {
    std::vector<T> values(Count(sizeof(T)));
    if (!values.empty()) std::memcpy(values.data(), Skip(values.size() * sizeof(T)), values.size() * sizeof(T));
    return values;
  }
  /** Reads a tensor, and copies its elements. */
  at::Tensor Constant();

 private:
  const uint8_t* Skip(size_t length) {
    if (length > static_cast<size_t>(end_ - at_)) throw std::runtime_error("it is incomplete");
    const uint8_t* skipped = at_;
    at_ += length;
    return skipped;
  }

  const uint8_t* begin_;
  const uint8_t* at_;
  const uint8_t* end_;
};
