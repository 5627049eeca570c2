/**
 * Control words that the event loop shares with a transfer that runs in the thread pool: two words of a BigInt64Array
 * that the caller passes. The caller sets the first to stop the transfer at its next step. The transfer counts the
 * bytes that it has moved in the second.
 */
#pragma once
#include <cstdint>

class Control {
 public:
  /** @param words two words, aligned to 8 bytes */
  explicit Control(int64_t* words) : words_(words) {}

  bool cancelled() const { return __atomic_load_n(&words_[0], __ATOMIC_RELAXED) != 0; }
  void Count(uint64_t bytes) { __atomic_fetch_add(&words_[1], static_cast<int64_t>(bytes), __ATOMIC_RELAXED); }

 private:
  int64_t* words_;
};
