/** Writes commands (commands.h). */
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "commands.h"
#include "torch.h"

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
  /** An argument. @throws c10::Error for what cannot be sent */
  void Argument(const c10::IValue& value);
  /** A tensor of this process, by its elements. */
  void Constant(const at::Tensor& tensor);

  size_t size() const { return bytes_.size(); }
  /** Forgets what was written from there on. */
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
