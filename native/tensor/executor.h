/**
 * The tensors of one worker by their numbers, and what executes commands on them. Of one thread alone, its stream's.
 *
 * An operation that fails takes with it what depends on it and nothing else: its results, what it writes to, and whatever shares
 * memory with that. One that has no results and writes nothing is a check of what was made before, such as whether a matrix had an
 * inverse: its failure is that of what has made its arguments. Each of those answers with the first failure instead of elements;
 * operations on them are not executed.
 */
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "batch.h"
#include "failure.h"
#include "lines.h"
#include "nccl.h"

class Executor {
 public:
  /**
   * @param rank mixed into seeds that differ by rank
   * @param device that its tensors are on
   * @param refuse_nan whether an operation that makes one has failed
   */
  Executor(uint64_t rank, c10::Device device, bool refuse_nan) : rank_(rank), device_(device), refuse_nan_(refuse_nan) {}

  /** All of it, or nothing if it is refused. @throws std::runtime_error then */
  void Execute(const std::vector<uint8_t>& batch);
  /** A tensor of this worker alone under a number. @throws std::runtime_error if there is one */
  void Put(uint64_t reference, const at::Tensor& tensor);
  /** What should have been put there has failed, before it could. @throws std::runtime_error if there is one */
  void PutFailure(uint64_t reference, std::string op, std::string site, std::string message);
  /** A copy in memory of processors, which nothing changes any more; or the failure. @throws std::runtime_error if there is none */
  Failed Fetch(uint64_t reference, at::Tensor& copy) const;

  /**
   * What it reaches the other processes by, in a mesh of dimensions of these sizes.
   * @param nccl what moves elements, if all of them have the same; or null
   */
  void Join(std::shared_ptr<Lines> lines, std::vector<size_t> sizes, std::shared_ptr<const NcclLibrary> nccl);

  size_t tensors() const { return entries_.size(); }
  uint64_t calls() const { return calls_; }

 private:
  struct Entry {
    at::Tensor tensor;
    Failed failure;
    /** Of a view that could not be made: what it would have been of. */
    c10::Storage viewed;
    /** The call whose result it is, by its number; 0: none. */
    uint64_t made = 0;
  };

  void Call(const Step& step);
  /** A tensor from elsewhere, on this worker's device. Numbers stay where they are: they combine with tensors of any device. */
  at::Tensor Own(const at::Tensor& tensor) const;
  Entry EntryOf(const at::Tensor& tensor) const;
  /** @returns the failure of an argument, if one has failed */
  Failed Gather(const Step& step, const std::string& site, torch::jit::Stack& stack) const;
  static std::vector<at::Tensor> Flatten(const torch::jit::Stack& results);
  /** @throws std::runtime_error that says where the first one is */
  static void CheckNan(const std::vector<at::Tensor>& results);
  void Fail(const Step& step, const Failed& failure);
  void FailAliases(const c10::Storage& storage, const Failed& failure);
  /** All results of a call that has been found out to have failed. */
  void FailResults(uint64_t made, const Failed& failure);

  uint64_t rank_;
  c10::Device device_;
  bool refuse_nan_;
  std::shared_ptr<Lines> lines_;
  std::unique_ptr<Nccl> nccl_;
  /** Of the dimensions of the mesh; empty before it has lines. */
  std::vector<size_t> sizes_;
  std::unordered_map<uint64_t, Entry> entries_;
  Definitions definitions_;
  uint64_t calls_ = 0;
};
