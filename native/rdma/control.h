/**
 * How the event loop and work in the pool speak while it runs: two words of a BigInt64Array of the caller. The first is set to stop the
 * work at its next step; in the second it counts the bytes that it has moved.
 */
#pragma once
#include <cstdint>

class Control {
 public:
  /** @param words two of them, aligned */
  explicit Control(int64_t* words) : words_(words) {}

  bool cancelled() const { return __atomic_load_n(&words_[0], __ATOMIC_RELAXED) != 0; }
  void Count(uint64_t bytes) { __atomic_fetch_add(&words_[1], static_cast<int64_t>(bytes), __ATOMIC_RELAXED); }

 private:
  int64_t* words_;
};
