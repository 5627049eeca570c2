/**
 * A ring buffer in memory that two processes have mapped: one process writes, the other reads, and neither locks.
 * Positions count the bytes since the beginning and never wrap; a byte lies at its position modulo the size.
 *
 * The other side may write anything anywhere at any time. Each of its values is therefore loaded once and checked
 * before use. This side keeps its own positions outside the shared memory and never reads them back. Bytes are copied
 * before they are interpreted.
 */
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

/**
 * Each side's control words have cache lines of their own. 128 bytes are two lines, because processors prefetch lines
 * in pairs.
 */
constexpr size_t kLine = 128;

/** The control words of one ring, in shared memory. */
struct RingControl {
  /** Written by the writer: all bytes before this position have been written. */
  alignas(kLine) std::atomic<uint64_t> head;
  /** Written by the writer: it has skipped the positions before this one, which hold no bytes. */
  std::atomic<uint64_t> start;
  /** Written by the reader: all bytes before this position have been copied. */
  alignas(kLine) std::atomic<uint64_t> tail;
  /** 1 if the reader sleeps. The writer clears this flag and wakes the reader. */
  alignas(kLine) std::atomic<uint32_t> asleep;
  /** The processor that the reader last ran on, plus 1; 0 if unknown. */
  std::atomic<uint32_t> processor;
  /** 1 if the writer waits for room. The reader clears this flag and wakes the writer. */
  alignas(kLine) std::atomic<uint32_t> wanting;
};

static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);
static_assert(sizeof(RingControl) == 4 * kLine);

/** Returned when the control words of the other side are impossible. */
constexpr int64_t kCorrupt = -1;

class RingWriter {
 public:
  /** @param size size of `data` in bytes, a power of two */
  RingWriter(RingControl* control, uint8_t* data, size_t size) : control_(control), data_(data), size_(size) {}

  /**
   * Copies as many bytes as there is room for. If bytes are left, asks the reader to wake this side when there is room
   * again.
   * @returns the number of bytes taken, or kCorrupt
   */
  int64_t Write(const uint8_t* bytes, size_t length);
  /** Returns whether the caller must wake the reader, which sleeps. Returns true only once per sleep. */
  bool MustWake();
  /**
   * Returns whether a writer that waits has room again. Also true if the reader's position has become invalid; `Write`
   * then returns kCorrupt.
   */
  bool HasRoom() const;
  /** Returns the processor that the reader last ran on, or a negative number if unknown. */
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
  /** The reader's position as it was last loaded and checked. */
  uint64_t tail_ = 0;
  bool waiting_ = false;
};

class RingReader {
 public:
  RingReader(RingControl* control, const uint8_t* data, size_t size) : control_(control), data_(data), size_(size) {}

  /** @returns the number of bytes copied, 0 if there are none, or kCorrupt */
  int64_t Read(uint8_t* target, size_t length);
  /** Returns whether the caller must wake the writer, which waits for room. Returns true only once per wait. */
  bool MustWake();
  bool HasBytes() const;
  /** Asks the writer to wake this side from now on. Returns false, and doesn't sleep, if there are bytes already. */
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
