/**
 * The allocator for tensors in CPU memory, one per process. Freed blocks are kept for later tensors of similar size,
 * because page faults take longer than most operations and malloc rarely returns memory to the system. The allocator
 * counts every byte.
 */
#pragma once
#include <cstddef>

struct AllocatorCounts {
  /** The number of bytes in use, including the rounding of block sizes. */
  size_t live;
  /** The maximum of `live` so far. */
  size_t peak;
  /** The number of bytes that are kept for later tensors. */
  size_t cached;
};

/** Makes libtorch use this allocator. Idempotent. */
void UseCachingAllocator();
AllocatorCounts CountAllocations();
/** Returns the kept blocks to the system. */
void EmptyCache();
