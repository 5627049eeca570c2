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

  size_t size() const { return bytes_.size(); }
  /** Removes everything from an offset on. */
  void Truncate(size_t size) { bytes_.resize(size); }
  std::vector<uint8_t> Take() {
    std::vector<uint8_t> taken;
    taken.swap(bytes_);
    return taken;
  }

 private:
  void Count(size_t count) { Put(static_cast<uint32_t>(count)); }
  void Tensor(const at::Tensor& tensor);
  void Scalar(const c10::IValue& value);

  std::vector<uint8_t> bytes_;
};
