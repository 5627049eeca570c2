#include "binding/call_sites.h"

namespace {

/** Limits the memory of programs that call operations on very many paths. */
constexpr size_t kMaxKnownStacks = 16384;

}  // namespace

size_t CallSites::Hash::operator()(const Stack& stack) const {
  // FNV-1a over whole addresses.
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < stack.count; i++)
    hash = (hash ^ reinterpret_cast<uintptr_t>(stack.positions[i])) * 0x100000001b3;
  return hash;
}

CallSites::Stack CallSites::Sample(size_t limit) {
  Stack stack;
  stack.count = sampler_->sample(*sampler_, stack.positions.data(), limit);
  return stack;
}

const size_t* CallSites::Known(const Stack& stack) const {
  const auto found = known_.find(stack);
  return found == known_.end() ? nullptr : &found->second;
}

void CallSites::Add(const Stack& stack, size_t site) {
  if (known_.size() >= kMaxKnownStacks) known_.clear();
  known_.insert_or_assign(stack, site);
}
