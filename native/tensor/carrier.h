/**
 * How elements get from process to process in an operation between them, once all have agreed to it: by the lines between processes, or by
 * NCCL. What goes where is the same for both. Made before they agree, so that who has no room for it fails with all others.
 */
#pragma once
#include <memory>

#include "collectives.h"
#include "together.h"

class Carrier {
 public:
  virtual ~Carrier() = default;

  /** Elements of all, combined. */
  virtual void AllReduce(Reduction reduction) = 0;
  /** Those of all, one after the other. */
  virtual void AllGather() = 0;
  /** This process's part of those of all, combined. */
  virtual void ReduceScatter(Reduction reduction) = 0;
  /** Part `i` of what the process at `i` is sent. */
  virtual void AllToAll() = 0;
  /** What the one at a place has. */
  virtual void Broadcast(size_t from) = 0;
  /** The sum of all for the one at a place; others keep what is there. */
  virtual void ReduceTo(size_t to) = 0;
  /** What the one that sends here has; if nobody does, what is there is kept. */
  virtual void Permute(at::IntArrayRef to) = 0;
};

/**
 * @param in contiguous, what this process has
 * @param out contiguous, on the same device: where the result goes
 * @param combined whether elements are combined, which not all that can move them can do for all types
 * @throws std::exception: then nothing has begun
 */
std::unique_ptr<Carrier> CarrierFor(const Together& together, const at::Tensor& in, const at::Tensor& out, bool combined);

std::unique_ptr<Carrier> CarryByLines(const Together& together, const at::Tensor& in, const at::Tensor& out);
std::unique_ptr<Carrier> CarryByNccl(const Together& together, const at::Tensor& in, const at::Tensor& out);
