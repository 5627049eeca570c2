/**
 * What two processes share for a channel: memory with two rings in it, one for each direction, and a pipe of the kernel for each side
 * that wakes it. One process offers it and another joins it, by the numbers that the first has for its descriptors.
 */
#pragma once
#include <napi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ring.h"

class ChannelMemory {
 public:
  /** What both know it by, 16 bytes. */
  static constexpr size_t kTokenBytes = 16;

  /** @param size of each ring in bytes, a power of two */
  explicit ChannelMemory(size_t size) : size_(size) {}
  ChannelMemory(const ChannelMemory&) = delete;
  ChannelMemory& operator=(const ChannelMemory&) = delete;
  ~ChannelMemory();

  /** Either of them comes first, once; throws where that cannot be, or is not what was offered. */
  void Offer(Napi::Env env, const uint8_t* token);
  void Join(Napi::Env env, const uint8_t* token, uint64_t pid, uint64_t memory, uint64_t waker, uint64_t awaited);

  /** The two rings; valid as long as this is. */
  RingWriter Writer() const;
  RingReader Reader() const;
  /** Of this side: bytes that it has sent another way before the first in its ring. */
  std::atomic<uint64_t>& sent_before() const;
  /** The same of the other side. */
  const std::atomic<uint64_t>& received_before() const;

  /** Of the memory, which the other side opens by it; -1 once nobody may any more. */
  int memory() const { return memory_; }
  /** Wakes the peer when something is written to it. */
  int waker() const { return waker_; }
  /** Becomes readable when the peer wakes this side. */
  int awaited() const { return awaited_; }
  /** Nobody joins any more. */
  void CloseMemory();

 private:
  void Map(Napi::Env env);

  const size_t size_;
  void* base_ = nullptr;
  int memory_ = -1;
  int waker_ = -1;
  int awaited_ = -1;
  /** Which of the rings this side writes. */
  size_t sends_ = 0;
};
