#include "executor/batch.h"

#include <algorithm>
#include <unordered_set>

#include "commands/forbidden.h"
#include "executor/reader.h"

namespace {

class BatchReader {
 public:
  BatchReader(const std::vector<uint8_t>& bytes, const Definitions& definitions, const HasReference& has)
      : in_(bytes), known_(definitions), has_(has) {}

  std::vector<Step> Read() {
    std::vector<Step> steps;
    size_t position = 0;
    try {
      while (!in_.done()) {
        position = in_.position();
        Step step{};
        if (ReadStep(step)) steps.push_back(std::move(step));
      }
    } catch (const std::exception& error) {
      throw std::runtime_error("the command at byte " + std::to_string(position) + " is invalid: " + error.what());
    }
    return steps;
  }

  /** Adds the definitions of this batch to those of earlier batches. */
  void Define(Definitions& definitions) {
    definitions.ops.insert(definitions.ops.end(), added_.ops.begin(), added_.ops.end());
    definitions.sites.insert(definitions.sites.end(), added_.sites.begin(), added_.sites.end());
  }

 private:
  /** @returns whether the command is to be executed */
  bool ReadStep(Step& step) {
    const auto command = in_.Get<uint8_t>();
    step.command = static_cast<Command>(command);
    switch (step.command) {
      case Command::defineOp:
        DefineOp();
        return false;
      case Command::defineSite:
        added_.sites.push_back(in_.Text());
        return false;
      case Command::call:
        Call(step);
        return true;
      case Command::drop:
        step.references = in_.List<uint64_t>();
        for (const uint64_t reference : step.references) Drop(reference);
        return true;
      case Command::seed:
        step.seed = in_.Get<uint64_t>();
        step.ranks = in_.Boolean();
        return true;
      case Command::put:
        step.references.push_back(in_.Get<uint64_t>());
        step.constant = in_.Constant();
        Create(step.references.back());
        return true;
    }
    throw std::runtime_error("unknown command " + std::to_string(command));
  }

  void DefineOp() {
    const std::string name = in_.Text();
    const std::string overload = in_.Text();
    const std::string full = overload.empty() ? name : name + "." + overload;
    const bool ours = name.rfind("aten::", 0) == 0 || name.rfind("viceroy::", 0) == 0;
    const Op* op = ours && !IsForbidden(name) ? FindOp(name, overload) : nullptr;
    if (op == nullptr)
      throw std::runtime_error("this libtorch, " TORCH_VERSION ", has no operation " + full + " for commands");
    if (!op->returnsTensors || op->hasOut)
      throw std::runtime_error("operation " + full + " cannot be called by commands");
    added_.ops.push_back(op);
  }

  const Op& OpOf(uint32_t number) const {
    if (number < known_.ops.size()) return *known_.ops[number];
    number -= static_cast<uint32_t>(known_.ops.size());
    if (number >= added_.ops.size()) throw std::runtime_error("it calls an undefined operation");
    return *added_.ops[number];
  }

  void Call(Step& step) {
    step.op = &OpOf(in_.Get<uint32_t>());
    step.site = in_.Get<uint32_t>();
    if (step.site >= known_.sites.size() + added_.sites.size())
      throw std::runtime_error("it has an undefined call site");
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
      if (reference != 0) Create(reference);
    }
  }

  Argument ReadArgument() {
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
        Use(argument.references.back());
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
          if (reference != 0 || argument.tag == Tag::references) Use(reference);
        }
        return argument;
    }
    throw std::runtime_error("unknown argument tag " + std::to_string(tag));
  }

  c10::List<at::Scalar> ReadScalars() {
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

  bool Has(uint64_t reference) const {
    if (created_.count(reference) > 0) return true;
    return dropped_.count(reference) == 0 && has_(reference);
  }
  void Use(uint64_t reference) const {
    if (!Has(reference)) throw std::runtime_error("there is no tensor " + std::to_string(reference));
  }
  void Create(uint64_t reference) {
    if (reference == 0 || Has(reference))
      throw std::runtime_error("there is a tensor " + std::to_string(reference) + " already");
    created_.insert(reference);
  }
  void Drop(uint64_t reference) {
    Use(reference);
    if (created_.erase(reference) == 0) dropped_.insert(reference);
  }

  Reader in_;
  const Definitions& known_;
  Definitions added_;
  const HasReference& has_;
  /** The tensors that this batch creates and does not drop. */
  std::unordered_set<uint64_t> created_;
  /** The tensors from before this batch that it drops. */
  std::unordered_set<uint64_t> dropped_;
};

}  // namespace

std::vector<Step> ReadBatch(const std::vector<uint8_t>& bytes, Definitions& definitions, const HasReference& has) {
  BatchReader reader(bytes, definitions, has);
  auto steps = reader.Read();
  reader.Define(definitions);
  return steps;
}
