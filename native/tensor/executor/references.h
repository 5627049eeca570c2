/** Checks which tensors commands use, create and drop, before they are executed. */
#pragma once
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <unordered_set>

/** The tensors of the worker before a batch. */
struct KnownTensors {
  /** Returns whether the worker has a tensor with this number. */
  std::function<bool(uint64_t)> has;
  /** No tensor of the worker has a larger number. */
  uint64_t highest = 0;
};

/** The tensors that the commands of a batch or of a program can use. */
class References {
 public:
  virtual ~References() = default;
  /** @throws std::runtime_error if there is no such tensor */
  virtual void Use(uint64_t reference) const = 0;
  /** @throws std::runtime_error if the number cannot be used for a new tensor */
  virtual void Create(uint64_t reference) = 0;
  /** @throws std::runtime_error if there is no such tensor, or if it cannot be dropped */
  virtual void Drop(uint64_t reference) = 0;
};

/** The tensors of a worker while a batch is read. */
class BatchReferences final : public References {
 public:
  explicit BatchReferences(const KnownTensors& known) : known_(known), highest_(known.highest) {}

  bool Has(uint64_t reference) const {
    if (created_.count(reference) > 0) return true;
    return dropped_.count(reference) == 0 && known_.has(reference);
  }
  void Use(uint64_t reference) const override {
    if (!Has(reference)) throw std::runtime_error("there is no tensor " + std::to_string(reference));
  }
  void Create(uint64_t reference) override {
    if (reference == 0 || Has(reference))
      throw std::runtime_error("there is a tensor " + std::to_string(reference) + " already");
    created_.insert(reference);
    if (reference > highest_) highest_ = reference;
  }
  void Drop(uint64_t reference) override {
    Use(reference);
    if (created_.erase(reference) == 0) dropped_.insert(reference);
  }
  /** No tensor has a larger number. */
  uint64_t highest() const { return highest_; }
  /** @throws std::runtime_error if one of the numbers from `base` on is in use or too large */
  void CheckUnused(uint64_t base, uint64_t count) const {
    if (base == 0 || base > UINT64_MAX - count) throw std::runtime_error("the numbers of its tensors are out of range");
    if (base > highest_) return;
    for (uint64_t reference = base; reference < base + count; reference++) {
      if (Has(reference)) throw std::runtime_error("there is a tensor " + std::to_string(reference) + " already");
    }
  }

 private:
  const KnownTensors& known_;
  /** The tensors that this batch creates and does not drop. */
  std::unordered_set<uint64_t> created_;
  /** The tensors from before this batch that it drops. */
  std::unordered_set<uint64_t> dropped_;
  uint64_t highest_;
};
