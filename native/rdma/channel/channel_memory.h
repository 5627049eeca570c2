/**
 * The resources that two processes share for a channel: memory with one ring for each direction, and one pipe for each
 * side through which the peer wakes that side. One process offers the channel. The other joins it by the descriptor
 * numbers of the first.
 */
#pragma once
#include <napi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "channel/ring.h"

class ChannelMemory {
 public:
  /** Bytes of the token by which both sides identify the channel. */
  static constexpr size_t kTokenBytes = 16;

  /** @param size size of each ring in bytes, a power of two */
  explicit ChannelMemory(size_t size) : size_(size) {}
  ChannelMemory(const ChannelMemory&) = delete;
  ChannelMemory& operator=(const ChannelMemory&) = delete;
  ~ChannelMemory();

  /**
   * Exactly one of `Offer` and `Join` is called first, and only once. Both throw on failure; `Join` also throws if the
   * memory is not the memory that was offered.
   */
  void Offer(Napi::Env env, const uint8_t* token);
  void Join(Napi::Env env, const uint8_t* token, uint64_t pid, uint64_t memory, uint64_t waker, uint64_t awaited);

  /** The two rings. They are valid as long as this object. */
  RingWriter Writer() const;
  RingReader Reader() const;
  /** The number of bytes that this side has sent on another connection before the first byte in its ring. */
  std::atomic<uint64_t>& sent_before() const;
  /** The same number for the peer, as the peer has written it. */
  const std::atomic<uint64_t>& received_before() const;

  /** Descriptor of the memory, by which the other side opens it, or -1 after `CloseMemory`. */
  int memory() const { return memory_; }
  /** Descriptor of the pipe that wakes the peer when this side writes to it. */
  int waker() const { return waker_; }
  /** Descriptor of the pipe that becomes readable when the peer wakes this side. */
  int awaited() const { return awaited_; }
  /** Closes the descriptor of the memory, so that no further process can join. */
  void CloseMemory();

 private:
  void Map(Napi::Env env);

  const size_t size_;
  void* base_ = nullptr;
  int memory_ = -1;
  int waker_ = -1;
  int awaited_ = -1;
  /** Index of the ring that this side writes. */
  size_t sends_ = 0;
};
