/** Checks whether the argument of a command has the type that its operation expects. */
#include "executor/command_reader.h"
#include "libtorch/dtype.h"

namespace {

bool AcceptsInteger(Kind kind, int64_t number) {
  if (kind == Kind::dtype) return IsDtype(number);
  if (kind == Kind::layout) return number == static_cast<int64_t>(c10::kStrided);
  if (kind == Kind::memoryFormat)
    return number >= 0 && number <= static_cast<int64_t>(c10::MemoryFormat::ChannelsLast3d);
  return kind == Kind::integer || kind == Kind::scalar;
}

c10::List<at::Scalar> ScalarsOf(const c10::IValue& integers) {
  c10::List<at::Scalar> list;
  for (const int64_t number : integers.toIntVector()) list.push_back(number);
  return list;
}

}  // namespace

bool MatchesParameter(Argument& argument, const Parameter& parameter) {
  const Kind kind = parameter.kind;
  const bool list = parameter.list;
  switch (argument.tag) {
    case Tag::none:
      return parameter.optional;
    case Tag::undefined:
      return kind == Kind::tensor && !list && parameter.optional;
    case Tag::reference:
    case Tag::constant:
      return kind == Kind::tensor && !list;
    case Tag::integer:
      return !list && AcceptsInteger(kind, argument.value.toInt());
    case Tag::real:
      return !list && (kind == Kind::real || kind == Kind::scalar);
    case Tag::complex:
      return !list && kind == Kind::scalar;
    case Tag::boolean:
      return !list && (kind == Kind::boolean || kind == Kind::scalar);
    case Tag::text:
      return !list && kind == Kind::text;
    case Tag::device:
      return !list && kind == Kind::device;
    case Tag::integers:
      if (list && kind == Kind::scalar) argument.value = ScalarsOf(argument.value);
      return list && (kind == Kind::integer || kind == Kind::scalar);
    case Tag::reals:
      return list && kind == Kind::real;
    case Tag::booleans:
      return list && kind == Kind::boolean;
    case Tag::scalars:
      return list && kind == Kind::scalar;
    case Tag::references:
      return list && kind == Kind::tensor && !parameter.optionalElements;
    case Tag::optionalReferences:
      return list && kind == Kind::tensor && parameter.optionalElements;
    case Tag::variable:
      return !list && (kind == Kind::real || kind == Kind::scalar);
    case Tag::variables:
      return list && kind == Kind::scalar;
  }
  return false;
}
