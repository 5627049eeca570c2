/** Decides how long a thread polls before it sleeps. */
#pragma once
#include <chrono>
#include <cstddef>
#include <thread>

/**
 * Lets a thread poll for 50 us before it sleeps, because a wake-up takes longer than the transfer of most messages. A
 * thread polls only if the machine has a processor for each process.
 */
class SpinWait {
 public:
  explicit SpinWait(size_t processes) : enabled_(processes <= std::thread::hardware_concurrency()) {}
  void Reset() { since_ = {}; }
  /** @returns whether to poll again immediately */
  bool ShouldSpin() {
    if (!enabled_) return false;
    const auto now = std::chrono::steady_clock::now();
    if (since_ == std::chrono::steady_clock::time_point()) since_ = now;
    return now - since_ < std::chrono::microseconds(50);
  }

 private:
  const bool enabled_;
  std::chrono::steady_clock::time_point since_;
};
