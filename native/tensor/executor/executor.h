/**
 * The tensors of one worker by their numbers, and the execution of commands on them. Used by the thread of a stream
 * only.
 *
 * A failed operation affects only what depends on it: its results, the tensors that it writes to, and all tensors that
 * share memory with those. An operation without results that writes nothing is a check of its arguments, for example
 * whether a matrix was invertible; its failure becomes the failure of the call that produced the arguments. A failed
 * tensor has the first failure instead of elements, and operations on it are not executed.
 */
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "collectives/communicator.h"
#include "collectives/nccl_communicators.h"
#include "commands/failure.h"
#include "executor/batch.h"

class Executor {
 public:
  /**
   * @param rank mixed into seeds that differ by rank
   * @param device the device of the worker's tensors
   * @param reject_nan whether an operation that produces NaN fails
   */
  Executor(uint64_t rank, c10::Device device, bool reject_nan)
      : rank_(rank), device_(device), reject_nan_(reject_nan) {}
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /**
   * Executes a batch of commands. An invalid batch has no effect.
   * @throws std::runtime_error if the batch is invalid
   */
  void Execute(const std::vector<uint8_t>& batch);
  /**
   * Stores a tensor under a number.
   * @throws std::runtime_error if the number is in use
   */
  void Put(uint64_t reference, const at::Tensor& tensor);
  /**
   * Stores a failure instead of a tensor under a number.
   * @throws std::runtime_error if the number is in use
   */
  void PutFailure(uint64_t reference, std::string op, std::string site, std::string message);
  /**
   * Copies a tensor to CPU memory.
   * @returns the failure of the tensor, or null
   * @throws std::runtime_error if the number is unknown
   */
  FailurePtr Fetch(uint64_t reference, at::Tensor& copy) const;

  /**
   * Sets the connection to the other processes.
   * @param sizes the sizes of the dimensions of the mesh
   * @param nccl the NCCL library, if all processes have the same one, or null
   */
  void Connect(std::shared_ptr<Communicator> communicator, std::vector<size_t> sizes,
               std::shared_ptr<const NcclLibrary> nccl);

  size_t tensors() const { return entries_.size(); }
  uint64_t calls() const { return calls_; }

 private:
  struct Entry {
    at::Tensor tensor;
    FailurePtr failure;
    /** For a view that could not be created, the storage that it would have shared. */
    c10::Storage base;
    /** The number of the call that produced the tensor, or 0. */
    uint64_t producer = 0;
  };

  /** Translates the slots of a program to the numbers of tensors. Outside of programs, commands contain the numbers. */
  struct Frame {
    const std::vector<uint64_t>* slots = nullptr;
    /** The numbers of the replay. */
    const std::vector<double>* numbers = nullptr;

    uint64_t Of(uint64_t slot) const { return slots == nullptr ? slot : (*slots)[slot]; }
  };

  void ExecuteStep(const Step& step, const Frame& frame);
  void RunProgram(const Replay& replay);
  void Call(const Step& step, const Frame& frame);
  /**
   * Copies a tensor to the device of this worker. Wrapped numbers are not copied, because they combine with tensors of
   * any device.
   */
  at::Tensor ToDevice(const at::Tensor& tensor) const;
  Entry EntryOf(const at::Tensor& tensor) const;
  /**
   * Pushes the arguments of a call.
   * @returns the failure of an argument, or null
   */
  FailurePtr GatherArguments(const Step& step, const Frame& frame, const std::string& site,
                             torch::jit::Stack& stack) const;
  /** Returns the elements of a constant argument, which the operation may change if they are a copy. */
  static at::Tensor ConstantOf(const Step& step, const Frame& frame, size_t argument);
  static std::vector<at::Tensor> Flatten(const torch::jit::Stack& results);
  /** @throws std::runtime_error with the index of the first NaN */
  static void CheckNan(const std::vector<at::Tensor>& results);
  void Fail(const Step& step, const Frame& frame, const FailurePtr& failure);
  void FailAliases(const c10::Storage& storage, const FailurePtr& failure);
  /** Marks all results of a call as failed. */
  void FailResults(uint64_t producer, const FailurePtr& failure);

  uint64_t rank_;
  c10::Device device_;
  bool reject_nan_;
  std::shared_ptr<Communicator> communicator_;
  std::unique_ptr<NcclCommunicators> nccl_;
  /** The sizes of the dimensions of the mesh. Empty before the processes are connected. */
  std::vector<size_t> sizes_;
  std::unordered_map<uint64_t, Entry> entries_;
  KnownTensors known_{[this](uint64_t reference) { return entries_.count(reference) > 0; }};
  AllDefinitions definitions_;
  uint64_t calls_ = 0;
};
