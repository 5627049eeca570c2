#include "channel/ring.h"

#include <algorithm>
#include <cstring>

namespace {

/**
 * An empty ring is rewound to its beginning once its position is beyond this number of bytes. A ring that never holds
 * much then touches few pages and stays in the same cache lines.
 */
constexpr uint64_t kRewindBeyond = 16 * 1024;

}  // namespace

size_t RingWriter::Room() const {
  return static_cast<size_t>(size_ - (head_ - std::max(tail_, start_)));
}

bool RingWriter::LookAtTail() {
  const uint64_t tail = control_->tail.load(std::memory_order_acquire);
  if (tail < tail_ || tail > head_) return false;
  tail_ = tail;
  return true;
}

int64_t RingWriter::Write(const uint8_t* bytes, size_t length) {
  waiting_ = false;
  size_t taken = 0;
  while (true) {
    const int64_t put = Put(bytes + taken, length - taken);
    if (put == kCorrupt) return kCorrupt;
    taken += static_cast<size_t>(put);
    if (taken == length) return static_cast<int64_t>(taken);
    if (put > 0) continue;
    // Set before the last check of the tail: the reader first frees room and then checks this flag, so at least one
    // side sees the change of the other.
    control_->wanting.store(1, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!LookAtTail()) return kCorrupt;
    if (Room() > 0) continue;
    waiting_ = true;
    return static_cast<int64_t>(taken);
  }
}

int64_t RingWriter::Put(const uint8_t* bytes, size_t length) {
  const uint64_t mask = size_ - 1;
  const bool far = (head_ & mask) >= kRewindBeyond;
  if ((far || Room() < length) && !LookAtTail()) return kCorrupt;
  if (far && head_ == std::max(tail_, start_)) {
    head_ = start_ = (head_ | mask) + 1;
    control_->start.store(start_, std::memory_order_relaxed);
  }
  const size_t take = std::min(length, Room());
  if (take == 0) return 0;
  const size_t at = static_cast<size_t>(head_ & mask);
  const size_t first = std::min(take, static_cast<size_t>(size_) - at);
  std::memcpy(data_ + at, bytes, first);
  std::memcpy(data_, bytes + first, take - first);
  head_ += take;
  control_->head.store(head_, std::memory_order_release);
  return static_cast<int64_t>(take);
}

bool RingWriter::MustWake() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return control_->asleep.load(std::memory_order_relaxed) != 0 &&
         control_->asleep.exchange(0, std::memory_order_acq_rel) != 0;
}

bool RingWriter::HasRoom() const {
  return waiting_ && control_->tail.load(std::memory_order_acquire) != tail_;
}

int RingWriter::ReaderProcessor() const {
  return static_cast<int>(control_->processor.load(std::memory_order_relaxed)) - 1;
}

int64_t RingReader::Read(uint8_t* target, size_t length) {
  const uint64_t head = control_->head.load(std::memory_order_acquire);
  if (head == tail_) return 0;
  const uint64_t start = control_->start.load(std::memory_order_relaxed);
  if (start > tail_) {
    // Only an empty ring is rewound, and the new start is the next multiple of its size.
    if (start > head || start != (tail_ | (size_ - 1)) + 1) return kCorrupt;
    tail_ = start;
  }
  if (head < tail_ || head - tail_ > size_) return kCorrupt;
  const size_t take = std::min(length, static_cast<size_t>(head - tail_));
  const size_t at = static_cast<size_t>(tail_ & (size_ - 1));
  const size_t first = std::min(take, static_cast<size_t>(size_) - at);
  std::memcpy(target, data_ + at, first);
  std::memcpy(target + first, data_, take - first);
  tail_ += take;
  control_->tail.store(tail_, std::memory_order_release);
  return static_cast<int64_t>(take);
}

bool RingReader::MustWake() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (control_->wanting.load(std::memory_order_relaxed) == 0) return false;
  // Wakes the writer only when half of the ring is free. A writer that is woken for every few bytes would do nothing
  // else.
  const uint64_t head = control_->head.load(std::memory_order_acquire);
  if (head - tail_ > size_ / 2) return false;
  return control_->wanting.exchange(0, std::memory_order_acq_rel) != 0;
}

bool RingReader::HasBytes() const {
  return control_->head.load(std::memory_order_acquire) != tail_;
}

bool RingReader::Sleep() {
  control_->asleep.store(1, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!HasBytes()) return true;
  WakeUp();
  return false;
}

void RingReader::WakeUp() {
  control_->asleep.store(0, std::memory_order_relaxed);
}

void RingReader::SetProcessor(int processor) {
  const uint32_t value = static_cast<uint32_t>(processor + 1);
  if (value == processor_) return;
  processor_ = value;
  control_->processor.store(value, std::memory_order_relaxed);
}
