#include "libtorch/dtype.h"

#include <cstring>
#include <utility>

namespace {

struct NamedDtype {
  const char* name;
  c10::ScalarType dtype;
};

constexpr NamedDtype kDtypes[] = {
    {"float32", c10::ScalarType::Float},
    {"float64", c10::ScalarType::Double},
    {"float16", c10::ScalarType::Half},
    {"bfloat16", c10::ScalarType::BFloat16},
    {"int8", c10::ScalarType::Char},
    {"uint8", c10::ScalarType::Byte},
    {"int16", c10::ScalarType::Short},
    {"int32", c10::ScalarType::Int},
    {"int64", c10::ScalarType::Long},
    {"bool", c10::ScalarType::Bool},
    {"complex64", c10::ScalarType::ComplexFloat},
    {"complex128", c10::ScalarType::ComplexDouble},
};

}  // namespace

c10::ScalarType DtypeOf(const std::string& name) {
  for (const auto& known : kDtypes) {
    if (name == known.name) return known.dtype;
  }
  return c10::ScalarType::Undefined;
}

const char* DtypeName(c10::ScalarType dtype) {
  for (const auto& known : kDtypes) {
    if (dtype == known.dtype) return known.name;
  }
  return c10::toString(dtype);
}

const std::string& DtypeNames() {
  static const std::string names = [] {
    std::string text;
    for (const auto& known : kDtypes) {
      if (!text.empty()) text += ", ";
      text += known.name;
    }
    return text;
  }();
  return names;
}

bool IsDtype(int64_t number) {
  for (const auto& known : kDtypes) {
    if (number == static_cast<int64_t>(known.dtype)) return true;
  }
  return false;
}
