/**
 * Remembers the call sites of recorded operations by the positions of the innermost frames of the stack, so that
 * JavaScript is asked for each site once and not for each operation. Without a sampler, JavaScript is always asked.
 */
#pragma once
#include <c10/util/flat_hash_map.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "stack_sampler.h"

class CallSites {
 public:
  /** @param sampler null if there is none; it lives as long as the thread */
  void Use(const StackSampler* sampler) { sampler_ = sampler; }
  /**
   * Returns the call site of the current stack.
   * @param locate called if the site is not known; returns a Located
   */
  template <class Locate>
  size_t Find(const Locate& locate);

  struct Located {
    size_t site;
    /** The number of frames of JavaScript from the innermost one to that of the call site. */
    size_t depth;
  };

 private:
  /** The number of frames of operations that the user's code calls directly. More frames take longer to sample. */
  static constexpr size_t kFewPositions = 4;
  /** The number of frames of operations that are called by layers or optimizers. */
  static constexpr size_t kManyPositions = 16;
  /** Stands for the site of a stack of which few positions do not decide the site. */
  static constexpr size_t kDeeper = SIZE_MAX;

  struct Stack {
    std::array<void*, kManyPositions> positions{};
    size_t count = 0;
    bool operator==(const Stack& other) const { return count == other.count && positions == other.positions; }
  };
  struct Hash {
    size_t operator()(const Stack& stack) const;
  };

  Stack Sample(size_t limit);
  const size_t* Known(const Stack& stack) const;
  void Add(const Stack& stack, size_t site);

  const StackSampler* sampler_ = nullptr;
  /** The generation of the stacks in `known_`. */
  uint32_t generation_ = 0;
  ska::flat_hash_map<Stack, size_t, Hash> known_;
};

template <class Locate>
size_t CallSites::Find(const Locate& locate) {
  if (generation_ != sampler_->generation) {
    known_.clear();
    generation_ = sampler_->generation;
  }
  Stack stack;
  for (const size_t limit : {kFewPositions, kManyPositions}) {
    stack = Sample(limit);
    const size_t* known = Known(stack);
    if (known == nullptr) break;
    if (*known != kDeeper) return *known;
  }
  const Located located = locate();
  // A collection during the search can have moved the code.
  if (sampler_->generation != generation_) return located.site;
  // The frame of the site must be among those that are compared. One of the positions can be that of a function of
  // another addon, which is not among the frames of JavaScript.
  const size_t needed = located.depth + 1;
  if (needed > kFewPositions && stack.count == kFewPositions) {
    Add(stack, kDeeper);
    stack = Sample(kManyPositions);
  }
  if (needed <= kManyPositions) Add(stack, located.site);
  return located.site;
}
