/**
 * The NCCL communicators of a worker, one for each group of processes, created when the group executes its first
 * operation. An operation blocks until the device has completed it, so that it either succeeds or fails on all
 * processes, and so that the loss of a peer is detected; NCCL itself would wait forever. Used only by the thread of a
 * stream.
 */
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "collectives/agreement.h"
#include "collectives/nccl_library.h"
#include "collectives/operations.h"
#include "libtorch/device.h"

class NcclCommunicators {
 public:
  NcclCommunicators(std::shared_ptr<const NcclLibrary> library, c10::Device device)
      : library_(std::move(library)), device_(device) {}
  /** Aborts the communicators without waiting for peers. */
  ~NcclCommunicators();
  NcclCommunicators(const NcclCommunicators&) = delete;
  NcclCommunicators& operator=(const NcclCommunicators&) = delete;

  const NcclLibrary& library() const { return *library_; }
  /** Returns whether NCCL accepts tensors on a device. */
  bool Supports(c10::Device device) const { return !device.is_cpu() || library_->takesHostMemory(); }

  /** The data that a group needs before an operation. */
  struct Plan {
    /** The unique id, created by the first process of a group that has no communicator yet. */
    NcclId id;
    bool first_time;
  };
  /** @throws std::runtime_error; no operation has begun */
  Plan Prepare(const Group& group) const;
  /**
   * Enqueues operations of NCCL.
   * @returns their result
   */
  using Enqueue = std::function<int(const NcclLibrary& library, NcclCommunicator communicator, NcclStream stream)>;
  /**
   * Runs an operation, which all processes of the group run. Blocks until it is complete.
   * @param name the names of NCCL's functions, for error messages
   * @throws std::runtime_error if the operation fails or a peer is lost; the connections to all processes of the group
   * are then closed
   */
  void Run(const CollectiveAgreement& agreement, const Plan& plan, const char* name, const Enqueue& enqueue);

 private:
  using Members = std::vector<size_t>;

  NcclCommunicator Create(const Group& group, const NcclId& id, const Communicator::Wait& wait);
  NcclCommunicator CreateInThread(const Group& group, const NcclId& id, const Communicator::Wait& wait) const;
  /**
   * Waits until an operation is no longer in progress.
   * @throws std::runtime_error if its result is not success
   */
  void WaitForResult(int result, NcclCommunicator communicator, const char* name, const Communicator::Wait& wait) const;
  void Abort(const Members& members);
  NcclStream StreamOfTorch() const;
  [[noreturn]] void Fail(const char* name, int result, NcclCommunicator communicator) const;

  const std::shared_ptr<const NcclLibrary> library_;
  const c10::Device device_;
  std::map<Members, NcclCommunicator> communicators_;
};

/** `ncclDataType_t` of elements that are copied without being reduced. */
constexpr int kNcclByte = 1;
/** Returns the `ncclDataType_t` of a type, or -1 if NCCL does not support the type. */
int NcclType(c10::ScalarType dtype, int version);
/** Returns the `ncclRedOp_t`. An average is computed as a sum that is divided afterwards. */
int NcclOperation(Reduction reduction);
