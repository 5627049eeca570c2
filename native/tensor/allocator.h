/**
 * Where the memory of tensors on this machine's processors comes from. Blocks that are given back are kept for the next tensor of
 * about their size: a fresh page costs more than most operations, and malloc returns little of what it has once had. Counts every
 * byte. One for the process.
 */
#pragma once
#include <cstddef>

struct AllocatorCounts {
  /** Bytes that tensors have now, with what their blocks are larger than asked for. */
  size_t live;
  /** The most that `live` has been. */
  size_t peak;
  /** Bytes that are kept for the next tensor. */
  size_t cached;
};

/** libtorch takes its memory from here afterwards. Once for the process; idempotent. */
void UseCachingAllocator();
AllocatorCounts CountAllocations();
/** Gives what is kept back to the system. */
void EmptyCache();
