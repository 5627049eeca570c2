/** Writes commands (commands/format.h). */
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "commands/format.h"
#include "libtorch/torch.h"

class Writer {
 public:
  template <class T>
  void Put(T value) {
    static_assert(std::is_trivially_copyable<T>::value, "");
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(&bytes_[at], &value, sizeof(T));
  }
  void Text(const std::string& text);
  /**
   * Writes an argument.
   * @throws c10::Error if the argument cannot be sent
   */
  void Argument(const c10::IValue& value);
  /** Writes a tensor of this process with its elements. */
  void Constant(const at::Tensor& tensor);
  void Reference(uint64_t number) {
    if (references_ != nullptr) references_->push_back(bytes_.size());
    Put(number);
  }
  void References(const std::vector<uint64_t>& numbers) {
    Count(numbers.size());
    for (const uint64_t number : numbers) Reference(number);
  }
  void Bytes(const std::vector<uint8_t>& bytes) {
    Count(bytes.size());
    Append(bytes);
  }
  /** Writes bytes without their number. */
  void Append(const std::vector<uint8_t>& bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void Count(size_t count) { Put(static_cast<uint32_t>(count)); }
  /** Adds the offset of each reference that is written from now on to a list. */
  void NoteReferences(std::vector<size_t>* offsets) { references_ = offsets; }

  size_t size() const { return bytes_.size(); }
  /** Removes everything from an offset on. */
  void Truncate(size_t size) { bytes_.resize(size); }
  std::vector<uint8_t> Take() {
    std::vector<uint8_t> taken;
    taken.swap(bytes_);
    return taken;
  }

 private:
  void Tensor(const at::Tensor& tensor);
  void Scalar(const c10::IValue& value);

  std::vector<uint8_t> bytes_;
  std::vector<size_t>* references_ = nullptr;
};
