/**
 * Bytes from one process to another through memory that both have mapped: one writes, one reads, nobody locks. Positions count the
 * bytes since the beginning and never wrap; where a byte lies is its position modulo the size.
 *
 * The other side may write anything anywhere, at any time. So what it says is loaded once, checked, and only then used; what this
 * side has said itself is remembered outside of the shared memory and never read back; and bytes are copied before anybody looks at
 * them.
 */
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

/** Each half of what the two say to each other has cache lines of its own; processors fetch them by twos. */
constexpr size_t kLine = 128;

/** What the two sides of one ring say to each other, in shared memory. */
struct RingControl {
  /** Of the writer: bytes up to here are there. */
  alignas(kLine) std::atomic<uint64_t> head;
  /** Of the writer: it has skipped the positions before this one, which held nothing. */
  std::atomic<uint64_t> start;
  /** Of the reader: bytes up to here have been copied. */
  alignas(kLine) std::atomic<uint64_t> tail;
  /** 1: the reader does not look; whoever writes clears it and wakes the reader. */
  alignas(kLine) std::atomic<uint32_t> asleep;
  /** The processor that the reader has run on last, plus 1. */
  std::atomic<uint32_t> processor;
  /** 1: the writer waits for room; the reader clears it and wakes the writer. */
  alignas(kLine) std::atomic<uint32_t> wanting;
};

static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);
static_assert(sizeof(RingControl) == 4 * kLine);

/** What the other side says cannot be. */
constexpr int64_t kCorrupt = -1;

class RingWriter {
 public:
  /** @param size of `data` in bytes, a power of two */
  RingWriter(RingControl* control, uint8_t* data, size_t size) : control_(control), data_(data), size_(size) {}

  /**
   * Copies as many bytes as there is room for, and asks to be woken when there is more room if that is not all.
   * @returns how many it has taken; kCorrupt
   */
  int64_t Write(const uint8_t* bytes, size_t length);
  /** Whether the reader sleeps and is to be woken: by the caller, who is told so once. */
  bool MustWake();
  /** Whether a writer that waits has room, or will find that the ring is corrupt. */
  bool HasRoom() const;
  /** The processor that the reader has run on last; negative: unknown. */
  int ReaderProcessor() const;

 private:
  int64_t Put(const uint8_t* bytes, size_t length);
  bool LookAtTail();
  size_t Room() const;

  RingControl* const control_;
  uint8_t* const data_;
  const uint64_t size_;
  uint64_t head_ = 0;
  uint64_t start_ = 0;
  /** As the reader has said it last. */
  uint64_t tail_ = 0;
  bool waiting_ = false;
};

class RingReader {
 public:
  RingReader(RingControl* control, const uint8_t* data, size_t size) : control_(control), data_(data), size_(size) {}

  /** @returns how many bytes it has copied, 0: there are none; kCorrupt */
  int64_t Read(uint8_t* target, size_t length);
  /** Whether the writer waits for room and is to be woken: by the caller, who is told so once. */
  bool MustWake();
  bool HasBytes() const;
  /** From now on the writer wakes this side. @returns false instead if there are bytes already */
  bool Sleep();
  void WakeUp();
  void SetProcessor(int processor);

 private:
  RingControl* const control_;
  const uint8_t* const data_;
  const uint64_t size_;
  uint64_t tail_ = 0;
  uint32_t processor_ = 0;
};
