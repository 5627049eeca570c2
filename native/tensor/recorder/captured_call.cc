#include "recorder/captured_call.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <unordered_set>

#include "recorder/recorded_tensor.h"
#include "recorder/recorder.h"

namespace {

constexpr size_t kNoLocal = SIZE_MAX;

size_t LocalOf(const Capture& capture, const at::Tensor& tensor) {
  const RecordedTensor* recorded = RecordedOf(tensor);
  if (recorded == nullptr) return kNoLocal;
  const auto found = capture.local_indices.find(recorded->reference());
  return found == capture.local_indices.end() ? kNoLocal : found->second;
}

bool SharesMemory(const at::Tensor& one, const at::Tensor& other) {
  return one.has_storage() && other.has_storage() &&
         one.storage().unsafeGetStorageImpl() == other.storage().unsafeGetStorageImpl();
}

uint32_t ChangesSince(const Capture::Outer& before, const at::Tensor& tensor) {
  return tensor.unsafeGetTensorImpl()->version_counter().current_version() - before.version;
}

}  // namespace

CapturedCall::CapturedCall(Recorder& recorder, Capture& capture, const std::vector<at::Tensor>& tensors)
    : refusal(capture.refusal), locals(capture.locals.size()), numbers(capture.numbers) {
  Classify(capture);
  if (refusal.empty()) TakeResults(capture, tensors);
  if (refusal.empty()) CheckSurvivors(recorder, capture);
  if (!refusal.empty()) return;
  references_ = capture.references;
  commands_ = capture.commands;
  bytes_ = capture.TakeBytes();
  ReplaceNumbers(capture);
}

void CapturedCall::Refuse(const std::string& reason) {
  if (refusal.empty()) refusal = reason;
}

uint64_t CapturedCall::FirstLocal() const {
  const auto replaced = std::count_if(leaves.begin(), leaves.end(), [](const Leaf& leaf) { return leaf.replaced(); });
  return FirstGradient() + static_cast<uint64_t>(replaced);
}

void CapturedCall::Classify(const Capture& capture) {
  for (const auto& outer : capture.outers) {
    if (!outer.tensor.defined()) continue;
    const bool accessed = capture.gradients_accessed.count(outer.number) > 0;
    if (accessed || (outer.tensor.requires_grad() && outer.tensor.is_leaf())) leaves_used.push_back(outer.tensor);
  }
  for (const auto& argument : capture.arguments) {
    arguments.push_back(argument.number);
    argument_changes.push_back(ChangesSince(argument, argument.tensor));
    if (RecordedOf(argument.tensor)->shapeVersion() != argument.shape_version)
      Refuse("it changes the shape of an argument");
    if (argument.tensor.requires_grad() || argument.tensor.grad().defined())
      Refuse("it computes gradients of an argument: detach the argument in the step");
  }
  const bool expected = leaves_used.size() == capture.leaves.size() &&
                        std::equal(leaves_used.begin(), leaves_used.end(), capture.leaves.begin(),
                                   [](const at::Tensor& one, const Capture::Leaf& leaf) {
                                     return one.unsafeGetTensorImpl() == leaf.tensor.unsafeGetTensorImpl();
                                   });
  for (const auto& leaf : capture.leaves) ClassifyLeaf(capture, leaf);
  // Otherwise, the call has been refused because of a leaf.
  if (leaves.size() == capture.leaves.size()) TakeExternals(capture);
  // The first call shows which gradients are looked at before the next one.
  if (!expected)
    Refuse(capture.leaves.empty() ? "its first calls are recorded"
                                  : "it uses other tensors that require gradients than the call before");
}

void CapturedCall::ClassifyLeaf(const Capture& capture, const Capture::Leaf& before) {
  Leaf leaf{};
  leaf.tensor = before.tensor;
  const at::Tensor& gradient = leaf.tensor.grad();
  const RecordedTensor* recorded = RecordedOf(gradient);
  const uint64_t number = recorded == nullptr ? 0 : recorded->reference();
  if (number == before.gradient) {
    const bool used = capture.gradients_accessed.count(RecordedOf(leaf.tensor)->reference()) > 0 ||
                      std::any_of(capture.outers.begin(), capture.outers.end(),
                                  [&](const Capture::Outer& outer) { return outer.number == number; });
    leaf.use = number == 0 ? GradientUse::absent : used ? GradientUse::used : GradientUse::unused;
    if (used) leaf.gradient = number;
    leaves.push_back(std::move(leaf));
    return;
  }
  leaf.local = LocalOf(capture, gradient);
  leaf.use = GradientUse::replaced;
  if (leaf.local == kNoLocal) return Refuse("it sets the gradient of a tensor to one from outside, or to null");
  if (before.gradient == 0)
    return Refuse("a gradient that it computes is null before the call: set gradients to null in the step");
  if (!before.unshared || gradient.use_count() != 1 || recorded->uses() != 1)
    return Refuse("other code holds a gradient that it replaces, or a view of it: dispose of it before the next call");
  if (gradient.requires_grad()) return Refuse("it keeps gradients that require gradients");
  leaf.shape = recorded->shape();
  leaves.push_back(std::move(leaf));
}

void CapturedCall::TakeExternals(const Capture& capture) {
  std::unordered_map<uint64_t, size_t> gradients;
  for (size_t i = 0; i < leaves.size(); i++) {
    gradients.emplace(capture.leaves[i].gradient, i);
  }
  for (const auto& outer : capture.outers) {
    const auto leaf = gradients.find(outer.number);
    if (leaf != gradients.end() && leaves[leaf->second].replaced()) continue;
    External external{outer.tensor, leaf == gradients.end() ? 0 : leaf->second, outer.requires_grad,
                      outer.shape_version, 0};
    const at::Tensor& tensor = TensorOf(external);
    const RecordedTensor* recorded = RecordedOf(tensor);
    if (recorded == nullptr) return Refuse("a gradient of a tensor from outside disappears");
    if (tensor.requires_grad() != outer.requires_grad)
      Refuse("it changes whether a tensor from outside requires gradients");
    if (recorded->shapeVersion() != outer.shape_version) Refuse("it changes the shape of a tensor from outside");
    external.changes = ChangesSince(outer, tensor);
    external_memory_.insert(tensor.storage().unsafeGetStorageImpl());
    externals.push_back(std::move(external));
  }
  for (const auto& argument : capture.arguments) {
    if (SharesExternalMemory(argument.tensor)) Refuse("an argument shares memory with a tensor from outside");
  }
}

bool CapturedCall::SharesExternalMemory(const at::Tensor& argument) const {
  return argument.has_storage() && external_memory_.count(argument.storage().unsafeGetStorageImpl()) > 0;
}

void CapturedCall::TakeResults(const Capture& capture, const std::vector<at::Tensor>& tensors) {
  for (size_t i = 0; i < tensors.size(); i++) {
    const at::Tensor& tensor = tensors[i];
    const size_t local = LocalOf(capture, tensor);
    if (local == kNoLocal) return Refuse("it returns a tensor that is not on the mesh");
    if (!tensor.has_storage()) return Refuse("it returns a sparse tensor");
    TensorTemplate made{local, RecordedOf(tensor)->shape(), TensorTemplate::Memory::own, i, tensor.storage_offset()};
    for (size_t at = i; at-- > 0;) {
      if (SharesMemory(tensor, tensors[at])) made.source = results[at].source;
    }
    for (size_t at = 0; at < leaves.size(); at++) {
      if (!leaves[at].replaced() || !SharesMemory(tensor, leaves[at].tensor.grad())) continue;
      made.memory = TensorTemplate::Memory::gradient;
      made.source = at;
    }
    for (size_t at = 0; at < externals.size(); at++) {
      if (!SharesMemory(tensor, TensorOf(externals[at]))) continue;
      made.memory = TensorTemplate::Memory::external;
      made.source = at;
    }
    for (size_t at = 0; at < capture.arguments.size(); at++) {
      const at::Tensor& argument = capture.arguments[at].tensor;
      if (!SharesMemory(tensor, argument)) continue;
      made.memory = TensorTemplate::Memory::argument;
      made.source = at;
      made.offset = tensor.storage_offset() - argument.storage_offset();
    }
    results.push_back(std::move(made));
  }
}

/** Checks that all tensors that the call has created and that still exist are results or gradients. */
void CapturedCall::CheckSurvivors(Recorder& recorder, const Capture& capture) {
  std::unordered_set<size_t> known;
  for (const auto& result : results) known.insert(result.local);
  for (const Leaf& leaf : leaves) {
    if (leaf.replaced()) known.insert(leaf.local);
  }
  // A thread of the autograd engine releases its last objects shortly after it has reported the end.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  for (size_t i = 0; i < capture.locals.size(); i++) {
    if (known.count(i) > 0) continue;
    while (!capture.locals[i].reference.expired() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    if (capture.locals[i].reference.expired()) continue;
    commands_ = capture.commands;
    const std::string made = Describe(recorder, capture.locals[i].command);
    commands_.clear();
    return Refuse("it keeps a tensor that is neither a result nor a gradient, made by " + made);
  }
}

void CapturedCall::ReplaceNumbers(const Capture& capture) {
  std::unordered_map<uint64_t, uint64_t> slots{{0, 0}};
  for (size_t i = 0; i < arguments.size(); i++) slots.emplace(arguments[i], 1 + i);
  for (size_t i = 0; i < externals.size(); i++)
    slots.emplace(RecordedOf(TensorOf(externals[i]))->reference(), 1 + arguments.size() + i);
  uint64_t gradient = FirstGradient();
  for (size_t i = 0; i < leaves.size(); i++) {
    if (leaves[i].replaced()) slots.emplace(capture.leaves[i].gradient, gradient++);
  }
  const uint64_t first = FirstLocal();
  for (const auto& [number, index] : capture.local_indices) slots.emplace(number, first + index);
  for (const size_t offset : references_) {
    uint64_t number = 0;
    std::memcpy(&number, &bytes_[offset], sizeof(number));
    const uint64_t slot = slots.at(number);
    std::memcpy(&bytes_[offset], &slot, sizeof(slot));
  }
}

std::string CapturedCall::Describe(Recorder& recorder, size_t command) const {
  if (command >= commands_.size()) return "the end";
  const auto& described = commands_[command];
  if (!described.op) return "a tensor or a seed that is sent";
  return "operation " + described.op->operator_name().name + " (" + recorder.SiteText(described.site) + ")";
}

std::string CapturedCall::DifferenceFrom(Recorder& recorder, const CapturedCall& earlier) const {
  const size_t count = std::max(commands_.size(), earlier.commands_.size());
  for (size_t i = 0; i < count; i++) {
    const auto part = [i](const CapturedCall& call) {
      if (i >= call.commands_.size()) return std::string();
      const auto& command = call.commands_[i];
      return std::string(call.bytes_.begin() + static_cast<std::ptrdiff_t>(command.begin),
                         call.bytes_.begin() + static_cast<std::ptrdiff_t>(command.end));
    };
    if (part(*this) != part(earlier)) return "at " + Describe(recorder, i);
  }
  for (size_t i = 0; i < externals.size(); i++) {
    const bool same = externals.size() == earlier.externals.size() &&
                      externals[i].tensor.unsafeGetTensorImpl() == earlier.externals[i].tensor.unsafeGetTensorImpl() &&
                      externals[i].leaf == earlier.externals[i].leaf &&
                      externals[i].requires_grad == earlier.externals[i].requires_grad;
    if (!same) return "in the tensors from outside that it uses";
  }
  const auto equal_leaf = [](const Leaf& one, const Leaf& other) {
    return one.tensor.unsafeGetTensorImpl() == other.tensor.unsafeGetTensorImpl() && one.use == other.use &&
           one.gradient == other.gradient && one.local == other.local;
  };
  if (!std::equal(leaves.begin(), leaves.end(), earlier.leaves.begin(), earlier.leaves.end(), equal_leaf))
    return "in the gradients that it leaves";
  const auto equal_result = [](const TensorTemplate& one, const TensorTemplate& other) {
    return one.local == other.local && one.memory == other.memory && one.source == other.source &&
           one.offset == other.offset && one.shape.sizes() == other.shape.sizes() &&
           one.shape.strides() == other.shape.strides();
  };
  if (!std::equal(results.begin(), results.end(), earlier.results.begin(), earlier.results.end(), equal_result))
    return "in its results";
  return "";
}

void CapturedCall::WriteDefinition(Writer& out) const {
  const uint64_t first_gradient = FirstGradient();
  const uint64_t first_local = FirstLocal();
  // Each local, and each gradient from before the call, is dropped after its last use.
  std::vector<size_t> last_uses(first_local - first_gradient + locals, 0);
  std::vector<uint64_t> kept;
  std::vector<uint64_t> replacements;
  std::unordered_set<uint64_t> survivors;
  size_t reference = 0;
  for (size_t i = 0; i < commands_.size(); i++) {
    for (; reference < commands_[i].references_end; reference++) {
      uint64_t slot = 0;
      std::memcpy(&slot, &bytes_[references_[reference]], sizeof(slot));
      if (slot >= first_gradient) last_uses[slot - first_gradient] = i;
    }
  }
  for (const auto& result : results) {
    if (survivors.insert(first_local + result.local).second) kept.push_back(first_local + result.local);
  }
  for (const Leaf& leaf : leaves) {
    if (!leaf.replaced()) continue;
    replacements.push_back(first_local + leaf.local);
    survivors.insert(replacements.back());
  }
  std::vector<std::vector<uint64_t>> dropped(commands_.size());
  for (size_t i = 0; i < last_uses.size(); i++) {
    if (survivors.count(first_gradient + i) == 0) dropped[last_uses[i]].push_back(first_gradient + i);
  }
  Writer body;
  for (size_t i = 0; i < commands_.size(); i++) {
    const auto& command = commands_[i];
    for (size_t at = command.begin; at < command.end; at++) body.Put(bytes_[at]);
    if (dropped[i].empty()) continue;
    body.Put(Command::drop);
    body.References(dropped[i]);
  }
  out.Put(static_cast<uint32_t>(arguments.size()));
  out.Count(externals.size());
  for (const External& external : externals) out.Put(RecordedOf(TensorOf(external))->reference());
  out.Put(static_cast<uint32_t>(first_local - first_gradient));
  out.Put(static_cast<uint32_t>(locals));
  out.Put(numbers);
  out.Bytes(body.Take());
  out.References(kept);
  out.References(replacements);
}
