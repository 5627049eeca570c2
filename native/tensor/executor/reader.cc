#include "executor/reader.h"

#include "libtorch/dtype.h"

at::Tensor Reader::Constant() {
  const auto dtype = Get<uint8_t>();
  if (!IsDtype(dtype)) throw std::runtime_error("a constant has an unknown dtype");
  const bool wrapped = Boolean();
  const auto dimensions = Get<uint8_t>();
  if (dimensions > 64 || (wrapped && dimensions > 0)) throw std::runtime_error("a constant has too many dimensions");
  uint64_t bytes = c10::elementSize(static_cast<c10::ScalarType>(dtype));
  std::vector<int64_t> sizes;
  for (int i = 0; i < dimensions; i++) {
    sizes.push_back(Get<int64_t>());
    // The sizes are limited even if one of them is 0, so that products of sizes do not overflow.
    if (sizes.back() < 0 || sizes.back() > (int64_t{1} << 32))
      throw std::runtime_error("a constant has an invalid size");
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(sizes.back()), &bytes))
      throw std::runtime_error("a constant has an invalid size");
  }
  const uint32_t length = Count(1);
  if (length != bytes) throw std::runtime_error("the length of a constant does not match its shape");
  at::Tensor tensor = at::empty(sizes, at::TensorOptions().dtype(static_cast<c10::ScalarType>(dtype)));
  const uint8_t* elements = Skip(length);
  if (length > 0) std::memcpy(tensor.data_ptr(), elements, length);
  if (dtype == static_cast<uint8_t>(c10::ScalarType::Bool)) {
    for (uint32_t i = 0; i < length; i++) {
      if (elements[i] > 1) throw std::runtime_error("a boolean is neither 0 nor 1");
    }
  }
  if (wrapped) tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}
