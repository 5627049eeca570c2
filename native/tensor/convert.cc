#include "convert.h"

#include <cmath>

#include "dtype.h"
#include "tensor.h"

namespace {

constexpr double kSafe = 9007199254740992.0;

napi_valuetype TypeOf(Napi::Env env, napi_value value) {
  napi_valuetype type = napi_undefined;
  napi_typeof(env, value, &type);
  return type;
}

bool IsNothing(Napi::Env env, napi_value value) {
  const napi_valuetype type = TypeOf(env, value);
  return type == napi_undefined || type == napi_null;
}

bool Integer(Napi::Env env, napi_value value, int64_t& result) {
  const napi_valuetype type = TypeOf(env, value);
  if (type == napi_bigint) {
    bool lossless = false;
    return napi_get_value_bigint_int64(env, value, &result, &lossless) == napi_ok && lossless;
  }
  double number = 0;
  if (type != napi_number || napi_get_value_double(env, value, &number) != napi_ok) return false;
  if (!(std::fabs(number) < kSafe) || number != std::trunc(number)) return false;
  result = static_cast<int64_t>(number);
  return true;
}

/** `{ float: 2 }` */
bool Real(Napi::Env env, napi_value value, double& result) {
  if (TypeOf(env, value) == napi_object) {
    napi_value inner = nullptr;
    bool has = false;
    if (napi_has_named_property(env, value, "float", &has) != napi_ok || !has) return false;
    if (napi_get_named_property(env, value, "float", &inner) != napi_ok) return false;
    return TypeOf(env, inner) == napi_number && napi_get_value_double(env, inner, &result) == napi_ok;
  }
  return TypeOf(env, value) == napi_number && napi_get_value_double(env, value, &result) == napi_ok;
}

bool Boolean(Napi::Env env, napi_value value, bool& result) {
  return TypeOf(env, value) == napi_boolean && napi_get_value_bool(env, value, &result) == napi_ok;
}

bool Scalar(Napi::Env env, napi_value value, at::Scalar& result) {
  int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  if (Boolean(env, value, boolean)) {
    result = boolean;
  } else if (Integer(env, value, integer)) {
    result = integer;
  } else if (TypeOf(env, value) != napi_bigint && Real(env, value, real)) {
    result = real;
  } else {
    return false;
  }
  return true;
}

bool Text(Napi::Env env, napi_value value, std::string& result) {
  if (TypeOf(env, value) != napi_string) return false;
  result = Napi::String(env, value).Utf8Value();
  return true;
}

bool Tensor(Napi::Env env, napi_value value, at::Tensor& result, std::string& expected) {
  const Box* box = BoxOf(env, value);
  expected = box == nullptr ? "a tensor" : "a tensor that has not been disposed of";
  if (box == nullptr || !box->tensor.defined()) return false;
  result = box->tensor;
  return true;
}

/** What schemas call by names and libtorch by numbers. */
bool Named(Kind kind, const std::string& name, c10::IValue& result, std::string& expected) {
  struct Choice {
    const char* name;
    int64_t number;
  };
  static constexpr Choice layouts[] = {{"strided", static_cast<int64_t>(c10::kStrided)},
                                       {"sparse_coo", static_cast<int64_t>(c10::kSparse)}};
  static constexpr Choice formats[] = {
      {"contiguous", static_cast<int64_t>(c10::MemoryFormat::Contiguous)},
      {"preserve", static_cast<int64_t>(c10::MemoryFormat::Preserve)},
      {"channels_last", static_cast<int64_t>(c10::MemoryFormat::ChannelsLast)},
      {"channels_last_3d", static_cast<int64_t>(c10::MemoryFormat::ChannelsLast3d)}};
  const auto choose = [&](const Choice* begin, const Choice* end) {
    expected = "one of";
    for (const Choice* choice = begin; choice != end; choice++) {
      if (name == choice->name) {
        result = choice->number;
        return true;
      }
      expected += std::string(choice == begin ? " " : ", ") + choice->name;
    }
    return false;
  };
  if (kind == Kind::layout) return choose(std::begin(layouts), std::end(layouts));
  if (kind == Kind::memoryFormat) return choose(std::begin(formats), std::end(formats));
  expected = "one of " + DtypeNames();
  const c10::ScalarType dtype = DtypeOf(name);
  result = static_cast<int64_t>(dtype);
  return dtype != c10::ScalarType::Undefined;
}

bool One(Napi::Env env, napi_value value, Kind kind, c10::IValue& result, std::string& expected) {
  at::Tensor tensor;
  int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::string text;
  at::Scalar scalar;
  switch (kind) {
    case Kind::tensor:
      if (!Tensor(env, value, tensor, expected)) return false;
      result = std::move(tensor);
      return true;
    case Kind::integer:
      expected = "an integer";
      if (!Integer(env, value, integer)) return false;
      result = integer;
      return true;
    case Kind::real:
      expected = "a number";
      if (!Real(env, value, real)) return false;
      result = real;
      return true;
    case Kind::boolean:
      expected = "a boolean";
      if (!Boolean(env, value, boolean)) return false;
      result = boolean;
      return true;
    case Kind::scalar:
      expected = "a number";
      if (!Scalar(env, value, scalar)) return false;
      result = scalar;
      return true;
    case Kind::text:
      expected = "a string";
      if (!Text(env, value, text)) return false;
      result = std::move(text);
      return true;
    case Kind::device:
      expected = "\"cpu\"";
      if (!Text(env, value, text) || text != "cpu") return false;
      result = c10::Device(c10::DeviceType::CPU);
      return true;
    case Kind::dtype:
    case Kind::layout:
    case Kind::memoryFormat:
      if (Text(env, value, text)) return Named(kind, text, result, expected);
      Named(kind, "", result, expected);
      return false;
    default:
      expected = "nothing: it cannot be given";
      return false;
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
    if (napi_get_element(env, value, i, &entry) != napi_ok || !element(entry, converted)) return false;
    list.push_back(std::move(converted));
  }
  result = std::move(list);
  return true;
}

bool Many(Napi::Env env, napi_value value, const Parameter& parameter, c10::IValue& result, std::string& expected) {
  switch (parameter.kind) {
    case Kind::tensor:
      expected = "an array of tensors";
      if (!parameter.optionalElements) {
        return ListOf<at::Tensor>(env, value, result, [&](napi_value entry, at::Tensor& tensor) {
          std::string why;
          return Tensor(env, entry, tensor, why);
        });
      }
      return ListOf<Optional<at::Tensor>>(env, value, result, [&](napi_value entry, Optional<at::Tensor>& tensor) {
        std::string why;
        at::Tensor found;
        if (IsNothing(env, entry)) return true;
        if (!Tensor(env, entry, found, why)) return false;
        tensor = std::move(found);
        return true;
      });
    case Kind::integer:
      expected = "an array of integers";
      return ListOf<int64_t>(env, value, result,
                             [&](napi_value entry, int64_t& number) { return Integer(env, entry, number); });
    case Kind::real:
      expected = "an array of numbers";
      return ListOf<double>(env, value, result,
                            [&](napi_value entry, double& number) { return Real(env, entry, number); });
    case Kind::boolean:
      expected = "an array of booleans";
      return ListOf<bool>(env, value, result, [&](napi_value entry, bool& truth) { return Boolean(env, entry, truth); });
    case Kind::scalar:
      expected = "an array of numbers";
      return ListOf<at::Scalar>(env, value, result,
                                [&](napi_value entry, at::Scalar& scalar) { return Scalar(env, entry, scalar); });
    default:
      expected = "nothing: it cannot be given";
      return false;
  }
}

}  // namespace

bool Convert(Napi::Env env, napi_value value, const Parameter& parameter, c10::IValue& result, std::string& expected) {
  if (IsNothing(env, value)) {
    expected = "a value";
    result = c10::IValue();
    return parameter.optional;
  }
  if (!parameter.list) return One(env, value, parameter.kind, result, expected);
  bool array = false;
  napi_is_array(env, value, &array);
  if (array) return Many(env, value, parameter, result, expected);
  if (!parameter.single) {
    expected = "an array";
    return false;
  }
  napi_value list = nullptr;
  napi_create_array_with_length(env, 1, &list);
  napi_set_element(env, list, 0, value);
  return Many(env, list, parameter, result, expected);
}
