/**
 * NCCL between the workers of a mesh: a communicator for each group of processes, made when the group first exchanges something. What of it
 * is done together waits until the device has done it, so that an operation has failed for all or for nobody, and so that who waits sees who
 * is lost: NCCL itself would wait for ever. Used by the thread of a stream alone.
 */
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "collectives.h"
#include "device.h"
#include "nccl_library.h"
#include "together.h"

class Nccl {
 public:
  Nccl(std::shared_ptr<const NcclLibrary> library, c10::Device device) : library_(std::move(library)), device_(device) {}
  /** Without waiting for anybody. */
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  const NcclLibrary& library() const { return *library_; }
  /** Whether tensors of the device can be given to it. */
  bool takes(c10::Device device) const { return !device.is_cpu() || library_->takesHostMemory(); }

  /** What a group needs before it can do anything. */
  struct Plan {
    /** Of the first process of a group that has no communicator yet. */
    NcclId id;
    bool first_time;
  };
  /** @throws std::runtime_error: then nothing has begun */
  Plan Prepare(const Group& group) const;
  /** Calls functions of NCCL. @returns their result */
  using Enqueue = std::function<int(const NcclLibrary& library, NcclCommunicator communicator, NcclStream stream)>;
  /**
   * All of the group do the same, and this process goes on when it is done.
   * @param name of the functions, for what is said when they fail
   * @throws std::runtime_error when it fails, or a process is lost: the lines to all of them are closed then
   */
  void Run(const Together& together, const Plan& plan, const char* name, const Enqueue& enqueue);

 private:
  using Members = std::vector<size_t>;

  NcclCommunicator Make(const Group& group, const NcclId& id, const Lines::Wait& wait);
  NcclCommunicator MakeInThread(const Group& group, const NcclId& id, const Lines::Wait& wait) const;
  /** Waits for what is in progress. @throws std::runtime_error for any other result than success */
  void Settle(int result, NcclCommunicator communicator, const char* name, const Lines::Wait& wait) const;
  void Abort(const Members& members);
  NcclStream StreamOfTorch() const;
  [[noreturn]] void Fail(const char* name, int result, NcclCommunicator communicator) const;

  const std::shared_ptr<const NcclLibrary> library_;
  const c10::Device device_;
  std::map<Members, NcclCommunicator> communicators_;
};

/** `ncclDataType_t` of elements that are only moved. */
constexpr int kNcclByte = 1;
/** `ncclDataType_t`; -1: it has none. */
int NcclType(c10::ScalarType dtype, int version);
/** `ncclRedOp_t`; an average is a sum that is divided afterwards. */
int NcclOperation(Reduction reduction);
