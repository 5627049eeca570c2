/** Splits the elements of a tensor among the processes of a group, and reduces or gathers the parts. */
#pragma once
#include <algorithm>

#include "collectives/agreement.h"
#include "collectives/operations.h"

/**
 * The parts of an array, one for each process, in bytes. Aligned parts begin at multiples of the size of a cache line.
 */
struct Partition {
  size_t bytes;
  size_t step;

  size_t Begin(size_t index) const { return std::min(index * step, bytes); }
  size_t Length(size_t index) const { return Begin(index + 1) - Begin(index); }
  /** Returns parts of equal size. */
  static Partition Equal(size_t bytes, size_t count) { return {bytes, bytes / count}; }
  static Partition Aligned(size_t bytes, size_t count) {
    const size_t step = (bytes + count - 1) / count;
    return {bytes,
            (step + SharedMemoryTransport::kAlign - 1) / SharedMemoryTransport::kAlign * SharedMemoryTransport::kAlign};
  }
};

/**
 * Reduces the elements of this process with as many elements from each other process of the group. The peers follow in
 * the order of the group, starting after this process.
 * @param sends the messages to other processes that are sent at the same time
 */
void ReduceFromPeers(const CollectiveAgreement& agreement, const std::vector<Send>& sends, Reduction reduction,
                     c10::ScalarType dtype, const uint8_t* own, size_t bytes, uint8_t* out);
/** Reduces the elements of all processes, and stores the part of this process in `out`. */
void ReduceScatterParts(const CollectiveAgreement& agreement, Reduction reduction, c10::ScalarType dtype,
                        const uint8_t* in, const Partition& partition, uint8_t* out);
/** Copies the part of each process to all other processes. */
void AllGatherParts(const CollectiveAgreement& agreement, const Partition& partition, uint8_t* out);
