#include "binding/convert.h"

#include <cmath>

#include "binding/tensor.h"
#include "libtorch/dtype.h"

namespace {

constexpr double kMaxSafeInteger = 9007199254740992.0;

bool IsNullish(const Passed& given) {
  return given.type == napi_undefined || given.type == napi_null;
}

/**
 * Stores the description of the expected value.
 * @returns false, so that a caller can return the result directly
 */
bool Expected(std::string* expected, const char* what) {
  if (expected != nullptr) *expected = what;
  return false;
}

bool Integer(Napi::Env env, const Passed& given, int64_t& result) {
  if (given.type == napi_bigint) {
    bool lossless = false;
    return napi_get_value_bigint_int64(env, given.value, &result, &lossless) == napi_ok && lossless;
  }
  double number = 0;
  if (given.type != napi_number || napi_get_value_double(env, given.value, &number) != napi_ok) return false;
  if (!(std::fabs(number) < kMaxSafeInteger) || number != std::trunc(number)) return false;
  result = static_cast<int64_t>(number);
  return true;
}

/** Reads the number of an object `{ float: 2 }`. */
bool UnwrapFloat(Napi::Env env, const Passed& given, double& result) {
  napi_value inner = nullptr;
  napi_valuetype type = napi_undefined;
  bool has = false;
  if (napi_has_named_property(env, given.value, "float", &has) != napi_ok || !has) return false;
  if (napi_get_named_property(env, given.value, "float", &inner) != napi_ok) return false;
  if (napi_typeof(env, inner, &type) != napi_ok || type != napi_number) return false;
  return napi_get_value_double(env, inner, &result) == napi_ok;
}

bool Real(Napi::Env env, const Passed& given, double& result) {
  if (given.type == napi_number) return napi_get_value_double(env, given.value, &result) == napi_ok;
  return given.type == napi_object && given.box == nullptr && UnwrapFloat(env, given, result);
}

bool Boolean(Napi::Env env, const Passed& given, bool& result) {
  return given.type == napi_boolean && napi_get_value_bool(env, given.value, &result) == napi_ok;
}

bool Scalar(Napi::Env env, const Passed& given, at::Scalar& result) {
  int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  if (Boolean(env, given, boolean)) {
    result = boolean;
  } else if (Integer(env, given, integer)) {
    result = integer;
  } else if (Real(env, given, real)) {
    result = real;
  } else {
    return false;
  }
  return true;
}

bool Text(Napi::Env env, const Passed& given, std::string& result) {
  if (given.type != napi_string) return false;
  result = Napi::String(env, given.value).Utf8Value();
  return true;
}

bool Tensor(const Passed& given, at::Tensor& result) {
  if (given.box == nullptr) return false;
  result = given.box->tensor;
  return true;
}

/** Converts the name of a dtype, a layout or a memory format to the number that libtorch uses. */
bool ConvertName(Kind kind, const std::string& name, c10::IValue& result, std::string* expected) {
  struct Choice {
    const char* name;
    int64_t number;
  };
  static constexpr Choice layouts[] = {{"strided", static_cast<int64_t>(c10::kStrided)},
                                       {"sparse_coo", static_cast<int64_t>(c10::kSparse)}};
  static constexpr Choice formats[] = {{"contiguous", static_cast<int64_t>(c10::MemoryFormat::Contiguous)},
                                       {"preserve", static_cast<int64_t>(c10::MemoryFormat::Preserve)},
                                       {"channels_last", static_cast<int64_t>(c10::MemoryFormat::ChannelsLast)},
                                       {"channels_last_3d", static_cast<int64_t>(c10::MemoryFormat::ChannelsLast3d)}};
  const auto choose = [&](const Choice* begin, const Choice* end) {
    std::string names = "one of";
    for (const Choice* choice = begin; choice != end; choice++) {
      if (name == choice->name) {
        result = choice->number;
        return true;
      }
      names += std::string(choice == begin ? " " : ", ") + choice->name;
    }
    return Expected(expected, names.c_str());
  };
  if (kind == Kind::layout) return choose(std::begin(layouts), std::end(layouts));
  if (kind == Kind::memoryFormat) return choose(std::begin(formats), std::end(formats));
  const c10::ScalarType dtype = DtypeOf(name);
  result = static_cast<int64_t>(dtype);
  return dtype != c10::ScalarType::Undefined || Expected(expected, ("one of " + DtypeNames()).c_str());
}

bool ConvertOne(Napi::Env env, const Passed& given, Kind kind, c10::IValue& result, std::string* expected) {
  at::Tensor tensor;
  int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::string text;
  at::Scalar scalar;
  switch (kind) {
    case Kind::tensor:
      if (!Tensor(given, tensor)) {
        const bool disposed = expected != nullptr && IsDisposedTensor(env, given.value);
        return Expected(expected, disposed ? "a tensor that has not been disposed of" : "a tensor");
      }
      result = std::move(tensor);
      return true;
    case Kind::integer:
      if (!Integer(env, given, integer)) return Expected(expected, "an integer");
      result = integer;
      return true;
    case Kind::real:
      if (!Real(env, given, real)) return Expected(expected, "a number");
      result = real;
      return true;
    case Kind::boolean:
      if (!Boolean(env, given, boolean)) return Expected(expected, "a boolean");
      result = boolean;
      return true;
    case Kind::scalar:
      if (!Scalar(env, given, scalar)) return Expected(expected, "a number");
      result = scalar;
      return true;
    case Kind::text:
      if (!Text(env, given, text)) return Expected(expected, "a string");
      result = std::move(text);
      return true;
    case Kind::device:
      if (!Text(env, given, text) || text != "cpu") return Expected(expected, "\"cpu\"");
      result = c10::Device(c10::DeviceType::CPU);
      return true;
    case Kind::dtype:
    case Kind::layout:
    case Kind::memoryFormat:
      // No choice has an empty name, so a value that is not a string yields the list of choices.
      Text(env, given, text);
      return ConvertName(kind, text, result, expected);
    default:
      return Expected(expected, "nothing: it cannot be given");
  }
}

template <class T, class Element>
bool ListOf(Napi::Env env, napi_value value, c10::IValue& result, const Element& element) {
  c10::List<T> list;
  uint32_t length = 0;
  napi_get_array_length(env, value, &length);
  list.reserve(length);
  for (uint32_t i = 0; i < length; i++) {
    napi_value entry = nullptr;
    T converted{};
    if (napi_get_element(env, value, i, &entry) != napi_ok || !element(PassedOf(env, entry), converted)) return false;
    list.push_back(std::move(converted));
  }
  result = std::move(list);
  return true;
}

bool ConvertList(Napi::Env env, napi_value value, const Parameter& parameter, c10::IValue& result,
                 std::string* expected) {
  switch (parameter.kind) {
    case Kind::tensor: {
      const bool fits =
          !parameter.optionalElements
              ? ListOf<at::Tensor>(env, value, result,
                                   [](const Passed& entry, at::Tensor& tensor) { return Tensor(entry, tensor); })
              : ListOf<Optional<at::Tensor>>(env, value, result, [](const Passed& entry, Optional<at::Tensor>& tensor) {
                  at::Tensor found;
                  if (IsNullish(entry)) return true;
                  if (!Tensor(entry, found)) return false;
                  tensor = std::move(found);
                  return true;
                });
      return fits || Expected(expected, "an array of tensors");
    }
    case Kind::integer:
      return ListOf<int64_t>(env, value, result,
                             [&](const Passed& entry, int64_t& number) { return Integer(env, entry, number); }) ||
             Expected(expected, "an array of integers");
    case Kind::real:
      return ListOf<double>(env, value, result,
                            [&](const Passed& entry, double& number) { return Real(env, entry, number); }) ||
             Expected(expected, "an array of numbers");
    case Kind::boolean:
      return ListOf<bool>(env, value, result,
                          [&](const Passed& entry, bool& truth) { return Boolean(env, entry, truth); }) ||
             Expected(expected, "an array of booleans");
    case Kind::scalar:
      return ListOf<at::Scalar>(env, value, result,
                                [&](const Passed& entry, at::Scalar& scalar) { return Scalar(env, entry, scalar); }) ||
             Expected(expected, "an array of numbers");
    default:
      return Expected(expected, "nothing: it cannot be given");
  }
}

}  // namespace

Passed PassedOf(Napi::Env env, napi_value value) {
  Passed given{value};
  if (napi_typeof(env, value, &given.type) != napi_ok) return given;
  if (given.type == napi_object) given.box = BoxOf(env, value);
  return given;
}

bool Convert(Napi::Env env, const Passed& given, const Parameter& parameter, c10::IValue& result,
             std::string* expected) {
  if (IsNullish(given)) {
    result = c10::IValue();
    return parameter.optional || Expected(expected, "a value");
  }
  if (!parameter.list) return ConvertOne(env, given, parameter.kind, result, expected);
  bool array = false;
  if (given.type == napi_object && given.box == nullptr) napi_is_array(env, given.value, &array);
  if (array) return ConvertList(env, given.value, parameter, result, expected);
  if (!parameter.single) return Expected(expected, "an array");
  napi_value list = nullptr;
  napi_create_array_with_length(env, 1, &list);
  napi_set_element(env, list, 0, given.value);
  return ConvertList(env, list, parameter, result, expected);
}
