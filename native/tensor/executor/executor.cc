#include "executor/executor.h"

#include <algorithm>

#include "collectives/agreement.h"
#include "collectives/operations.h"
#include "libtorch/error_text.h"
#include "libtorch/random.h"

namespace {

/**
 * Derives a different seed for each rank, also if the seeds are close to each other. Uses the finalizer of MurmurHash3.
 */
uint64_t MixSeed(uint64_t seed, uint64_t rank) {
  uint64_t mixed = seed + (rank + 1) * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 33)) * 0xff51afd7ed558ccd;
  mixed = (mixed ^ (mixed >> 33)) * 0xc4ceb9fe1a85ec53;
  return mixed ^ (mixed >> 33);
}

/** Returns the storage of a tensor, or an empty storage if there is none, as for sparse tensors. */
c10::Storage StorageOf(const at::Tensor& tensor) {
  return tensor.defined() && tensor.has_storage() ? tensor.storage() : c10::Storage();
}

}  // namespace

void Executor::Execute(const std::vector<uint8_t>& batch) {
  for (const Step& step : ReadBatch(batch, definitions_, known_)) ExecuteStep(step, {});
}

void Executor::ExecuteStep(const Step& step, const Frame& frame) {
  switch (step.command) {
    case Command::call:
      return Call(step, frame);
    case Command::drop:
      for (const uint64_t reference : step.references) entries_.erase(frame.Of(reference));
      return;
    case Command::seed:
      return SeedProcess(step.ranks ? MixSeed(step.seed, rank_) : step.seed, device_);
    case Command::replay:
      return RunProgram(*step.replay);
    default:
      // A program keeps its constants, and operations in place change the tensor.
      entries_[frame.Of(step.references.front())] =
          EntryOf(frame.slots == nullptr ? step.constant : step.constant.clone());
  }
}

void Executor::RunProgram(const Replay& replay) {
  const Program& program = *replay.program;
  std::vector<uint64_t> slots{0};
  slots.reserve(program.firstLocal() + program.locals);
  const auto append = [&](const std::vector<uint64_t>& more) { slots.insert(slots.end(), more.begin(), more.end()); };
  append(replay.arguments);
  append(program.externals);
  if (replay.gradients) append(replay.gradients->references);
  for (uint32_t i = 0; i < program.locals; i++) slots.push_back(replay.base + i);
  const Frame frame{&slots, &replay.numbers};
  for (const Step& step : program.steps) ExecuteStep(step, frame);
  for (size_t i = 0; i < program.replacements.size(); i++) {
    const auto made = entries_.find(slots[program.replacements[i]]);
    Entry gradient = std::move(made->second);
    entries_.erase(made);
    entries_[replay.gradients->references[i]] = std::move(gradient);
  }
}

at::Tensor Executor::ToDevice(const at::Tensor& tensor) const {
  const bool stays = !tensor.defined() || tensor.unsafeGetTensorImpl()->is_wrapped_number();
  return stays ? tensor : tensor.to(tensor.options().device(device_));
}

Executor::Entry Executor::EntryOf(const at::Tensor& tensor) const {
  try {
    return {ToDevice(tensor), nullptr, {}};
  } catch (const std::exception& error) {
    return {{}, std::make_shared<Failure>(Failure{"put", "an unknown place", ErrorText(error), rank_}), {}};
  }
}

void Executor::Put(uint64_t reference, const at::Tensor& tensor) {
  if (reference == 0 || !entries_.emplace(reference, EntryOf(tensor)).second) {
    throw std::runtime_error("there is a tensor " + std::to_string(reference) + " already");
  }
  known_.highest = std::max(known_.highest, reference);
}

void Executor::PutFailure(uint64_t reference, std::string op, std::string site, std::string message) {
  Put(reference, {});
  entries_[reference].failure =
      std::make_shared<Failure>(Failure{std::move(op), std::move(site), std::move(message), rank_});
}

FailurePtr Executor::Fetch(uint64_t reference, at::Tensor& copy) const {
  const auto found = entries_.find(reference);
  if (found == entries_.end()) throw std::runtime_error("there is no tensor " + std::to_string(reference));
  if (found->second.failure) return found->second.failure;
  const at::Tensor plain = Materialize(found->second.tensor);
  copy = plain.device().is_cpu() ? plain.clone() : plain.to(at::kCPU);
  return nullptr;
}

void Executor::Connect(std::shared_ptr<Communicator> communicator, std::vector<size_t> sizes,
                       std::shared_ptr<const NcclLibrary> nccl) {
  communicator_ = std::move(communicator);
  if (nccl) nccl_ = std::make_unique<NcclCommunicators>(std::move(nccl), device_);
  sizes_ = std::move(sizes);
}

void Executor::Call(const Step& step, const Frame& frame) {
  calls_++;
  torch::jit::Stack stack;
  const CollectiveContext context{communicator_.get(), nccl_.get(), sizes_, step.op->name,
                                  definitions_.sites[step.site]};
  if (const auto failure = GatherArguments(step, frame, context.site, stack)) {
    // The other processes wait until this one takes part in a collective operation.
    Fail(step, frame,
         IsCollective(step.op->name) ? AgreeOnFailure(context, failure, stack.at(1).toIntVector()) : failure);
    return;
  }
  try {
    const ExecutingScope current_context(context);
    step.op->handle.callBoxed(stack);
    const auto results = Flatten(stack);
    if (results.size() != step.references.size()) {
      throw std::runtime_error("it has " + std::to_string(results.size()) + " results, and the controller expects " +
                               std::to_string(step.references.size()));
    }
    for (size_t i = 0; i < results.size(); i++) {
      if (step.references[i] != 0 && !results[i].defined())
        throw std::runtime_error("a result that the controller expects is undefined");
    }
    if (reject_nan_) CheckNan(results);
    for (size_t i = 0; i < results.size(); i++) {
      if (step.references[i] != 0) entries_[frame.Of(step.references[i])] = {results[i], nullptr, {}, calls_};
    }
  } catch (const CollectiveFailure& error) {
    Fail(step, frame, error.failure);
  } catch (const std::exception& error) {
    Fail(step, frame,
         std::make_shared<Failure>(Failure{step.op->name, definitions_.sites[step.site], ErrorText(error), rank_}));
  }
}

FailurePtr Executor::GatherArguments(const Step& step, const Frame& frame, const std::string& site,
                                     torch::jit::Stack& stack) const {
  FailurePtr failure;
  const auto tensor = [&](uint64_t reference) {
    const Entry& entry = entries_.at(frame.Of(reference));
    if (!failure) failure = entry.failure;
    return entry.tensor;
  };
  for (size_t i = 0; i < step.arguments.size(); i++) {
    const Argument& argument = step.arguments[i];
    if (argument.tag == Tag::reference) {
      stack.push_back(tensor(argument.references.front()));
    } else if (argument.tag == Tag::references) {
      c10::List<at::Tensor> list;
      for (const uint64_t reference : argument.references) list.push_back(tensor(reference));
      stack.push_back(std::move(list));
    } else if (argument.tag == Tag::optionalReferences) {
      c10::List<Optional<at::Tensor>> list;
      for (const uint64_t reference : argument.references) {
        list.push_back(reference == 0 ? Optional<at::Tensor>() : Optional<at::Tensor>(tensor(reference)));
      }
      stack.push_back(std::move(list));
    } else if (argument.tag == Tag::device) {
      stack.push_back(device_);
    } else if (argument.tag == Tag::constant) {
      const Entry constant = EntryOf(ConstantOf(step, frame, i));
      if (!failure && constant.failure) {
        failure = std::make_shared<Failure>(Failure{step.op->name, site, constant.failure->message, rank_});
      }
      stack.push_back(constant.tensor);
    } else if (argument.tag == Tag::variable) {
      stack.push_back((*frame.numbers)[argument.first]);
    } else if (argument.tag == Tag::variables) {
      c10::List<at::Scalar> list;
      for (uint32_t at = 0; at < argument.count; at++) list.push_back((*frame.numbers)[argument.first + at]);
      stack.push_back(std::move(list));
    } else {
      stack.push_back(argument.value);
    }
  }
  return failure;
}

at::Tensor Executor::ConstantOf(const Step& step, const Frame& frame, size_t argument) {
  const at::Tensor& constant = step.arguments[argument].value.toTensor();
  const bool shared = frame.slots != nullptr && step.op->handle.schema().arguments()[argument].alias_info() != nullptr;
  return shared ? constant.clone() : constant;
}

std::vector<at::Tensor> Executor::Flatten(const torch::jit::Stack& results) {
  std::vector<at::Tensor> flat;
  for (const auto& result : results) {
    if (result.isTensor()) {
      flat.push_back(result.toTensor());
    } else {
      for (const at::Tensor& tensor : result.toTensorVector()) flat.push_back(tensor);
    }
  }
  return flat;
}

void Executor::CheckNan(const std::vector<at::Tensor>& results) {
  for (const at::Tensor& result : results) {
    if (!result.defined() || !(result.is_floating_point() || result.is_complex())) continue;
    const at::Tensor found = at::isnan(result);
    if (!found.any().item<bool>()) continue;
    const at::Tensor first = at::nonzero(found).select(0, 0).contiguous();
    std::string place;
    for (int64_t i = 0; i < first.numel(); i++)
      place += (i == 0 ? "" : ", ") + std::to_string(first[i].item<int64_t>());
    throw std::runtime_error("it produced NaN, first at [" + place + "]");
  }
}

void Executor::Fail(const Step& step, const Frame& frame, const FailurePtr& failure) {
  c10::Storage base;
  bool writes = false;
  for (size_t i = 0; i < step.arguments.size(); i++) {
    const auto* alias = step.op->handle.schema().arguments()[i].alias_info();
    if (alias == nullptr) continue;
    for (const uint64_t reference : step.arguments[i].references) {
      if (reference == 0) continue;
      Entry& entry = entries_.at(frame.Of(reference));
      const c10::Storage storage = entry.failure ? entry.base : StorageOf(entry.tensor);
      if (!alias->isWrite()) {
        base = storage;
        continue;
      }
      writes = true;
      if (storage) FailAliases(storage, failure);
      entry = {{}, entry.failure ? entry.failure : failure, storage};
    }
  }
  if (step.references.empty() && !writes) {
    for (const Argument& argument : step.arguments) {
      for (const uint64_t reference : argument.references) {
        if (reference != 0) FailResults(entries_.at(frame.Of(reference)).producer, failure);
      }
    }
  }
  for (const uint64_t reference : step.references) {
    if (reference != 0) entries_[frame.Of(reference)] = {{}, failure, base};
  }
}

void Executor::FailAliases(const c10::Storage& storage, const FailurePtr& failure) {
  for (auto& [reference, entry] : entries_) {
    if (!entry.failure && StorageOf(entry.tensor).unsafeGetStorageImpl() == storage.unsafeGetStorageImpl()) {
      entry = {{}, failure, storage};
    }
  }
}

void Executor::FailResults(uint64_t producer, const FailurePtr& failure) {
  if (producer == 0) return;
  for (auto& [reference, entry] : entries_) {
    if (!entry.failure && entry.producer == producer) entry = {{}, failure, StorageOf(entry.tensor)};
  }
}
