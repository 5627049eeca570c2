#include "executor/command_reader.h"

#include <algorithm>

bool CommandReader::Read(uint8_t command, Step& step) {
  step.command = static_cast<Command>(command);
  switch (step.command) {
    case Command::call:
      Call(step);
      return true;
    case Command::drop:
      step.references = in_.List<uint64_t>();
      for (const uint64_t reference : step.references) references_.Drop(reference);
      return true;
    case Command::seed:
      step.seed = in_.Get<uint64_t>();
      step.ranks = in_.Boolean();
      return true;
    case Command::put:
      step.references.push_back(in_.Get<uint64_t>());
      step.constant = in_.Constant();
      references_.Create(step.references.back());
      return true;
    default:
      return false;
  }
}

const Op& CommandReader::OpOf(uint32_t number) const {
  if (number < known_.ops.size()) return *known_.ops[number];
  number -= static_cast<uint32_t>(known_.ops.size());
  if (number >= added_.ops.size()) throw std::runtime_error("it calls an undefined operation");
  return *added_.ops[number];
}

void CommandReader::Call(Step& step) {
  step.op = &OpOf(in_.Get<uint32_t>());
  step.site = in_.Get<uint32_t>();
  if (step.site >= known_.sites.size() + added_.sites.size()) throw std::runtime_error("it has an undefined call site");
  for (const auto& parameter : step.op->parameters) {
    step.arguments.push_back(ReadArgument());
    if (MatchesParameter(step.arguments.back(), parameter)) continue;
    throw std::runtime_error("argument '" + parameter.name + "' of " + step.op->name + " has a wrong type");
  }
  step.references = in_.List<uint64_t>();
  const auto& returns = step.op->handle.schema().returns();
  const bool fixed = std::none_of(returns.begin(), returns.end(), [](const c10::Argument& result) {
    return result.type()->kind() == c10::TypeKind::ListType;
  });
  if (fixed && step.references.size() != returns.size())
    throw std::runtime_error(step.op->name + " has another number of results");
  for (const uint64_t reference : step.references) {
    if (reference != 0) references_.Create(reference);
  }
}

Argument CommandReader::ReadArgument() {
  Argument argument{};
  const auto tag = in_.Get<uint8_t>();
  argument.tag = static_cast<Tag>(tag);
  switch (argument.tag) {
    case Tag::none:
      return argument;
    case Tag::undefined:
      argument.value = at::Tensor();
      return argument;
    case Tag::reference:
      argument.references.push_back(in_.Get<uint64_t>());
      references_.Use(argument.references.back());
      return argument;
    case Tag::constant:
      argument.value = in_.Constant();
      return argument;
    case Tag::integer:
      argument.value = in_.Get<int64_t>();
      return argument;
    case Tag::real:
      argument.value = in_.Get<double>();
      return argument;
    case Tag::complex: {
      const auto real = in_.Get<double>();
      argument.value = c10::complex<double>(real, in_.Get<double>());
      return argument;
    }
    case Tag::boolean:
      argument.value = in_.Boolean();
      return argument;
    case Tag::text:
      argument.value = in_.Text();
      return argument;
    case Tag::device:
      argument.value = c10::Device(c10::DeviceType::CPU);
      return argument;
    case Tag::integers:
      argument.value = in_.List<int64_t>();
      return argument;
    case Tag::reals:
      argument.value = in_.List<double>();
      return argument;
    case Tag::booleans: {
      c10::List<bool> list;
      for (uint32_t left = in_.Count(1); left > 0; left--) list.push_back(in_.Boolean());
      argument.value = list;
      return argument;
    }
    case Tag::scalars:
      argument.value = ReadScalars();
      return argument;
    case Tag::references:
    case Tag::optionalReferences:
      argument.references = in_.List<uint64_t>();
      for (const uint64_t reference : argument.references) {
        if (reference != 0 || argument.tag == Tag::references) references_.Use(reference);
      }
      return argument;
    case Tag::variable:
    case Tag::variables:
      ReadVariables(argument);
      return argument;
  }
  throw std::runtime_error("unknown argument tag " + std::to_string(tag));
}

void CommandReader::ReadVariables(Argument& argument) {
  if (numbers_ == nullptr) throw std::runtime_error("it takes a number of a replay outside of a program");
  argument.first = *numbers_;
  argument.count = argument.tag == Tag::variable ? 1 : in_.Get<uint32_t>();
  if (argument.count > kMaxProgramSlots - *numbers_) throw std::runtime_error("it takes too many numbers");
  *numbers_ += argument.count;
}

c10::List<at::Scalar> CommandReader::ReadScalars() {
  c10::List<at::Scalar> list;
  for (uint32_t left = in_.Count(2); left > 0; left--) {
    const auto tag = static_cast<Tag>(in_.Get<uint8_t>());
    if (tag == Tag::integer) {
      list.push_back(in_.Get<int64_t>());
    } else if (tag == Tag::real) {
      list.push_back(in_.Get<double>());
    } else if (tag == Tag::boolean) {
      list.push_back(in_.Boolean());
    } else {
      throw std::runtime_error("a list of numbers contains another type");
    }
  }
  return list;
}
