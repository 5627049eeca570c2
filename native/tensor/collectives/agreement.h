/**
 * The agreement of the processes of a group before a collective operation. Each process tells the others which
 * operation it is about to execute and whether it has failed. A process that has failed therefore blocks no other
 * process, and all processes report the same failure.
 */
#pragma once
#include <exception>
#include <functional>

#include "collectives/communicator.h"
#include "collectives/group.h"
#include "commands/failure.h"
#include "libtorch/torch.h"

class NcclCommunicators;

/** A collective operation that the thread of a stream executes. */
struct CollectiveContext {
  Communicator* communicator;
  /** NCCL for the elements of tensors, or null if the communicator transfers them. */
  NcclCommunicators* nccl;
  /** The sizes of the dimensions of the mesh. Empty before the processes are connected. */
  const std::vector<size_t>& sizes;
  const std::string& op;
  const std::string& site;
};

/** Makes a context available to the kernels that this thread runs, as long as this object lives. */
class ExecutingScope {
 public:
  explicit ExecutingScope(const CollectiveContext& context);
  ~ExecutingScope();
  ExecutingScope(const ExecutingScope&) = delete;
  ExecutingScope& operator=(const ExecutingScope&) = delete;
};

/** Thrown if one process of the group has failed. All processes report its failure. */
class CollectiveFailure : public std::exception {
 public:
  explicit CollectiveFailure(FailurePtr failed) : failure(std::move(failed)) {}
  const char* what() const noexcept override { return failure->message.c_str(); }

  const FailurePtr failure;
};

class CollectiveAgreement {
 public:
  /**
   * @param along the dimensions of the mesh along which the group extends
   * @param ranks the number of processes that the controller expects in the group
   * @throws std::runtime_error if the group has another size
   */
  CollectiveAgreement(c10::IntArrayRef along, int64_t ranks);

  const Group& group() const { return group_; }
  Communicator& communicator() const { return communicator_; }
  /** Returns NCCL, or null if the communicator transfers the elements. */
  NcclCommunicators* nccl() const { return context_.nccl; }
  /**
   * Copies data from the first process of the group to all others.
   * @throws std::runtime_error if a process is lost
   */
  void BroadcastFromFirst(void* data, size_t bytes) const;
  /**
   * Prepares the operation and exchanges the result with the other processes. Returns if all of them have succeeded.
   * @param signature equal on all processes that execute the same operation
   * @throws CollectiveFailure if a process has failed; std::runtime_error if a process is lost or the signatures differ
   */
  void Begin(uint64_t signature, const std::function<void()>& prepare) const;

 private:
  const CollectiveContext& context_;
  Communicator& communicator_;
  Group group_;
};

/**
 * Takes part in the agreement of a process whose argument has failed.
 * @returns the failure that all processes report
 */
FailurePtr AgreeOnFailure(const CollectiveContext& context, const FailurePtr& failed,
                          const std::vector<int64_t>& along);
