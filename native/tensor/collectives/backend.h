/**
 * A transport for the elements of tensors in collective operations, used after the processes have agreed on the
 * operation. One implementation uses the communicator, the other one uses NCCL; both give the same results. A backend
 * is created before the agreement, so that a process that lacks the memory fails together with all others.
 */
#pragma once
#include <memory>

#include "collectives/agreement.h"
#include "collectives/operations.h"

class CollectiveBackend {
 public:
  virtual ~CollectiveBackend() = default;

  /** Reduces the elements of all processes. */
  virtual void AllReduce(Reduction reduction) = 0;
  /** Concatenates the elements of all processes. */
  virtual void AllGather() = 0;
  /** Reduces the elements of all processes, and keeps the part of this process. */
  virtual void ReduceScatter(Reduction reduction) = 0;
  /** Sends part `i` to process `i` of the group. */
  virtual void AllToAll() = 0;
  /** Copies the elements of process `from` of the group to all processes. */
  virtual void Broadcast(size_t from) = 0;
  /**
   * Sums the elements of all processes into the output of process `to` of the group. The output of the other processes
   * is unchanged.
   */
  virtual void ReduceTo(size_t to) = 0;
  /**
   * Sends the elements of each process `i` of the group to process `to[i]`. The output of a process that receives
   * nothing is unchanged.
   */
  virtual void Permute(at::IntArrayRef to) = 0;
};

/**
 * Chooses NCCL if it supports the operation, and the communicator otherwise.
 * @param in the elements of this process, contiguous
 * @param out the result, contiguous, on the same device
 * @param combined whether elements are reduced, which NCCL supports for some types only
 * @throws std::exception if the backend cannot be created; no element has been transferred
 */
std::unique_ptr<CollectiveBackend> ChooseBackend(const CollectiveAgreement& agreement, const at::Tensor& in,
                                                 const at::Tensor& out, bool combined);

std::unique_ptr<CollectiveBackend> MakeCommunicatorBackend(const CollectiveAgreement& agreement, const at::Tensor& in,
                                                           const at::Tensor& out);
std::unique_ptr<CollectiveBackend> MakeNcclBackend(const CollectiveAgreement& agreement, const at::Tensor& in,
                                                   const at::Tensor& out);
