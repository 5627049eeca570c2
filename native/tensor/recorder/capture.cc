#include "recorder/capture.h"

#include <algorithm>

#include "recorder/recorded_tensor.h"

namespace {

/** Returns whether a value is a list of numbers of any type. */
bool IsScalars(const c10::IValue& value) {
  return value.isList() && value.toList().elementType()->kind() == c10::TypeKind::NumberType;
}

}  // namespace

bool IsUnshared(const at::Tensor& gradient) {
  return gradient.use_count() == 1 && RecordedOf(gradient)->uses() == 1 && gradient.storage().use_count() == 1;
}

Capture::Outer OuterOf(const at::Tensor& tensor) {
  const RecordedTensor* recorded = RecordedOf(tensor);
  return {recorded->reference(), tensor, recorded->version_counter().current_version(), recorded->shapeVersion(),
          tensor.requires_grad()};
}

Capture::Capture(const std::vector<at::Tensor>& given, const std::vector<at::Tensor>& expected) {
  out_.NoteReferences(&references);
  for (const at::Tensor& tensor : given) {
    arguments.push_back(OuterOf(tensor));
    argument_indices_.emplace(arguments.back().number, arguments.size() - 1);
  }
  for (const at::Tensor& tensor : expected) {
    const RecordedTensor* gradient = RecordedOf(tensor.grad());
    leaves.push_back(
        {tensor, gradient == nullptr ? 0 : gradient->reference(), gradient != nullptr && IsUnshared(tensor.grad())});
  }
}

void Capture::Refuse(const std::string& reason) {
  if (refusal.empty()) refusal = reason;
}

void Capture::NoteUse(const at::Tensor& tensor) {
  const RecordedTensor* recorded = RecordedOf(tensor);
  if (recorded == nullptr) return;
  const uint64_t number = recorded->reference();
  if (local_indices.count(number) > 0 || argument_indices_.count(number) > 0) return;
  if (!outer_indices_.emplace(number, outers.size()).second) return;
  if (tensor.requires_grad() && !tensor.is_leaf())
    Refuse("it uses a tensor from outside that other operations have computed with gradients: detach it");
  outers.push_back(OuterOf(tensor));
  const bool gradient =
      std::any_of(leaves.begin(), leaves.end(), [&](const Leaf& leaf) { return leaf.gradient == number; });
  if (gradient) outers.back().tensor = at::Tensor();
}

void Capture::NoteCreated(const std::shared_ptr<Reference>& reference) {
  const auto found = local_indices.find(reference->number());
  if (found != local_indices.end()) locals[found->second].reference = reference;
}

void Capture::Begin() {
  begin_ = out_.size();
}

void Capture::End(Optional<c10::OperatorHandle> op, uint32_t site) {
  commands.push_back({begin_, out_.size(), references.size(), std::move(op), site});
  if (out_.size() > kMaxCapturedBytes)
    Refuse("its commands have more than " + std::to_string(kMaxCapturedBytes) + " bytes");
  if (locals.size() > kMaxProgramSlots || numbers > kMaxProgramSlots)
    Refuse("it makes more than " + std::to_string(kMaxProgramSlots) + " tensors");
}

void Capture::Create(uint64_t number) {
  local_indices.emplace(number, locals.size());
  locals.push_back({{}, commands.size()});
}

void Capture::Argument(const c10::IValue& value, bool marks_numbers) {
  if (marks_numbers && value.isDouble()) {
    out_.Put(Tag::variable);
    numbers++;
  } else if (marks_numbers && IsScalars(value)) {
    const size_t count = value.toList().size();
    out_.Put(Tag::variables);
    out_.Count(count);
    numbers += static_cast<uint32_t>(count);
  } else {
    out_.Argument(value);
  }
}

void Capture::Call(const c10::OperatorHandle& op, uint32_t number, uint32_t site, const std::vector<c10::IValue>& given,
                   const std::vector<uint64_t>& results, bool marks_numbers) {
  if (!refusal.empty()) return;
  for (const auto& argument : given) ForEachTensor(argument, [&](const at::Tensor& tensor) { NoteUse(tensor); });
  Begin();
  out_.Put(Command::call);
  out_.Put(number);
  out_.Put(site);
  for (const auto& argument : given) Argument(argument, marks_numbers);
  out_.References(results);
  for (const uint64_t result : results) {
    if (result != 0) Create(result);
  }
  End(op, site);
}

void Capture::Put(uint64_t number, const at::Tensor& tensor) {
  if (!refusal.empty()) return;
  if (tensor.nbytes() > kMaxCapturedBytes)
    return Refuse("it sends a tensor of " + std::to_string(tensor.nbytes()) + " bytes");
  Begin();
  out_.Put(Command::put);
  out_.Reference(number);
  out_.Constant(tensor);
  Create(number);
  End({}, 0);
}

void Capture::Seed(uint64_t seed, bool ranks) {
  if (!refusal.empty()) return;
  Begin();
  out_.Put(Command::seed);
  out_.Put(seed);
  out_.Put(static_cast<uint8_t>(ranks));
  End({}, 0);
}
